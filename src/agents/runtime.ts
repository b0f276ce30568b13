/** What most agents have in common while the app runs: nothing is watched, nothing is answered, and two equal payloads are one event. */
import type { AgentRuntime, Forwarding } from "./agent.ts";

const defaults = {
  stripToolOutput: (text: string) => text,
  dedupeKey: () => null,
  dangers: null,
  answering: null,
  watch: () => null,
  findTranscript: async () => null,
} satisfies Partial<AgentRuntime>;

type RuntimeParts = Omit<AgentRuntime, "identifierFields" | keyof typeof defaults> &
  Partial<Pick<AgentRuntime, keyof typeof defaults>>;

export const createRuntime = (forwarding: Forwarding, parts: RuntimeParts): AgentRuntime => ({
  ...defaults,
  identifierFields: new Set(forwarding.identifierFields),
  ...parts,
});
