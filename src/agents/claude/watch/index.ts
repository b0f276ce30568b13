/** The truth beyond hooks: status files, dead processes and transcripts become the same events as hooks do. */
import { join } from "node:path";
import {
  type AgentEvent,
  type Change,
  type ClockReading,
  createInternalEvent,
  type Enrichment,
  type EventSubject,
  type Moment,
} from "../../../core/session/event.ts";
import type { Session } from "../../../core/session/session.ts";
import { findDeadSessions } from "../../../system/processes.ts";
import { type StatusFile, statusMove, statusPlace, transcriptOf } from "../status.ts";
import { followStatusFiles, type StatusChange } from "./status-files.ts";
import { createTranscriptReader, insideAgentFolder } from "./transcripts.ts";

export interface TruthOptions {
  /** Claude Code's own folder. */
  readonly claudeFolder: string;
  readonly clock: () => ClockReading;
  readonly sessions: () => readonly Session[];
  readonly get: (agent: string, sessionId: string) => Session | null;
  readonly dispatch: (event: AgentEvent) => void;
  /** What comes from files goes the same way as what comes from hooks: without secrets. */
  readonly mask: (text: string) => string;
  readonly onError: (text: string) => void;
}

export interface Truth {
  /** Looks at all files and processes now. */
  look(): void;
  /** An event came: is there more to be read about its session? */
  follow(session: Session, event: AgentEvent): void;
  stop(): void;
}

const lookMs = 1_000;
/** Transcripts opened at one look, of agents without a status file: of more than that, all in turn. */
const readAtOnce = 100;
/** The transcript lags behind the hooks. */
const transcriptLagMs = 300;
let count = 0;

