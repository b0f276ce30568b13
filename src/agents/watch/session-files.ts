/**
 * Follows one file per session that the agent writes line by line: soon after each event, and several times a second while
 * something can happen that no hook reports.
 */
import type { AgentEvent, Change, Enrichment } from "../../core/session/event.ts";
import type { Session } from "../../core/session/session.ts";
import { readCommandLine } from "../../system/processes.ts";
import type { AgentWatcher, WatchContext } from "../agent.ts";
import { followFile, type GrowingFile } from "./growing-file.ts";
import { createEmitter, isNews } from "./index.ts";

export interface SessionFilesOptions<State> {
  readonly agent: string;
  /** The real path of the session's file. null if there is none, or it is not one of the agent's own. */
  findFile(session: Session): Promise<string | null>;
  createState(): State;
  addLine(state: State, text: string): void;
  /** What the file at this path says about the session, once all of it is read. Absent if `onRead` passes it on. */
  summarize?(state: State, path: string): Enrichment;
  /** Called after each read, also if nothing was added. `isBehind`: more of the file is to be read. */
  onRead?(session: Session, state: State, isBehind: boolean, path: string): void;
  /** True while something can happen that only the file reports. */
  isUrgent(session: Session): boolean;
  /** True if the agent's command line says that it runs without a user. */
  isUnattended(commandLine: readonly string[]): boolean;
  /** After these events the file has something new. */
  readonly readAfter: ReadonlySet<Change["kind"]>;
}

interface FollowedSession<State> {
  state: State;
  file: GrowingFile | null;
  path: string;
  /** When the file is to be read, on the clock of events. null if it is not. */
  dueT: number | null;
  isFinding: boolean;
}

/** How often the file of a session that waits or works is looked at: one stat. */
const pollMs = 200;
/** The file of a session lags behind its hooks by up to half a second. */
const lagMs = 600;

/** For agents that run without a user if a prompt is given with their command. */
export const hasPromptOption = (commandLine: readonly string[]): boolean =>
  commandLine.some((argument) => /^(?:-p|--print|--prompt|--single)(?:=|$)/.test(argument));

/** Whether a session's id, or a subagent's, can be the name of its folder: it leads nowhere else. */
export const isFolderId = (id: string): boolean => /^[\w-]{1,100}$/.test(id);

export interface SessionFilesWatcher extends AgentWatcher {
  /** Reads the session's file if it has been found. */
  readNow(session: Session): void;
}

export function watchSessionFiles<State>(
  context: WatchContext,
  options: SessionFilesOptions<State>,
): SessionFilesWatcher {
  const { clock, findSession, onError } = context;
  const emit = createEmitter(context);
  const followed = new Map<string, FollowedSession<State>>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isStopped = false;

  /** The files of a session on another machine are there. */
  const isUrgentHere = (session: Session): boolean =>
    !session.ended && session.place?.local !== false && options.isUrgent(session);

  function entryOf(sessionId: string): FollowedSession<State> {
    const known = followed.get(sessionId);
    if (known) return known;
    const entry = { state: options.createState(), file: null, path: "", dueT: null, isFinding: false };
    followed.set(sessionId, entry);
    return entry;
  }

  function readSoon(sessionId: string, delayMs: number): void {
    const entry = entryOf(sessionId);
    entry.dueT = clock().t + delayMs;
    wake();
  }

  function wake(): void {
    if (timer !== null || isStopped) return;
    timer = setTimeout(() => {
      timer = null;
      readAll();
    }, pollMs);
  }

  function readAll(): void {
    const now = clock().t;
    let isWaiting = false;
    for (const [id, entry] of followed) {
      const session = findSession(id);
      const isUrgent = session !== null && isUrgentHere(session);
      const isDue = entry.dueT !== null && entry.dueT <= now;
      if (isDue) entry.dueT = null;
      if (session && (isUrgent || isDue)) read(session, entry);
      if (isUrgent || entry.dueT !== null) isWaiting = true;
      else if (!session || session.ended) followed.delete(id);
    }
    if (isWaiting) wake();
  }

  function read(session: Session, entry: FollowedSession<State>): void {
    try {
      if (entry.file === null) return void findFile(session, entry);
      const result = entry.file.readNew((text) => options.addLine(entry.state, text));
      if (result === "missing") entry.file = null;
      if (result === "replaced") entry.state = options.createState();
      if (result === "behind" || result === "replaced") entry.dueT = clock().t;
      const isBehind = entry.dueT !== null && result !== "done";
      if (!isBehind) enrich(session, entry);
      options.onRead?.(session, entry.state, isBehind, entry.path);
    } catch (error) {
      onError(`could not read the session file of ${session.sessionId}: ${error}`);
    }
  }

  function enrich(session: Session, { state, path }: FollowedSession<State>): void {
    const enrichment = options.summarize?.(state, path);
    if (!enrichment || !isNews(session, enrichment)) return;
    const subject = { agent: options.agent, sessionId: session.sessionId };
    emit(subject, clock(), { kind: "enriched", with: enrichment });
  }

  async function findFile(session: Session, entry: FollowedSession<State>): Promise<void> {
    if (entry.isFinding) return;
    entry.isFinding = true;
    try {
      const path = await options.findFile(session);
      if (path === null || isStopped) return;
      entry.file = followFile(path);
      entry.path = path;
      read(findSession(session.sessionId) ?? session, entry);
      if (entry.dueT !== null) wake();
    } catch (error) {
      onError(`could not find the session file of ${session.sessionId}: ${error}`);
    } finally {
      entry.isFinding = false;
    }
  }

  /** Where the hooks of an unattended run get the same variables as those of a terminal. */
  function markUnattended({ sessionId, place, attended }: Session): void {
    if (attended !== null || !place?.local || place.pid === null) return;
    if (!options.isUnattended(readCommandLine(place.pid))) return;
    const subject = { agent: options.agent, sessionId, attended: false };
    // After the listeners have handled the start.
    queueMicrotask(() => emit(subject, clock(), { kind: "no-change" }));
  }

  return {
    scan(sessions) {
      for (const { sessionId, ended, place } of sessions) if (!ended && place?.local) readSoon(sessionId, 0);
    },
    check(sessions) {
      for (const session of sessions) {
        if (isUrgentHere(session)) entryOf(session.sessionId);
      }
      if (followed.size > 0) readAll();
    },
    follow(session, event: AgentEvent) {
      if (event.change.kind === "session-start") markUnattended(session);
      const isNew =
        options.readAfter.has(event.change.kind) || (session.ended && event.change.kind !== "enriched");
      if (isNew) readSoon(session.sessionId, lagMs);
      else if (isUrgentHere(session)) {
        entryOf(session.sessionId);
        wake();
      }
    },
    readNow: (session) => read(session, entryOf(session.sessionId)),
    continuesElsewhere: () => false,
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
