/** Antigravity CLI while the app runs: its events. Written from others' reports, never run. */
import type { AgentRuntime } from "../agent.ts";
import { createFileCheck } from "../setup/file-check.ts";
import { antigravityForwarding } from "./forwarding.ts";
import { hooksPath, isRegistered } from "./setup/registered.ts";
import { explainRefusal, translate } from "./translate.ts";

export const antigravity: AgentRuntime = {
  translate,
  explainRefusal,
  stripToolOutput: (text) => text,
  identifierFields: new Set(antigravityForwarding.identifierFields),
  dedupeKey: () => null,
  dangers: null,
  answering: null,
  watch: () => null,
  findTranscript: async () => null,
  isPresent: isRegistered,
  createRegistrationCheck: (env) => createFileCheck([hooksPath(env)], () => isRegistered(env)),
};