export function createTruth(options: TruthOptions): Truth {
  const { clock, dispatch } = options;
  const reader = createTranscriptReader();
  const roots = [join(options.claudeFolder, "projects")];
  /** Sessions whose transcript is to be read, and when: each is put last again, so the first is the first due. */
  const due = new Map<string, { session: Session; atMs: number }>();
  let reading: ReturnType<typeof setTimeout> | null = null;
  let stopped = false;
  let turn = 0;

  /** Called from timers and watchers, where nobody would catch what is thrown. */
  function tell(about: EventSubject, when: Moment, change: Change): void {
    if (stopped) return;
    try {
      dispatch(createInternalEvent(`own-${++count}-${when.t}`, when, about, change));
    } catch (error) {
      options.onError(`could not count ${change.kind} of ${about.sessionId}: ${error}`);
    }
  }

  function onStatus({ file, gone }: StatusChange): void {
    const here = clock();
    const { sessionId, cwd, attended } = file;
    const known = options.get("claude", sessionId);
    // With --continue the file first names a session that never begins: there is nothing to end.
    if (gone && !known) return;
    const transcriptPath = known?.transcriptPath ?? transcriptOf(file, options.claudeFolder);
    const about = { agent: "claude", sessionId, cwd, attended, transcriptPath, place: statusPlace(file) };
    if (!gone) say(about, file, ago(here, file.updatedAt));
    else if (!goOnElsewhere(sessionId)) tell(about, here, { kind: "gone", why: "file" });
  }

  function say(about: EventSubject, file: StatusFile, when: Moment): void {
    const change = statusMove({ ...file, title: file.title && options.mask(file.title) });
    const said = options.get("claude", file.sessionId)?.file ?? null;
    if (change) tell(about, after(said, when), change);
  }

  /** One session in two terminals, and one of them ends: the other's word holds. */
  function goOnElsewhere(sessionId: string): boolean {
    const other = files.speakOf(sessionId);
    if (!other) return false;
    say({ agent: "claude", sessionId, place: statusPlace(other) }, other, clock());
    return true;
  }

  async function read(session: Session): Promise<void> {
    const path = session.transcriptPath && (await insideAgentFolder(session.transcriptPath, roots));
    const found = path ? await reader.read(path) : null;
    if (!found) return;
    const { interruptedAt, lastResponse, ...known } = found;
    // Stop says it first and better.
    const { mask } = options;
    const title = known.title ? { title: mask(known.title) } : {};
    const response =
      session.lastResponse === null && lastResponse ? { lastResponse: mask(lastResponse) } : {};
    const more = { ...known, ...title, ...response };
    // Not what else was known: it may have changed while the file was read.
    const about = { agent: session.agent, sessionId: session.sessionId };
    if (isNews(session, more)) tell(about, clock(), { kind: "enriched", with: more });
    const unseen = session.file === null && interruptedAt !== null && interruptedAt > session.turn.at;
    if (unseen) tell(about, ago(clock(), interruptedAt), { kind: "interrupted" });
  }

  /** Once, after the last event: a Stop can come before the read that its prompt asked for. */
  function readSoon(session: Session): void {
    if (session.agent !== "claude" || !session.transcriptPath) return;
    due.delete(session.sessionId);
    due.set(session.sessionId, { session, atMs: performance.now() + transcriptLagMs });
    reading ??= setTimeout(readDue, transcriptLagMs);
  }

  function readDue(): void {
    reading = null;
    for (const [id, { session, atMs }] of due) {
      const left = atMs - performance.now();
      if (left > 1) {
        reading = setTimeout(readDue, left);
        return;
      }
      due.delete(id);
      const now = options.get(session.agent, id) ?? session;
      read(now).catch((error) => options.onError(`could not read the transcript of ${id}: ${error}`));
    }
  }

  function look(sessions: readonly Session[]): void {
    for (const { agent, sessionId } of findDeadSessions(sessions)) {
      if (!goOnElsewhere(sessionId)) tell({ agent, sessionId }, clock(), { kind: "gone", why: "process" });
    }
    // Older CLIs have no status: there Esc shows in the transcript alone.
    const unseen = sessions.filter(
      (s) => !s.ended && s.file === null && (s.turn.running || s.asks.some((ask) => ask.kind !== "idle")),
    );
    if (turn >= unseen.length) turn = 0;
    for (const session of unseen.slice(turn, turn + readAtOnce)) readSoon(session);
    turn += readAtOnce;
  }

  /** Those whose file spoke of them when beckon was last running, and does no more. */
  function lookForLeft(sessions: readonly Session[]): void {
    for (const { agent, sessionId, file, ended } of sessions) {
      if (file === null || ended || files.speakOf(sessionId)) continue;
      const isFoundDead = options.get(agent, sessionId)?.ended;
      if (!isFoundDead) tell({ agent, sessionId }, clock(), { kind: "gone", why: "file" });
    }
  }

  const files = followStatusFiles(join(options.claudeFolder, "sessions"), onStatus, options.onError);
  const timer = setInterval(() => {
    try {
      const sessions = options.sessions();
      look(sessions);
      lookForLeft(sessions);
    } catch (error) {
      options.onError(`could not look at the processes: ${error}`);
    }
  }, lookMs);

  return {
    look() {
      files.scan();
      look(options.sessions());
      for (const session of options.sessions()) {
        if (!session.ended && session.place?.local) readSoon(session);
      }
    },
    follow(session, event) {
      if (session.ended) reader.forget(session.transcriptPath ?? "");
      else if (tellsMore.has(event.change.kind)) readSoon(session);
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      files.stop();
      if (reading) clearTimeout(reading);
    },
  };
}

/** After these the transcript has something new. */
const tellsMore: ReadonlySet<Change["kind"]> = new Set(["session-start", "prompt", "turn-end", "status"]);

function isNews(session: Session, more: Enrichment): boolean {
  const names = Object.keys(more) as (keyof Enrichment)[];
  return names.some((name) => more[name] != null && !Bun.deepEquals(more[name], session[name]));
}

/** What the file says later happened later, even within one millisecond of a clock that was set back. */
function after(last: Moment | null, when: Moment): Moment {
  return last && last.t >= when.t ? { at: when.at, t: last.t + 0.001 } : when;
}

/** A wall time of the past on both clocks. */
function ago(here: ClockReading, at: number | null): Moment {
  if (at === null || at > here.at) return { at: here.at, t: here.t };
  return { at, t: here.t - (here.at - at) };
}
