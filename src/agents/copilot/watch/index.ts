/** Follows Copilot CLI's own log of each session, which reports what its hooks do not. */
import { join } from "node:path";
import { isBlocking, type Session } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { findInsideFolders, toMoment } from "../../watch/index.ts";
import { createEmitter, isNews, watchSessionFiles } from "../../watch/session-files.ts";
import { addLogLine, createEventLog, type EventLog, summarizeLog } from "../event-log.ts";
import { sessionsFolder } from "../setup/folder.ts";

export function watchCopilot(context: WatchContext): AgentWatcher {
  const { clock, env, mask } = context;
  const emit = createEmitter(context);

  function applyLog(session: Session, log: EventLog, isBehind: boolean): void {
    const { sessionId } = session;
    const events = log.events;
    log.events = [];
    // Everything that was shown before is older. After a restart the whole log is read again, but a request can still be open.
    const since = session.prompted?.at ?? session.startedAt;
    for (const { at, agentId, change } of session.ended ? [] : events) {
      if (at >= since)
        emit({ agent: "copilot", sessionId, agentId }, toMoment(clock(), at), maskTexts(change));
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

  return watchSessionFiles<EventLog>(context, {
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
}

export const findTranscript = (path: string, env: WatchContext["env"]): Promise<string | null> =>
  findInsideFolders(path, [sessionsFolder(env)]);
