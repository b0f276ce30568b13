/**
 * Claude Code's hook payloads: their types, how they are validated, and what of them is kept. After validation a field has
 * its type or is absent.
 */

import { isRecord, type JsonRecord, readFlag, readNumber } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AskKind } from "../../core/session/event.ts";
import { takeStart } from "../../core/text/truncate.ts";
import { readId, readPath } from "../hook-event.ts";

/**
 * `id`: not empty, not too long, printable; never shortened, because that could be another's id. `path`: the same, longer.
 * `name` and `text`: shortened to their limit; an empty one is kept (SubagentStop of /compact has agent_type "").
 */
interface FieldTypes {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly text: string;
  readonly flag: boolean;
  readonly number: number;
  readonly fields: JsonRecord;
  readonly rows: readonly JsonRecord[];
  readonly any: unknown;
}

type FieldSpec = Readonly<Record<string, keyof FieldTypes>>;

const commonSpec = {
  transcript_path: "path",
  cwd: "path",
  provider: "name",
  prompt_id: "id",
  permission_mode: "name",
  effort: "fields",
  agent_id: "id",
  agent_type: "name",
} as const satisfies FieldSpec;

const tool = { tool_name: "name", tool_input: "fields", tool_use_id: "id", mcp_server: "fields" } as const;
const thinkingFields = { thinking: "text", extended_thinking: "text" } as const;
const turnEnd = {
  stop_hook_active: "flag",
  last_assistant_message: "text",
  background_tasks: "rows",
  session_crons: "rows",
} as const;
const task = {
  task_id: "id",
  task_subject: "text",
  task_description: "text",
  teammate_name: "name",
  team_name: "name",
} as const;
const modelSwitch = {
  from_model: "name",
  to_model: "name",
  requested_model: "name",
  source: "name",
} as const;

/** Every event of CLI 2.1.325, with the fields that any version has sent. */
const events = {
  PreToolUse: tool,
  PostToolUse: { ...tool, ...thinkingFields, tool_response: "any", duration_ms: "number" },
  PostToolUseFailure: {
    ...tool,
    ...thinkingFields,
    tool_response: "any",
    duration_ms: "number",
    error: "text",
    exit_code: "number",
    is_interrupt: "flag",
  },
  PostToolBatch: { tool_calls: "rows" },
  Notification: {
    ...thinkingFields,
    notification_type: "name",
    message: "text",
    title: "text",
    level: "name",
  },
  UserPromptSubmit: { prompt: "text" },
  UserPromptExpansion: {
    expansion_type: "name",
    command_name: "name",
    command_args: "text",
    command_source: "name",
    prompt: "text",
  },
  SessionStart: { source: "name", model: "name" },
  SessionEnd: { reason: "name" },
  Stop: { ...turnEnd, reason: "text", summary: "text" },
  StopFailure: { error: "text", error_details: "text", last_assistant_message: "text" },
  SubagentStart: { agent_name: "name", team_name: "name", parent_session_id: "id", prompt: "text" },
  SubagentStop: {
    ...turnEnd,
    agent_transcript_path: "path",
    agent_name: "name",
    team_name: "name",
    parent_session_id: "id",
    result: "any",
  },
  PreCompact: { trigger: "name", custom_instructions: "text" },
  PostCompact: { trigger: "name", compact_summary: "text" },
  PreModelSwitch: modelSwitch,
  PostModelSwitch: modelSwitch,
  PermissionRequest: { ...tool, permission_suggestions: "rows" },
  PermissionDenied: { ...tool, reason: "text" },
  Setup: { trigger: "name" },
  TeammateIdle: { teammate_name: "name", team_name: "name" },
  TaskCreated: task,
  TaskCompleted: task,
  Elicitation: {
    mcp_server_name: "name",
    message: "text",
    mode: "name",
    url: "text",
    elicitation_id: "id",
    requested_schema: "fields",
  },
  ElicitationResult: {
    mcp_server_name: "name",
    mode: "name",
    action: "name",
    elicitation_id: "id",
    content: "fields",
  },
  ConfigChange: { source: "name", file_path: "path" },
  WorktreeCreate: { name: "name" },
  WorktreeRemove: { worktree_path: "path" },
  InstructionsLoaded: { file_path: "path", memory_type: "name", load_reason: "name" },
  CwdChanged: { old_cwd: "path", new_cwd: "path" },
  FileChanged: { file_path: "path", event: "name" },
  DirectoryAdded: { directory: "path", source: "name" },
  MessageDisplay: { turn_id: "id", message_id: "id", index: "number", final: "flag", delta: "text" },
} as const satisfies Readonly<Record<string, FieldSpec>>;

