/** Follows the rollout files of Codex's sessions: failed turns, Plan mode, who approves, tokens. */
import { type FSWatcher, watch } from "node:fs";
import { limits } from "../../../core/limits.ts";
import type { Change, EventSubject, Moment } from "../../../core/session/event.ts";
import { isBlocking, type Session } from "../../../core/session/session.ts";
import type { Env } from "../../../system/folders.ts";
import type { WatchContext } from "../../agent.ts";
import { followFile, type GrowingFile } from "../../watch/growing-file.ts";
import { findInsideFolders, isNews, toMoment } from "../../watch/index.ts";
import { addRolloutRow, createRolloutState, type RolloutSign, type RolloutState } from "../rollout.ts";
import { createSignEvent, listNewAsks } from "../rollout-events.ts";
import { sessionsFolder } from "../setup/folder.ts";

/** Dispatches an event of a session of Codex, and returns its id. */
export type EmitCodexChange = (
  subject: Partial<EventSubject> & { readonly sessionId: string },
  when: Moment,
  change: Change,
) => string;

export interface RolloutWatcherOptions extends Pick<WatchContext, "env" | "clock" | "findSession" | "mask"> {
  readonly emit: EmitCodexChange;
}

export interface RolloutWatcher {
  /** Reads what was added to the session's file. */
  read(session: Session): void;
  /** What the file says; null before it was read. */
  find(sessionId: string): RolloutState | null;
  /** Whether "Implement this plan?" can be on the screen. Esc closes it without a trace (measured). */
  hasOpenPlan(sessionId: string): boolean;
  stop(): void;
}

interface Followed {
  readonly path: string;
  /** null while it is checked whether the file is one of Codex's own. */
  follower: GrowingFile | null;
  readonly state: RolloutState;
  watcher: FSWatcher | null;
  /** Calls and turns that have opened an ask. */
  readonly asked: Set<string>;
}

const maxFollowed = 200;

export const findRollout = (path: string, env: Env): Promise<string | null> =>
  findInsideFolders(path, [sessionsFolder(env)]);

export function watchRollouts(options: RolloutWatcherOptions): RolloutWatcher {
  const { env, clock, findSession, emit, mask } = options;
  const followed = new Map<string, Followed>();

  function follow({ sessionId, transcriptPath }: Session): Followed | null {
    if (transcriptPath === null) return null;
    const known = followed.get(sessionId);
    if (known?.path === transcriptPath) return known;
    known?.watcher?.close();
    const file: Followed = {
      path: transcriptPath,
      follower: null,
      state: createRolloutState(),
      watcher: null,
      asked: new Set(),
    };
    followed.delete(sessionId);
    followed.set(sessionId, file);
    const [oldest] = followed.keys();
    if (followed.size > maxFollowed && oldest !== undefined) drop(oldest);
    void findRollout(transcriptPath, env).then((path) => {
      if (path === null || followed.get(sessionId) !== file) return;
      file.follower = followFile(path, limits.transcriptTailBytes);
      const session = findSession(sessionId);
      if (session) read(session);
    });
    return file;
  }

  function drop(sessionId: string): void {
    followed.get(sessionId)?.watcher?.close();
    followed.delete(sessionId);
  }

  function read(session: Session): void {
    const file = follow(session);
    if (!file?.follower) return;
    const signs: RolloutSign[] = [];
    const onLine = (row: string) => {
      const sign = addRolloutRow(file.state, row);
      if (sign) signs.push(sign);
    };
    if (!readAll(file.follower, onLine)) {
      drop(session.sessionId);
      return;
    }
    emitNews(session, file.state);
    for (const sign of signs) applySign(session.sessionId, sign);
    openAsks(session.sessionId, file);
    watchWhileRunning(session.sessionId, file);
  }

  /** A turn that fails sends no hook: its end must be noticed without one. */
  function watchWhileRunning(sessionId: string, file: Followed): void {
    const session = findSession(sessionId);
    if (session === null || !isExpectingRows(session, clock())) {
      file.watcher?.close();
      file.watcher = null;
    } else if (file.watcher === null) {
      try {
        file.watcher = watch(file.path, () => {
          const current = findSession(sessionId);
          if (current) read(current);
        });
        file.watcher.on("error", () => file.watcher?.close());
      } catch {
        // Without it, the file is read every second.
      }
    }
  }

  function emitNews(session: Session, state: RolloutState): void {
    const { isExec, turn: _, calls: __, ...facts } = state;
    const attended = isExec === true ? false : null;
    const { sessionId } = session;
    if (isNews(session, facts) || (attended === false && session.attended !== false))
      emit({ sessionId, attended }, clock(), { kind: "enriched", with: facts });
  }

  function applySign(sessionId: string, sign: RolloutSign): void {
    const session = findSession(sessionId);
    const event = session && createSignEvent(session, sign, mask);
    if (!event) return;
    const { change, ...subject } = event;
    emit({ sessionId, ...subject }, toMoment(clock(), sign.at), change);
  }

  function openAsks(sessionId: string, { state, asked }: Followed): void {
    const session = findSession(sessionId);
    if (!session) return;
    for (const { id, change, ...subject } of listNewAsks(session, state, asked, mask)) {
      asked.add(id);
      emit({ sessionId, ...subject }, clock(), change);
    }
  }

  return {
    read,
    find: (sessionId) => followed.get(sessionId)?.state ?? null,
    hasOpenPlan: (sessionId) => followed.get(sessionId)?.state.turn?.plan != null,
    stop() {
      for (const sessionId of [...followed.keys()]) drop(sessionId);
    },
  };
}

/** At most this many slices of a file are read at once. The rest follows with the next read. */
const maxSlices = 8;

/** False if the file cannot be read. Timers and file watchers call this: nobody else would catch an error. */
export function readAll(file: GrowingFile, onLine: (text: string) => void): boolean {
  try {
    // A file that grows as fast as it is read must not stop everything else.
    for (let slice = 0; slice < maxSlices; slice++) {
      const result = file.readNew(onLine);
      if (result === "done" || result === "missing") return result === "done";
    }
    return true;
  } catch {
    return false;
  }
}

/** The last rows of a turn are written up to a second after its Stop hook. */
const trailingRowsMs = 3_000;

export function isExpectingRows({ ended, turn, asks }: Session, now: Moment): boolean {
  return !ended && (turn.running || asks.some(isBlocking) || now.t - turn.t < trailingRowsMs);
}
