/**
 * What most agents have in common while the app runs: nothing is watched, nothing is answered, two equal payloads are one event, and
 * payloads have Claude Code's field names.
 */
import type { JsonRecord } from "../core/json.ts";
import type { AgentRuntime, Forwarding } from "./agent.ts";
import { stripFields } from "./hook-event.ts";

const defaults = {
  explainRefusal,
  dedupeKey: () => null,
  dangers: null,
  answering: null,
  watch: () => null,
  findTranscript: async () => null,
} satisfies Partial<AgentRuntime>;

type Defaulted = keyof typeof defaults | "stripToolOutput";

interface RuntimeParts
  extends Omit<AgentRuntime, "identifierFields" | Defaulted>,
    Partial<Pick<AgentRuntime, Defaulted>> {
  /** The fields of a payload with what a tool returned. None if absent. */
  readonly outputFields?: readonly string[];
}

export const createRuntime = (
  forwarding: Forwarding,
  { outputFields = [], ...parts }: RuntimeParts,
): AgentRuntime => ({
  ...defaults,
  identifierFields: new Set(forwarding.identifierFields),
  stripToolOutput: (text, from, payload) => stripFields(text, from, payload, outputFields),
  ...parts,
});

function explainRefusal(payload: JsonRecord): string {
  if (!("session_id" in payload || "sessionId" in payload)) return "no session_id in the payload";
  const hasName = ["hook_event_name", "hook_type", "hookName"].some((name) => name in payload);
  if (!hasName) return "no hook_event_name in the payload";
  return "session_id or hook_event_name is empty, too long or not a string";
}
