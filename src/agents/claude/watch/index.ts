/** Watches what Claude Code's hooks do not report: its status files and its transcripts. Both become events as hooks do. */

import { join } from "node:path";
import { forgetOldest } from "../../../core/forget-oldest.ts";
import type { Change, EventSubject, Moment } from "../../../core/session/event.ts";
import type { Session } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createEmitter, isNews, toMoment } from "../../watch/index.ts";
import { isAtLeast } from "../hooks.ts";
import { listSessions, listSince } from "../list-sessions.ts";
import { claudeFolder } from "../setup/folder.ts";
import { createPlace, createStatusChange, findTranscriptPath, type StatusFile } from "../status-file.ts";
import { type StatusChange, watchStatusFiles } from "./status-files.ts";
import { createTranscriptReader, findTranscript } from "./transcripts.ts";

/** How many transcripts one check reads, of sessions without a status file. With more, the checks take turns. */
const readAtOnce = 100;
/** The transcript lags behind the hooks. */
const transcriptLagMs = 300;
/** How often a transcript is read while a turn calls tools, for what it has used so far. */
const usageIntervalMs = 5_000;
/** The pause between two slices of a long transcript: a gigabyte takes half a minute and a tenth of one processor. */
const slicePauseMs = 100;
/** How long the status file and the hooks disagree before the CLI itself is asked. */
const disagreementMs = 60_000;
const maxBranches = 1_000;
const agent = "claude";

