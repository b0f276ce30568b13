/** Writes what hooks sent: each of their lines is an event, and may start or end a turn. */
import type { EventDetails } from "../../agents/agent.ts";
import { type HookMessage, openEnvelope } from "../../agents/envelope.ts";
import type { LoadedAgents } from "../../agents/index.ts";
import { forgetOldest } from "../../core/forget-oldest.ts";
import { limits } from "../../core/limits.ts";
import { addPayload, isDuplicate } from "../../core/session/apply.ts";
import type { AgentEvent } from "../../core/session/event.ts";
import { isProbe } from "../../core/session/probe.ts";
import { projectOf } from "../../core/session/session.ts";
import { sessionKeyOf } from "../../core/session/session-ref.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { JournalLine } from "../../storage/journal/index.ts";
import { createEventItem } from "../../streams/history-item.ts";
import { createLifecycleEvent } from "../../streams/lifecycle-event.ts";
import { type EventRow, normalizeHook } from "../../streams/normalized-event.ts";
import type { EventWriter } from "./events.ts";
import type { KnownSession, SessionWriter } from "./sessions.ts";
import type { Statements } from "./statements.ts";

export interface HookWriterOptions {
  readonly agents: LoadedAgents;
  readonly defaultProvider: string;
}

/** Returns the event, or null if the line is not an event, a test of doctor's, or a duplicate. */
export type WriteHook = (line: JournalLine) => AgentEvent | null;

/** The whole text is in the items. */
const maxTurnTextLength = 200;

export function createHookWriter(
  sql: Statements,
  events: EventWriter,
  sessions: SessionWriter,
  { agents, defaultProvider }: HookWriterOptions,
): WriteHook {
  function recordTurn(key: string, session: KnownSession, event: AgentEvent): void {
    const { change } = event;
    if (change.kind === "prompt" && !change.byMachine) {
      session.turnCount++;
      const prompt = truncate(change.text, maxTurnTextLength);
      sql.addTurn.run(event.id, key, session.turnCount, event.at, prompt);
    }
    if (change.kind === "turn-end" && event.agentId === null) {
      const response = change.lastResponse && truncate(change.lastResponse, maxTurnTextLength);
      sql.endTurn.run(event.at, response, change.error, key, event.at);
    }
  }

  /** The agent's own report of a task replaces what was derived from a tool call. Returns false if the event is known. */
  function addEvents(rows: readonly EventRow[], event: AgentEvent, { task }: EventDetails): boolean {
    let isNew = false;
    for (const { event: normalized, raw } of rows) {
      const { task_id, event_type } = normalized;
      if (task && task_id !== null) {
        const named = [event.sessionId, task_id, task.subject, event_type, event.at] as const;
        if (task.isReported) sql.removeGuess.run(...named);
        else if (sql.findReport.get(...named)) continue;
      }
      if (events.addEvent(normalized, raw)) isNew = true;
    }
    return isNew;
  }

  return ({ id, at, key: payloadKey, body }) => {
    const message = openEnvelope(body, defaultProvider, null);
    const agent = message && agents.get(message.provider);
    // The time since boot orders only the events of one boot, and the journal can have several.
    const event = agent?.translate(message as HookMessage, { at, t: at, id, key: payloadKey }) ?? null;
    if (!message || !event || isProbe(event)) return null;
    const key = sessionKeyOf(event);
    const session = sessions.find(key);
    if (isDuplicate(session, event)) return null;
    if (event.payloadKey !== null) session.payloads = addPayload(session, event);
    session.project ??= projectOf({ project: event.project, firstCwd: event.cwd });
    session.firstCwd ??= event.cwd;
    session.firstAt ??= event.at;
    const details = agent?.readDetails?.(message.payload) ?? {};
    const rows = normalizeHook(message, event, details, session.agentIds.get(event.agentId ?? ""));
    if (event.agentId !== null && details.agentName && rows[0])
      session.agentIds.set(event.agentId, rows[0].event.agent_id);
    forgetOldest(session.agentIds, limits.maxChildren);
    if (!addEvents(rows, event, details)) return event;
    recordTurn(key, session, event);
    const { firstCwd, turnCount, project, branch } = session;
    events.addLifecycle(createLifecycleEvent(event, { projectPath: firstCwd, turnCount }));
    const item = createEventItem(event, details);
    if (item) events.addItem(id, at, { key, provider: event.agent, project, branch }, item);
    sessions.touch(key, event);
    return event;
  };
}
