/** Makes NormalizedEvents of what agents report. Pure. */
import type { EventDetails } from "../agents/agent.ts";
import type { HookMessage } from "../agents/envelope.ts";
import type { Severity } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import {
  type NormalizedEvent,
  type NormalizedEventType,
  type NormalizedFields,
  validateNormalizedEvent,
} from "../core/normalized-event.ts";
import type { AgentEvent } from "../core/session/event.ts";
import { truncate } from "../core/text/truncate.ts";
import { computeFingerprint } from "../core/view/snapshot.ts";
import { limitJson, limitValue } from "./limit-json.ts";

const maxRawLength = 1_500;
const maxTextLength = 1_900;
const maxInputLength = 800;

type Draft = Pick<NormalizedEvent, "event_type" | "payload"> &
  Partial<Pick<NormalizedEvent, "severity" | "task_id">>;

/** A normalised event, and its `raw` as JSON text. */
export interface EventRow {
  readonly event: NormalizedFields;
  readonly raw: string | null;
}

export function normalizeHook(message: HookMessage, event: AgentEvent, details: EventDetails): EventRow[] {
  const thinking = details.thinking;
  const workspace = findProject(event) ?? "unknown";
  const common = {
    version: "1.1",
    ts: new Date(event.at).toISOString(),
    source: "hook",
    workspace_id: workspace,
    terminal_session_id: findTerminal(event),
    run_id: event.promptId,
    session_id: event.sessionId,
    agent_id: createAgentId(workspace, event, details),
    target_agent_id: null,
  } as const;
  const drafts = [draftEvent(event, details), draftTask(details)].filter((draft) => draft !== null);
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

/** The project that the forwarder names, or the folder's name. null if there is neither. */
export function findProject({ project, cwd }: Pick<AgentEvent, "project" | "cwd">): string | null {
  return project ?? cwd?.split(/[\\/]/).filter(Boolean).at(-1) ?? null;
}

/** The terminal's own id, its tty, or the fingerprint of the session's process. */
function findTerminal({ place, cwd }: AgentEvent): string {
  const fingerprint = () => computeFingerprint({ place, firstCwd: cwd });
  return place?.terminalSessionId ?? place?.tty ?? fingerprint() ?? "unknown";
}

/** `team/agent`, `team/leader`; the workspace stands for a missing team. */
function createAgentId(
  workspace: string,
  { agentId }: Pick<AgentEvent, "agentId">,
  details: EventDetails,
): string {
  const team = details.teamName ?? workspace;
  if (details.agentName !== undefined) return `${team}/${details.agentName}`;
  return agentId === null ? `${team}/leader` : `${team}/${agentId}`;
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
      return draftAgent("agent_stopped", { ...agent, summary: details.message });
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

/** A tool call that creates a task does not know the task's id. The agent reports it with an event of its own. */
function draftTask({ task }: EventDetails): Draft | null {
  if (!task || (task.id === null && !task.isReported)) return null;
  return { event_type: `task_${task.change}`, task_id: task.id, payload: pick({ subject: task.subject }) };
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
  const known = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(
    known.map(([name, value]) => [name, typeof value === "string" ? truncate(value, maxTextLength) : value]),
  );
}

function severityOfLevel(level: string | undefined): Severity {
  if (level === "error" || level === "debug") return level;
  return level === "warn" || level === "warning" ? "warn" : "info";
}