export type HookEventName = keyof typeof events;
export const hookEventNames = Object.keys(events) as readonly HookEventName[];

type Fields<S extends FieldSpec> = { readonly [K in keyof S]?: FieldTypes[S[K]] };

export interface HookEvent extends Fields<typeof commonSpec> {
  readonly session_id: string;
  readonly hook_event_name: string;
}

type EventOf<N extends HookEventName> = HookEvent & { readonly hook_event_name: N } & Fields<
    (typeof events)[N]
  >;
type FieldOf<N> = N extends HookEventName ? keyof (typeof events)[N] : never;

export type PreToolUseHookEvent = EventOf<"PreToolUse">;
export type PostToolUseHookEvent = EventOf<"PostToolUse">;
export type PostToolUseFailureHookEvent = EventOf<"PostToolUseFailure">;
export type PostToolBatchHookEvent = EventOf<"PostToolBatch">;
export type NotificationHookEvent = EventOf<"Notification">;
export type UserPromptSubmitHookEvent = EventOf<"UserPromptSubmit">;
export type UserPromptExpansionHookEvent = EventOf<"UserPromptExpansion">;
export type SessionStartHookEvent = EventOf<"SessionStart">;
export type SessionEndHookEvent = EventOf<"SessionEnd">;
export type StopHookEvent = EventOf<"Stop">;
export type StopFailureHookEvent = EventOf<"StopFailure">;
export type SubagentStartHookEvent = EventOf<"SubagentStart">;
export type SubagentStopHookEvent = EventOf<"SubagentStop">;
export type PreCompactHookEvent = EventOf<"PreCompact">;
export type PostCompactHookEvent = EventOf<"PostCompact">;
export type PreModelSwitchHookEvent = EventOf<"PreModelSwitch">;
export type PostModelSwitchHookEvent = EventOf<"PostModelSwitch">;
export type PermissionRequestHookEvent = EventOf<"PermissionRequest">;
export type PermissionDeniedHookEvent = EventOf<"PermissionDenied">;
export type SetupHookEvent = EventOf<"Setup">;
export type TeammateIdleHookEvent = EventOf<"TeammateIdle">;
export type TaskCreatedHookEvent = EventOf<"TaskCreated">;
export type TaskCompletedHookEvent = EventOf<"TaskCompleted">;
export type ElicitationHookEvent = EventOf<"Elicitation">;
export type ElicitationResultHookEvent = EventOf<"ElicitationResult">;
export type ConfigChangeHookEvent = EventOf<"ConfigChange">;
export type WorktreeCreateHookEvent = EventOf<"WorktreeCreate">;
export type WorktreeRemoveHookEvent = EventOf<"WorktreeRemove">;
export type InstructionsLoadedHookEvent = EventOf<"InstructionsLoaded">;
export type CwdChangedHookEvent = EventOf<"CwdChanged">;
export type FileChangedHookEvent = EventOf<"FileChanged">;
export type DirectoryAddedHookEvent = EventOf<"DirectoryAdded">;
export type MessageDisplayHookEvent = EventOf<"MessageDisplay">;

export type AnyHookEvent = { [N in HookEventName]: EventOf<N> }[HookEventName];

/** An event that is not in the table. It has the common fields only, so that a switch over all names stays typed. */
export type UnknownHookEvent = HookEvent & { readonly [K in FieldOf<HookEventName>]?: never };

