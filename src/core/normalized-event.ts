/** NormalizedEvent 1.1: what happened, in terms that are the same for every agent. Its names are a format. */

import type { Severity } from "./interfaces/wire.ts";
import type { JsonRecord } from "./json.ts";

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

export type NormalizedEventType = (typeof normalizedEventTypes)[number];

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
export function validateNormalizedEvent(event: NormalizedFields): NormalizedFields {
  const missing = findMissingFields(event);
  if (missing.length === 0) return event;
  const payload = { event_type: event.event_type, missing, ...event.payload };
  return { ...event, event_type: "schema_error", severity: "error", payload };
}
