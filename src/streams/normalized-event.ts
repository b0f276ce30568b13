/**
 * NormalizedEvent 1.1: what happened, in terms that are the same for every agent. Made of each hook event, and of asks that open
 * and close. Pure.
 */
import type { EventDetails } from "../agents/agent.ts";
import type { HookMessage } from "../agents/envelope.ts";
import type { Severity } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import type { AgentEvent } from "../core/session/event.ts";
import { type Ask, projectOf, type Session } from "../core/session/session.ts";
import { truncate } from "../core/text/truncate.ts";
import { computeFingerprint } from "../core/view/session-view.ts";
import { limitJson, limitValue } from "./limit-json.ts";

export const normalizedEventTypes = [
  "agent_started",
  "agent_stopped",
  "agent_blocked",
  "agent_unblocked",
  "task_created",
  "task_started",
  "task_progress",
  "task_completed",
  "task_failed",
  "tool_started",
  "tool_succeeded",
  "tool_failed",
  "heartbeat",
  "notification",
  "schema_error",
] as const;

type NormalizedEventType = (typeof normalizedEventTypes)[number];

/** Field names are public: do not rename. */
export interface NormalizedEvent {
  readonly id: string;
  readonly version: "1.1";
  /** ISO 8601, UTC. */
  readonly ts: string;
  readonly event_type: NormalizedEventType;
  /** "synthetic": derived from the state, not sent by a hook. */
  readonly source: "hook" | "synthetic";
  readonly workspace_id: string;
  readonly terminal_session_id: string;
  /** The prompt that the event belongs to. */
  readonly run_id: string | null;
  readonly session_id: string | null;
  /** `team/agent`. */
  readonly agent_id: string;
  readonly target_agent_id: string | null;
  readonly task_id: string | null;
  readonly severity: Severity;
  readonly payload: JsonRecord;
  readonly thinking_text: string | null;
  /** The hook's payload: masked, without tool output, and limited in size. */
  readonly raw: unknown;
}

/** Without the hook's payload, which is long and has no rules. */
export type NormalizedFields = Omit<NormalizedEvent, "raw">;

const maxRawLength = 1_500;
const maxTextLength = 1_900;
const maxInputLength = 800;

const unknownWorkspace = "unknown";

export const nameWorkspace = (session: Pick<Session, "project" | "firstCwd">): string =>
  projectOf(session) ?? unknownWorkspace;

/** `team/agent`, `team/leader`; the workspace stands for a missing team. */
export const createAgentId = (team: string, agent: string | null): string => `${team}/${agent ?? "leader"}`;

type Draft = Pick<NormalizedEvent, "event_type" | "payload"> &
  Partial<Pick<NormalizedEvent, "severity" | "task_id">>;

/** A normalised event, and its `raw` as JSON text. */
export interface EventRow {
  readonly event: NormalizedFields;
  readonly raw: string | null;
}

/** What is recorded of a session that waits. */
export interface BlockedSession extends Pick<Session, "sessionId" | "project"> {
  readonly tty: string | null;
  readonly fingerprint: string | null;
}

/** `knownId` is the agent's id from an event that named it; later events of a subagent have no name. */
export function normalizeHook(
  message: HookMessage,
  event: AgentEvent,
  details: EventDetails,
  knownId?: string,
): EventRow[] {
  const thinking = details.thinking;
  const workspace = nameWorkspace({ project: event.project, firstCwd: event.cwd });
  const common = {
    version: "1.1",
    ts: new Date(event.at).toISOString(),
    source: "hook",
    workspace_id: workspace,
    terminal_session_id: findTerminal(event),
    run_id: event.promptId,
    session_id: event.sessionId,
    agent_id: knownId ?? createAgentId(details.teamName ?? workspace, details.agentName ?? event.agentId),
    target_agent_id: null,
  } as const;
  const drafts = [draftEvent(event, details), draftTask(event, details)].filter((draft) => draft !== null);
  return drafts.map((draft, index) => ({
    event: validateNormalizedEvent({
      ...common,
      id: index === 0 ? event.id : `${event.id}:task`,
      task_id: null,
      severity: "info",
      thinking_text: index === 0 && thinking ? truncate(thinking, maxTextLength) : null,
      ...draft,
    }),
    raw: index === 0 ? limitJson(message.payload, maxRawLength) : null,
  }));
}

type BlockedType = "agent_blocked" | "agent_unblocked";

export const createBlockedId = (type: BlockedType, askId: string): string =>
  `${askId}:${type === "agent_blocked" ? "blocked" : "unblocked"}`;

/** An ask that opened or closed. */
export function createBlockedEvent(
  event_type: BlockedType,
  askId: string,
  at: number,
  session: BlockedSession,
  { kind, agentId, tool, summary }: Pick<Ask, "kind" | "agentId" | "tool" | "summary">,
  knownId?: string,
): NormalizedFields {
  const workspace_id = session.project ?? unknownWorkspace;
  return {
    id: createBlockedId(event_type, askId),
    version: "1.1",
    ts: new Date(at).toISOString(),
    event_type,
    source: "synthetic",
    workspace_id,
    terminal_session_id: session.tty ?? session.fingerprint ?? "unknown",
    run_id: null,
    session_id: session.sessionId,
    agent_id: knownId ?? createAgentId(workspace_id, agentId),
    target_agent_id: null,
    task_id: null,
    severity: "info",
    payload: { kind, ...(tool === null ? {} : { tool_name: tool }), summary },
    thinking_text: null,
  };
}

