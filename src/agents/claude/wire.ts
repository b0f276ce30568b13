/** Claude Code's hook payloads, as they come over the wire. A field has its right type here, or it is absent. */

import { isRecord, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";

/**
 * id: no empty, overlong or unprintable text, as a shortened one would be another's. path: the same, longer.
 * word and text: cut to their limit; an empty one is kept (SubagentStop of /compact has agent_type "").
 */
interface Kinds {
  readonly id: string;
  readonly path: string;
  readonly word: string;
  readonly text: string;
  readonly flag: boolean;
  readonly number: number;
  readonly fields: JsonRecord;
  readonly rows: readonly JsonRecord[];
  readonly any: unknown;
}

type Spec = Readonly<Record<string, keyof Kinds>>;

const base = {
  transcript_path: "path",
  cwd: "path",
  provider: "word",
  prompt_id: "id",
  permission_mode: "word",
  effort: "fields",
  agent_id: "id",
  agent_type: "word",
} as const satisfies Spec;

const tool = { tool_name: "word", tool_input: "fields", tool_use_id: "id", mcp_server: "fields" } as const;
const thoughts = { thinking: "text", extended_thinking: "text" } as const;
const ended = {
  stop_hook_active: "flag",
  last_assistant_message: "text",
  background_tasks: "rows",
  session_crons: "rows",
} as const;
const task = {
  task_id: "id",
  task_subject: "text",
  task_description: "text",
  teammate_name: "word",
  team_name: "word",
} as const;
const modelSwitch = {
  from_model: "word",
  to_model: "word",
  requested_model: "word",
  source: "word",
} as const;

/** Every event of CLI 2.1.325, and the fields that any version or seed gives it. */
const events = {
  PreToolUse: tool,
  PostToolUse: { ...tool, ...thoughts, tool_response: "any", duration_ms: "number" },
  PostToolUseFailure: {
    ...tool,
    ...thoughts,
    tool_response: "any",
    duration_ms: "number",
    error: "text",
    exit_code: "number",
    is_interrupt: "flag",
  },
  PostToolBatch: { tool_calls: "rows" },
  Notification: { ...thoughts, notification_type: "word", message: "text", title: "text", level: "word" },
  UserPromptSubmit: { prompt: "text" },
  UserPromptExpansion: {
    expansion_type: "word",
    command_name: "word",
    command_args: "text",
    command_source: "word",
    prompt: "text",
  },
  SessionStart: { source: "word", model: "word" },
  SessionEnd: { reason: "word" },
  Stop: { ...ended, reason: "text", summary: "text" },
  StopFailure: { error: "text", error_details: "text", last_assistant_message: "text" },
  SubagentStart: { agent_name: "word", team_name: "word", parent_session_id: "id", prompt: "text" },
  SubagentStop: {
    ...ended,
    agent_transcript_path: "path",
    agent_name: "word",
    team_name: "word",
    parent_session_id: "id",
    result: "any",
  },
  PreCompact: { trigger: "word", custom_instructions: "text" },
  PostCompact: { trigger: "word", compact_summary: "text" },
  PreModelSwitch: modelSwitch,
  PostModelSwitch: modelSwitch,
  PermissionRequest: { ...tool, permission_suggestions: "rows" },
  PermissionDenied: { ...tool, reason: "text" },
  Setup: { trigger: "word" },
  TeammateIdle: { teammate_name: "word", team_name: "word" },
  TaskCreated: task,
  TaskCompleted: task,
  Elicitation: {
    mcp_server_name: "word",
    message: "text",
    mode: "word",
    url: "text",
    elicitation_id: "id",
    requested_schema: "fields",
  },
  ElicitationResult: {
    mcp_server_name: "word",
    mode: "word",
    action: "word",
    elicitation_id: "id",
    content: "fields",
  },
  ConfigChange: { source: "word", file_path: "path" },
  WorktreeCreate: { name: "word" },
  WorktreeRemove: { worktree_path: "path" },
  InstructionsLoaded: { file_path: "path", memory_type: "word", load_reason: "word" },
  CwdChanged: { old_cwd: "path", new_cwd: "path" },
  FileChanged: { file_path: "path", event: "word" },
  DirectoryAdded: { directory: "path", source: "word" },
  MessageDisplay: { turn_id: "id", message_id: "id", index: "number", final: "flag", delta: "text" },
} as const satisfies Readonly<Record<string, Spec>>;

export type HookEventName = keyof typeof events;
export const hookEventNames = Object.keys(events) as readonly HookEventName[];

type Read<S extends Spec> = { readonly [K in keyof S]?: Kinds[S[K]] };

export interface HookEvent extends Read<typeof base> {
  readonly session_id: string;
  readonly hook_event_name: string;
}

type EventOf<N extends HookEventName> = HookEvent & { readonly hook_event_name: N } & Read<
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

/** A name that is not in the table. It has the common fields only, so that a switch over all names stays typed. */
export type UnknownHookEvent = HookEvent & { readonly [K in FieldOf<HookEventName>]?: never };

/** null: no object, or it names no session or no event. Never throws. */
export function readHook(payload: unknown): AnyHookEvent | UnknownHookEvent | null {
  if (!isRecord(payload)) return null;
  const session_id = id(payload.session_id, limits.maxIdLength);
  const called = id(payload.hook_event_name, limits.maxIdLength) ?? id(payload.hook_type, limits.maxIdLength);
  if (session_id === undefined || called === undefined) return null;
  const hook_event_name = called === "PostToolUse" && isSet(payload.error) ? "PostToolUseFailure" : called;
  const given = withOlderNames(payload);
  const known = fieldsOf.get(hook_event_name);
  // Nearly always: what is as it should be is not copied.
  const isNamed = payload.hook_event_name === hook_event_name;
  if (known && isNamed && given === payload && isAsItShould(payload, known))
    return payload as unknown as AnyHookEvent;
  const good = goodPartOf(given, known ?? commonFields);
  return { ...good, session_id, hook_event_name } as unknown as UnknownHookEvent;
}

function isAsItShould(payload: JsonRecord, fields: readonly Field[]): boolean {
  if (payload.error !== undefined) return false;
  for (const { name, read } of fields) {
    const value = payload[name];
    if (value !== undefined && read(value) !== value) return false;
  }
  return true;
}

function goodPartOf(given: JsonRecord, fields: readonly Field[]): JsonRecord {
  const good: Record<string, unknown> = {};
  for (const { name, read } of fields) {
    const value = read(given[name]);
    if (value !== undefined) good[name] = value;
  }
  return good;
}

/** An `error` of null, false or "" says that there was none. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** Older payloads have tool_result for tool_response, and name a teammate where newer ones have agent_id. */
function withOlderNames(payload: JsonRecord): JsonRecord {
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

const readers: { readonly [K in keyof Kinds]: (value: unknown) => Kinds[K] | undefined } = {
  id: (value) => id(value, limits.maxIdLength),
  path: (value) => id(value, limits.maxPathLength),
  word: (value) => start(value, limits.maxIdLength),
  text: (value) => start(value, limits.maxHookTextLength),
  flag: (value) => (typeof value === "boolean" ? value : undefined),
  number: (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined),
  fields: (value) => (isRecord(value) ? value : undefined),
  rows: (value) => (Array.isArray(value) ? goodRows(value) : undefined),
  any: (value) => value ?? undefined,
};

function goodRows(rows: readonly unknown[]): readonly JsonRecord[] {
  const isGood = rows.length <= limits.maxHookItems && rows.every(isRecord);
  return isGood ? (rows as JsonRecord[]) : rows.slice(0, limits.maxHookItems).filter(isRecord);
}

interface Field {
  readonly name: string;
  readonly read: (value: unknown) => unknown;
}
const fieldsIn = (spec: Spec): Field[] =>
  Object.entries(spec).map(([name, kind]) => ({ name, read: readers[kind] }));
const commonFields = fieldsIn(base);
const fieldsOf: ReadonlyMap<string, readonly Field[]> = new Map(
  Object.entries(events).map(([name, spec]) => [name, [...commonFields, ...fieldsIn(spec)]]),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what an id must not have
const unprintable = /[\u0000-\u001f\u007f-\u009f]/;

function id(value: unknown, max: number): string | undefined {
  const usable =
    typeof value === "string" && value.length > 0 && value.length <= max && !unprintable.test(value);
  return usable ? value : undefined;
}

function start(value: unknown, max: number): string | undefined {
  if (typeof value !== "string" || value.length <= max) return typeof value === "string" ? value : undefined;
  return value.slice(0, /[\ud800-\udbff]/.test(value.charAt(max - 1)) ? max - 1 : max);
}
