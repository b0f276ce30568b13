/** What the events of all agents' hooks have in common. */
import { asText, type JsonRecord, readText } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import {
  type AgentEvent,
  type Change,
  createInternalEvent,
  type EventSubject,
} from "../core/session/event.ts";
import type { EventStamp } from "./agent.ts";
import type { HookMessage } from "./envelope.ts";
import { toOneLine } from "./one-line.ts";

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

/** The request that doctor sends for an agent that reports none of its own. */
export const createDoctorAsk = (text: unknown): Change => ({
  kind: "ask",
  ask: "permission",
  tool: null,
  inputKey: null,
  summary: toOneLine(asText(text)),
  options: [],
});

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