/** The terminal's own id, its tty, or the fingerprint of the session's process. */
function findTerminal({ place, cwd }: AgentEvent): string {
  const fingerprint = () => computeFingerprint({ place, firstCwd: cwd });
  return place?.terminalSessionId ?? place?.tty ?? fingerprint() ?? "unknown";
}

function draftEvent(event: AgentEvent, details: EventDetails): Draft | null {
  const { change } = event;
  if (details.isHeartbeat) return { event_type: "heartbeat", payload: {}, severity: "debug" };
  if (details.isNotification) {
    const payload = pick({ message: details.message, level: details.level, hook: event.name });
    return { event_type: "notification", payload, severity: severityOfLevel(details.level) };
  }
  // A task's own event is nothing else.
  if (details.task?.isReported) return null;
  const agent = { agent_name: details.agentName, agent_type: event.agentType, team_name: details.teamName };
  switch (change.kind) {
    case "session-start":
      return draftAgent("agent_started", { ...agent, source: change.source, model: change.model });
    case "child-start":
      return draftAgent("agent_started", {
        ...agent,
        prompt: details.prompt,
        parent_session_id: details.parentSessionId,
      });
    case "child-end":
      return draftAgent("agent_stopped", {
        ...agent,
        summary: details.message,
        result:
          typeof details.result === "string"
            ? details.result
            : limitValue(details.result ?? null, maxTextLength),
      });
    case "session-end":
      return draftAgent("agent_stopped", { ...agent, reason: change.reason });
    case "turn-end": {
      const stopped = draftAgent("agent_stopped", {
        ...agent,
        reason: details.reason,
        summary: details.message,
        error_message: change.error,
      });
      return change.error === null ? stopped : { ...stopped, severity: "error" };
    }
    case "tool-start":
      return { event_type: "tool_started", payload: { ...pickTool(change, details), ...pickInput(details) } };
    case "tool-end":
      if (change.outcome === "ok")
        return { event_type: "tool_succeeded", payload: pickTool(change, details) };
      return {
        event_type: "tool_failed",
        severity: "warn",
        payload: {
          ...pickTool(change, details),
          exit_code: details.exitCode ?? null,
          error_message: truncate(details.error || change.outcome, maxTextLength),
        },
      };
    case "prompt":
      return draftNotice(event, { prompt: change.text });
    case "ask":
      return draftNotice(event, { tool_name: change.tool, message: change.summary });
    case "reminder":
      return draftNotice(event, { message: change.text });
    default:
      return { ...draftNotice(event, { message: details.message }), severity: "debug" };
  }
}

/** What the catalogue has no type for. */
function draftNotice(event: AgentEvent, payload: JsonRecord): Draft {
  return { event_type: "notification", payload: { hook: event.name, ...pick(payload) } };
}

function draftAgent(event_type: NormalizedEventType, payload: JsonRecord): Draft {
  return { event_type, payload: pick(payload) };
}

/** A tool call that creates a task does not know the task's id: unless the agent reports it, the call's id stands for it. */
function draftTask({ id }: AgentEvent, { task }: EventDetails): Draft | null {
  if (!task) return null;
  const isGuess = !task.isReported;
  const task_id = task.id ?? (isGuess && task.change === "created" ? id : null);
  if (isGuess && task_id === null) return null;
  return { event_type: `task_${task.change}`, task_id, payload: pick({ subject: task.subject }) };
}

function pickTool(
  change: { readonly tool: string; readonly toolUseId: string | null },
  details: EventDetails,
): JsonRecord {
  return { tool_name: details.tool?.name ?? change.tool, ...pick({ tool_use_id: change.toolUseId }) };
}

function pickInput({ tool }: EventDetails): JsonRecord {
  return tool ? { tool_input: limitValue(tool.input, maxInputLength) } : {};
}

/** Leaves out what is unknown, and shortens texts. */
function pick(values: Readonly<Record<string, unknown>>): JsonRecord {
  const known: Record<string, unknown> = {};
  for (const name in values) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    known[name] = typeof value === "string" ? truncate(value, maxTextLength) : value;
  }
  return known;
}

function severityOfLevel(level: string | undefined): Severity {
  if (level === "error" || level === "debug") return level;
  return level === "warn" || level === "warning" ? "warn" : "info";
}

const requiredFields = [
  "id",
  "version",
  "ts",
  "event_type",
  "source",
  "workspace_id",
  "terminal_session_id",
  "agent_id",
] as const satisfies readonly (keyof NormalizedFields)[];

/** Lists the fields that an event of this type must have and has not. `exit_code` may be null. */
function findMissingFields(event: NormalizedFields): string[] {
  const missing: string[] = requiredFields.filter((name) => event[name] === "");
  const { event_type: type, payload } = event;
  if (type.startsWith("task_") && !event.task_id) missing.push("task_id");
  if (type.startsWith("tool_") && !payload.tool_name) missing.push("payload.tool_name");
  if (type === "tool_failed") {
    if (payload.exit_code === undefined) missing.push("payload.exit_code");
    if (!payload.error_message) missing.push("payload.error_message");
  }
  return missing;
}

/** An event that misses required fields becomes a schema_error that names them. */
function validateNormalizedEvent(event: NormalizedFields): NormalizedFields {
  const missing = findMissingFields(event);
  if (missing.length === 0) return event;
  const payload = { event_type: event.event_type, missing, ...event.payload };
  return { ...event, event_type: "schema_error", severity: "error", payload };
}
