/** What the events of all agents' hooks have in common, and what they ask the work guard. */
import { asRecord, asText, type JsonRecord, readText, readTime } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import {
  type AgentEvent,
  type Change,
  createInternalEvent,
  type EventSubject,
} from "../core/session/event.ts";
import { blankMember } from "../core/text/json-text.ts";
import { truncate } from "../core/text/truncate.ts";
import type { EventStamp, GuardRequest, ToolEdit } from "./agent.ts";
import { type EditTools, readEditPaths } from "./edits.ts";
import type { HookMessage } from "./envelope.ts";

/** An event that a hook sent, with what the forwarder saw around it. */
export function createHookEvent(
  { meta }: HookMessage,
  stamp: EventStamp,
  subject: EventSubject,
  change: Change,
): AgentEvent {
  const { place, attended, workspace: project } = meta;
  const about = { place, attended, project, payloadKey: stamp.key, ...subject };
  return createInternalEvent(stamp.id, stamp, about, change);
}

const callEvents: ReadonlySet<unknown> = new Set(["PreToolUse", "PostToolUse", "PostToolUseFailure"]);

/** A call of a tool starts once and ends once. */
export function createCallKey({
  hook_event_name: name,
  tool_call_id,
  tool_use_id,
}: JsonRecord): string | null {
  const id = callEvents.has(name) ? readText(tool_call_id ?? tool_use_id, limits.maxIdLength) : null;
  return id && `${name}.${id}`;
}

/** A hook that is this much older than its forwarder says something else with its timestamp. */
const maxStartMs = 60_000;

/**
 * For agents that do not wait for all of their hooks, which then start in any order on a busy machine: the payload says when each was
 * sent, on the same clock as the forwarder's.
 */
export function stampByPayload({ meta, payload }: HookMessage, stamp: EventStamp): EventStamp {
  const startMs = (meta.at ?? 0) - (readTime(payload.timestamp) ?? Number.POSITIVE_INFINITY);
  if (startMs <= 0 || startMs > maxStartMs) return stamp;
  return { ...stamp, at: stamp.at - startMs, t: stamp.t - startMs };
}

/**
 * The event of a hook whose payload has Claude Code's field names. null if it names no session or no event. `more` is what only some
 * agents say about whom it concerns.
 */
export function translateHook(
  hook: HookMessage,
  stamp: EventStamp,
  agent: string,
  createChange: (name: string, payload: JsonRecord) => Change,
  more: Partial<EventSubject> = {},
): AgentEvent | null {
  const { payload } = hook;
  const [sessionId, name] = [readId(payload.session_id), readId(payload.hook_event_name)];
  if (sessionId === null || name === null) return null;
  const files = { cwd: readPath(payload.cwd), transcriptPath: readPath(payload.transcript_path) };
  const subject = { agent, sessionId, name, ...files, ...more };
  return createHookEvent(hook, stamp, subject, createChange(name, payload));
}

/** A prompt that the user wrote. */
export const createPrompt = (text: unknown): Change => ({
  kind: "prompt",
  text: truncate(asText(text), limits.maxTextLength),
  byMachine: false,
});

/** A turn end; absent facts mean no error, no response, no background work. */
export const createTurnEnd = (
  facts: Partial<Pick<Change & { kind: "turn-end" }, "error" | "lastResponse" | "background">> = {},
): Change & { kind: "turn-end" } => ({
  kind: "turn-end",
  error: null,
  lastResponse: null,
  background: null,
  ...facts,
});

/** The last response of a turn. null if it ended without one. */
export const readTrimmedResponse = (message: unknown): string | null =>
  truncate(asText(message).trim(), limits.maxTextLength) || null;

/** Removes fields of the payload from the event's text. `from` is where the payload starts. */
export function stripFields(
  text: string,
  from: number,
  payload: JsonRecord,
  names: readonly string[],
): string {
  let stripped = text;
  for (const name of names) if (payload[name] != null) stripped = blankMember(stripped, name, from);
  return stripped;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: an id must not have them
const unprintable = /[\u0000-\u001f\u007f-\u009f]/;

/** null if the value is not text that can identify something. */
export function readId(value: unknown, max: number = limits.maxIdLength): string | null {
  const text = readText(value, max);
  return text === null || unprintable.test(text) ? null : text;
}

export const readPath = (value: unknown): string | null => readId(value, limits.maxPathLength);

/** The field of a tool's input that describes the call best, or the first that is text. */
export function findSummary(input: JsonRecord, field: string | undefined): string {
  const value = input[field ?? ""];
  return asText(
    typeof value === "string" ? value : Object.values(input).find((other) => typeof other === "string"),
  );
}

/** null if the call is not one of these tools. */
export const readEdit = (tools: EditTools, tool: string, input: JsonRecord): ToolEdit | null =>
  Object.hasOwn(tools, tool) ? { tool, paths: readEditPaths(tools, tool, input).editPaths ?? [] } : null;

/**
 * What a hook whose payload has Claude Code's field names asks the work guard. Also with event names in the form
 * `pre-tool-use`, and without a session. `callEvent` comes before a call, which `read` reads. null if the payload names no event.
 */
export function readHookRequest(
  payload: JsonRecord,
  callEvent: "PreToolUse" | "BeforeTool",
  read: (tool: string, input: JsonRecord) => ToolEdit | null,
): GuardRequest | null {
  const name = readId(payload.hook_event_name ?? payload.hook_type);
  if (name === null) return null;
  const event = name.replaceAll("-", "").toLowerCase();
  const isCall = event === callEvent.toLowerCase();
  return {
    sessionId: readId(payload.session_id),
    cwd: readPath(payload.cwd),
    isStart: event === "sessionstart",
    edit: isCall ? read(asText(payload.tool_name), asRecord(payload.tool_input)) : null,
  };
}
