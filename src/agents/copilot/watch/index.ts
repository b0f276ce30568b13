/** Follows Copilot CLI's own log of each session, which reports what its hooks do not, and its list of open sessions. */
import { join } from "node:path";
import { isBlocking, type Session } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createTurnEnd } from "../../hook-event.ts";
import { createEmitter, findInsideFolders, isNews, toMoment } from "../../watch/index.ts";
import { watchSessionFiles } from "../../watch/session-files.ts";
import { addLogLine, createEventLog, type EventLog, summarizeLog } from "../event-log.ts";
import { copilotFolder, sessionsFolder } from "../setup/folder.ts";
import {
  createOpenSessionsReader,
  createProcessFinder,
  type OpenSession,
  readWorkspaceFolder,
} from "./open-sessions.ts";

export function watchCopilot(context: WatchContext): AgentWatcher {
  const { clock, env, mask } = context;
  const emit = createEmitter(context);

  function applyLog(session: Session, log: EventLog, isBehind: boolean): void {
    const { sessionId } = session;
    const events = log.events;
    log.events = [];
    // Everything that was shown before is older. After a restart the whole log is read again, but a request can still be open.
    const since = session.prompted?.at ?? session.startedAt;
    for (const { at, change, ...thread } of session.ended ? [] : events) {
      if (at >= since)
        emit({ agent: "copilot", sessionId, ...thread }, toMoment(clock(), at), maskTexts(change));
    }
    const { lastResponse, ...known } = summarizeLog(log);
    const enrichment = lastResponse ? { ...known, lastResponse: mask(lastResponse) } : known;
    if (!isBehind && isNews(session, enrichment))
      emit({ agent: "copilot", sessionId }, clock(), { kind: "enriched", with: enrichment });
  }

  function maskTexts(change: EventLog["events"][number]["change"]) {
    if (change.kind === "turn-end" && change.error !== null) return { ...change, error: mask(change.error) };
    if (change.kind === "ask" || change.kind === "tool-start")
      return { ...change, summary: mask(change.summary) };
    return change;
  }

  const folder = copilotFolder(env);
  const readOpenSessions = createOpenSessionsReader(folder);

  /** Its hooks report a session with the first prompt, and not at all if it runs since before beckon was installed. */
  function applyOpenSession(
    { sessionId, openedAt, isWorking }: OpenSession,
    findProcess: ReturnType<typeof createProcessFinder>,
  ): void {
    const known = context.findSession(sessionId);
    const when = toMoment(clock(), openedAt);
    if (known === null || (known.ended && known.ended.at < openedAt)) {
      const place = findProcess(sessionId);
      if (place === null) return;
      const subject = { agent: "copilot", sessionId, place, cwd: readWorkspaceFolder(folder, sessionId) };
      const source = known === null ? "startup" : "resume";
      emit(subject, when, { kind: "session-start", source, model: null });
      if (isWorking) emit({ agent: "copilot", sessionId }, clock(), { kind: "turn-start" });
      return;
    }
    // Hooks are quicker and say more, if there are any.
    if (known.ended || known.prompted !== null || known.turn.running === isWorking) return;
    emit({ agent: "copilot", sessionId }, clock(), isWorking ? { kind: "turn-start" } : createTurnEnd());
  }

  let listed: readonly OpenSession[] = [];

  /** Without a prompt there is no hook for the end of a session: /clear leaves its process running. */
  function endUnused(open: readonly OpenSession[]): void {
    const ids = new Set(open.map(({ sessionId }) => sessionId));
    for (const { sessionId } of listed.filter((before) => !ids.has(before.sessionId))) {
      const session = context.findSession(sessionId);
      if (session === null || session.ended || session.prompted !== null) continue;
      emit({ agent: "copilot", sessionId }, clock(), { kind: "gone", why: "file" });
    }
    listed = open;
  }

  function checkOpenSessions(): void {
    const open = readOpenSessions();
    if (open === null) return;
    const findProcess = createProcessFinder(folder);
    for (const session of open) applyOpenSession(session, findProcess);
    endUnused(open);
  }

  const files = watchSessionFiles<EventLog>(context, {
    agent: "copilot",
    findFile: ({ transcriptPath, sessionId }) =>
      findTranscript(transcriptPath ?? join(sessionsFolder(env), sessionId, "events.jsonl"), env),
    createState: createEventLog,
    addLine: addLogLine,
    onRead: applyLog,
    isUrgent: ({ asks, turn }) => turn.running || asks.some(isBlocking),
    isUnattended: (commandLine) => commandLine.some((argument) => /^(?:-p|--prompt)(?:=|$)/.test(argument)),
    readAfter: new Set(["session-start", "prompt", "turn-end", "child-end"]),
  });
  return {
    ...files,
    scan(sessions) {
      files.scan(sessions);
      checkOpenSessions();
    },
    check(sessions) {
      files.check(sessions);
      checkOpenSessions();
    },
  };
}

export const findTranscript = (path: string, env: WatchContext["env"]): Promise<string | null> =>
  findInsideFolders(path, [sessionsFolder(env)]);