/** null if it is not an object, or names no session or no event. Never throws. */
export function parseHookEvent(payload: unknown): AnyHookEvent | UnknownHookEvent | null {
  if (!isRecord(payload)) return null;
  const session_id = readId(payload.session_id);
  const name = readId(payload.hook_event_name) ?? readId(payload.hook_type);
  if (session_id === null || name === null) return null;
  const hook_event_name = name === "PostToolUse" && isSet(payload.error) ? "PostToolUseFailure" : name;
  const current = renameOldFields(payload);
  const fields = fieldsByEvent.get(hook_event_name);
  // Nearly always: a valid payload is not copied.
  const isNamed = payload.hook_event_name === hook_event_name;
  if (fields && isNamed && current === payload && isValid(payload, fields))
    return payload as unknown as AnyHookEvent;
  const valid = pickValid(current, fields ?? commonFields);
  return { ...valid, session_id, hook_event_name } as unknown as UnknownHookEvent;
}

function isValid(payload: JsonRecord, fields: readonly Field[]): boolean {
  if (payload.error !== undefined) return false;
  for (const { name, read } of fields) {
    const value = payload[name];
    if (value !== undefined && read(value) !== value) return false;
  }
  return true;
}

function pickValid(payload: JsonRecord, fields: readonly Field[]): JsonRecord {
  const valid: Record<string, unknown> = {};
  for (const { name, read } of fields) {
    const value = read(payload[name]);
    if (value !== undefined) valid[name] = value;
  }
  return valid;
}

/** An `error` of null, false or "" means that there was none. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** Older payloads have tool_result instead of tool_response, and agent_name instead of agent_id. */
function renameOldFields(payload: JsonRecord): JsonRecord {
  const { agent_name, team_name, tool_result, error } = payload;
  if (agent_name === undefined && tool_result === undefined && !isRecord(error)) return payload;
  const teammate = typeof agent_name === "string" && agent_name !== "" ? agent_name : undefined;
  const team = typeof team_name === "string" && team_name !== "" ? `${team_name}/` : "";
  return {
    ...payload,
    agent_id: payload.agent_id ?? (teammate === undefined ? undefined : team + teammate),
    tool_response: payload.tool_response ?? tool_result,
    error: isRecord(error) ? error.message : error,
  };
}

const readers: { readonly [K in keyof FieldTypes]: (value: unknown) => FieldTypes[K] | undefined } = {
  id: (value) => readId(value) ?? undefined,
  path: (value) => readPath(value) ?? undefined,
  name: (value) => truncateText(value, limits.maxIdLength),
  text: (value) => truncateText(value, limits.maxHookTextLength),
  flag: (value) => readFlag(value) ?? undefined,
  number: (value) => readNumber(value) ?? undefined,
  fields: (value) => (isRecord(value) ? value : undefined),
  rows: (value) => (Array.isArray(value) ? pickRecords(value) : undefined),
  any: (value) => value ?? undefined,
};

function pickRecords(rows: readonly unknown[]): readonly JsonRecord[] {
  const areValid = rows.length <= limits.maxHookItems && rows.every(isRecord);
  return areValid ? (rows as JsonRecord[]) : rows.slice(0, limits.maxHookItems).filter(isRecord);
}

interface Field {
  readonly name: string;
  readonly read: (value: unknown) => unknown;
}
const listFields = (spec: FieldSpec): Field[] =>
  Object.entries(spec).map(([name, kind]) => ({ name, read: readers[kind] }));
const commonFields = listFields(commonSpec);
const fieldsByEvent: ReadonlyMap<string, readonly Field[]> = new Map(
  Object.entries(events).map(([name, spec]) => [name, [...commonFields, ...listFields(spec)]]),
);

function truncateText(value: unknown, max: number): string | undefined {
  return typeof value === "string" ? takeStart(value, max) : undefined;
}

/**
 * A tool's output changes no session: a picture, a whole file or a command's output would only fill the disk. `tool_result` is the
 * old name of `tool_response`. `tool_calls` of a batch repeats each call with its output.
 */
export const outputFields = ["tool_response", "tool_result", "tool_calls"] as const;

/** What a request for this tool asks of the user. */
export function askKindOf(tool: string | null): Extract<AskKind, "question" | "plan" | "permission"> {
  return tool === "AskUserQuestion" ? "question" : tool === "ExitPlanMode" ? "plan" : "permission";
}
