/** Watches what Claude Code's hooks do not report: its status files and its transcripts. Both become events as hooks do. */

import { join } from "node:path";
import { forgetOldest } from "../../../core/forget-oldest.ts";
import type { Change, EventSubject, Moment } from "../../../core/session/event.ts";
import type { Session } from "../../../core/session/session.ts";
import { readCommandLine } from "../../../system/processes.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createEmitter, type EmitChange, toMoment } from "../../watch/index.ts";
import { claudeFolder } from "../setup/folder.ts";
import {
  createPlace,
  createStatusChange,
  findAttended,
  findTranscriptPath,
  type StatusFile,
} from "../status-file.ts";
import { watchDisagreements } from "./disagreements.ts";
import { createInboxSupport } from "./inbox.ts";
import { type StatusChange, watchStatusFiles } from "./status-files.ts";
import { watchTranscripts } from "./transcript-watcher.ts";

const maxBranches = 1_000;
const agent = "claude";

export function watchClaude(context: WatchContext): AgentWatcher {
  const { clock, findSession, mask } = context;
  const folder = claudeFolder(context.env);
  let isStopped = false;

  const emitAny = createEmitter(context);
  const emit: EmitChange = (...args) => (isStopped ? "" : emitAny(...args));
  const transcripts = watchTranscripts({ ...context, emit });
  const disagreements = watchDisagreements({ ...context, emit });

  function onStatusChange({ file, isGone }: StatusChange): void {
    const now = clock();
    const { sessionId, cwd, pid } = file;
    const known = findSession(sessionId);
    // With --continue the file first names a session that never starts: there is nothing to end.
    if (isGone && !known) return;
    const transcriptPath = known?.transcriptPath ?? findTranscriptPath(file, folder);
    const attended = findAttended(file, readCommandLine(pid));
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

  const files = watchStatusFiles(join(folder, "sessions"), onStatusChange, context.onError);

  return {
    scan(sessions) {
      sessions.forEach(rememberBranch);
      files.scan();
      transcripts.readUnseen(sessions);
      for (const session of sessions)
        if (!session.ended && session.place?.local) transcripts.readSoon(session);
    },
    check(sessions) {
      files.scan();
      transcripts.readUnseen(sessions);
      endWithoutFile(sessions);
      disagreements.settle(sessions);
    },
    follow(session, { change }) {
      if (change.kind === "session-start" && change.source === "clear") inheritBranch(session);
      rememberBranch(session);
      if (change.kind === "turn-end" && change.error === null)
        transcripts.noteTurnEnd(session, change.lastResponse !== null);
      if (session.ended) disagreements.forget(session.sessionId);
      if (session.ended && change.kind !== "enriched") transcripts.readSoon(session);
      else if (changesTranscript.has(change.kind)) transcripts.readSoon(session);
      else if (change.kind === "tool-end") transcripts.readLater(session);
    },
    prompts: createInboxSupport((sessionId) => files.findFile(sessionId)?.inbox ?? null),
    continuesElsewhere: ({ sessionId }) => continuesElsewhere(sessionId),
    stop() {
      isStopped = true;
      files.stop();
      transcripts.stop();
    },
  };
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