export function watchClaude(context: WatchContext): AgentWatcher {
  const { clock, findSession, mask, onError } = context;
  const folder = claudeFolder(context.env);
  const reader = createTranscriptReader();
  /** Sessions whose transcript is to be read, and when. */
  const due = new Map<string, { session: Session; atMs: number }>();
  let wakeUp: { readonly timer: ReturnType<typeof setTimeout>; readonly atMs: number } | null = null;
  let isStopped = false;
  let nextUnseen = 0;

  const emitAny = createEmitter(context);

  function emit(subject: EventSubject, when: Moment, change: Change): void {
    if (!isStopped) emitAny(subject, when, change);
  }

  function onStatusChange({ file, isGone }: StatusChange): void {
    const now = clock();
    const { sessionId, cwd, attended } = file;
    const known = findSession(sessionId);
    // With --continue the file first names a session that never starts: there is nothing to end.
    if (isGone && !known) return;
    const transcriptPath = known?.transcriptPath ?? findTranscriptPath(file, folder);
    const subject = { agent, sessionId, cwd, attended, transcriptPath, place: createPlace(file) };
    if (!isGone) emitStatus(subject, file, toMoment(now, file.updatedAt));
    else if (!continuesElsewhere(sessionId)) emit(subject, now, { kind: "gone", why: "file" });
  }

  function emitStatus(subject: EventSubject, file: StatusFile, when: Moment): void {
    const change = createStatusChange({ ...file, title: file.title && mask(file.title) });
    const previous = findSession(file.sessionId)?.file ?? null;
    if (change) emit(subject, notBefore(previous, when), change);
  }

  /** A session can be open in two terminals. When one of them ends, the other's status file is used. */
  function continuesElsewhere(sessionId: string): boolean {
    const other = files.findFile(sessionId);
    if (!other) return false;
    emitStatus({ agent, sessionId, place: createPlace(other) }, other, clock());
    return true;
  }

  async function readTranscript(session: Session): Promise<void> {
    const path = session.transcriptPath && (await findTranscript(session.transcriptPath, context.env));
    const facts = path ? await reader.read(path) : null;
    if (!facts) return;
    const { interruptedAt, lastResponse, isBehind, ...others } = facts;
    const title = others.title ? { title: mask(others.title) } : {};
    // The Stop hook has the response earlier and in full.
    const response =
      session.lastResponse === null && lastResponse ? { lastResponse: mask(lastResponse) } : {};
    const known = new Set(session.children.map(({ agentId }) => agentId));
    const children = others.children?.filter(({ agentId }) => known.has(agentId)) ?? [];
    const enrichment = { ...others, ...title, ...response, children };
    // Nothing else of the session: it may have changed while the file was read.
    const subject = { agent, sessionId: session.sessionId };
    if (isNews(session, enrichment)) emit(subject, clock(), { kind: "enriched", with: enrichment });
    const isUnseen = session.file === null && interruptedAt !== null && interruptedAt > session.turn.at;
    if (isUnseen) emit(subject, toMoment(clock(), interruptedAt), { kind: "interrupted" });
    if (isBehind) readSoon(session, slicePauseMs);
    else if (path && findSession(session.sessionId)?.ended) reader.forget(path);
  }

  /** Debounced: a Stop can come before the read that its prompt asked for. */
  function readSoon(session: Session, delayMs = transcriptLagMs): void {
    if (!session.transcriptPath || isStopped) return;
    due.set(session.sessionId, { session, atMs: performance.now() + delayMs });
    wakeAfter(delayMs);
  }

  /** For what a turn has used so far: a read that is due earlier is enough. */
  function readLater(session: Session): void {
    if (!due.has(session.sessionId)) readSoon(session, usageIntervalMs);
  }

  function wakeAfter(delayMs: number): void {
    const atMs = performance.now() + delayMs;
    if (wakeUp && wakeUp.atMs <= atMs) return;
    if (wakeUp) clearTimeout(wakeUp.timer);
    wakeUp = { timer: setTimeout(readDue, delayMs), atMs };
  }

  function readDue(): void {
    wakeUp = null;
    const now = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [id, { session, atMs }] of due) {
      if (atMs - now > 1) {
        nextMs = Math.min(nextMs, atMs - now);
        continue;
      }
      due.delete(id);
      readTranscript(findSession(id) ?? session).catch((error) =>
        onError(`could not read the transcript of ${id}: ${error}`),
      );
    }
    if (nextMs < Number.POSITIVE_INFINITY) wakeAfter(nextMs);
  }

  /** Older CLIs write no status: Esc shows in the transcript only. */
  function readUnseen(sessions: readonly Session[]): void {
    const unseen = sessions.filter(
      (s) => !s.ended && s.file === null && (s.turn.running || s.asks.some((ask) => ask.kind !== "idle")),
    );
    if (nextUnseen >= unseen.length) nextUnseen = 0;
    for (const session of unseen.slice(nextUnseen, nextUnseen + readAtOnce)) readSoon(session);
    nextUnseen += readAtOnce;
  }

  /** The CLI is asked once about each disagreement. */
  const asked = new Map<string, number>();

  function settleDisagreements(sessions: readonly Session[]): void {
    const now = clock();
    const unsettled = sessions.filter((session) => {
      const since = findDisagreement(session);
      if (since === null || now.t - since < disagreementMs || asked.get(session.sessionId) === since)
        return false;
      asked.set(session.sessionId, since);
      return true;
    });
    if (unsettled.length > 0)
      askProgram(unsettled).catch((error) => onError(`could not list Claude Code's sessions: ${error}`));
  }

  async function askProgram(sessions: readonly Session[]): Promise<void> {
    const program = await context.findProgram();
    if (!program || !isAtLeast(program.version, listSince)) return;
    const listed = await listSessions(context.exec, program.path);
    for (const { sessionId, file } of sessions) {
      const entry = listed?.find((other) => other.sessionId === sessionId);
      if (!entry?.status || entry.status === file?.status) continue;
      const { status, waitingFor } = entry;
      emit({ agent, sessionId }, clock(), { kind: "status", status, waitingFor, title: null });
    }
  }

  /** Ends the sessions that had a status file when beckon last ran and have none now. Dead processes are checked elsewhere. */
  function endWithoutFile(sessions: readonly Session[]): void {
    const named = files.sessionIds();
    for (const { sessionId, file, ended } of sessions) {
      if (file === null || ended || named.has(sessionId)) continue;
      const hasEnded = findSession(sessionId)?.ended;
      if (!hasEnded) emit({ agent, sessionId }, clock(), { kind: "gone", why: "file" });
    }
  }

  /** The last known branch of each process, for the session that it goes on with after /clear. */
  const branches = new Map<number, Pick<Session, "place" | "cwd" | "gitBranch">>();

  function rememberBranch({ place, cwd, gitBranch }: Session): void {
    if (place?.pid == null || gitBranch === null) return;
    const known = branches.get(place.pid);
    if (known?.place === place && known.cwd === cwd && known.gitBranch === gitBranch) return;
    branches.delete(place.pid);
    branches.set(place.pid, { place, cwd, gitBranch });
    forgetOldest(branches, maxBranches);
  }

  /** The transcript names the branch only after the first prompt. */
  function inheritBranch({ sessionId, place, cwd, gitBranch }: Session): void {
    const before = place?.pid == null || gitBranch !== null ? undefined : branches.get(place.pid);
    if (!before || before.cwd !== cwd || before.place?.procStart !== place?.procStart) return;
    const change: Change = { kind: "enriched", with: { gitBranch: before.gitBranch } };
    // After the listeners have handled the start.
    queueMicrotask(() => emit({ agent, sessionId }, clock(), change));
  }

  const files = watchStatusFiles(join(folder, "sessions"), onStatusChange, onError);

  return {
    scan(sessions) {
      sessions.forEach(rememberBranch);
      files.scan();
      readUnseen(sessions);
      for (const session of sessions) if (!session.ended && session.place?.local) readSoon(session);
    },
    check(sessions) {
      files.scan();
      readUnseen(sessions);
      endWithoutFile(sessions);
      settleDisagreements(sessions);
    },
    follow(session, event) {
      const { change } = event;
      if (change.kind === "session-start" && change.source === "clear") inheritBranch(session);
      rememberBranch(session);
      if (session.ended) asked.delete(session.sessionId);
      if (session.ended && event.change.kind !== "enriched") readSoon(session);
      else if (changesTranscript.has(event.change.kind)) readSoon(session);
      else if (event.change.kind === "tool-end") readLater(session);
    },
    continuesElsewhere: ({ sessionId }) => continuesElsewhere(sessionId),
    stop() {
      isStopped = true;
      files.stop();
      if (wakeUp) clearTimeout(wakeUp.timer);
    },
  };
}

/**
 * When the status file and the hooks last said different things: the file is busy since before the end of the turn, or idle
 * since before the last prompt. null if they agree.
 */
function findDisagreement({ file, ended, stopped, prompted, last }: Session): number | null {
  if (!file || ended) return null;
  const stoppedT = stopped?.t ?? Number.NEGATIVE_INFINITY;
  const promptedT = prompted?.t ?? Number.NEGATIVE_INFINITY;
  const isStale =
    file.status === "busy"
      ? stoppedT > file.t && stoppedT > promptedT
      : file.status !== "waiting" && promptedT > file.t && promptedT > stoppedT;
  return isStale ? Math.max(last.t, file.t) : null;
}

/** After these events the transcript has something new. */
const changesTranscript: ReadonlySet<Change["kind"]> = new Set([
  "session-start",
  "prompt",
  "turn-end",
  "child-end",
  "status",
]);

/** A later write of the file is a later change, even within one millisecond or after the wall clock was set back. */
function notBefore(previous: Moment | null, when: Moment): Moment {
  return previous && previous.t >= when.t ? { at: when.at, t: previous.t + 0.001 } : when;
}
