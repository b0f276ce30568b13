/** Grok Build while the app runs: its events, and what is watched beside its hooks. Its requests are answered in its terminal. */
import type { AgentRuntime } from "../agent.ts";
import { createCallKey } from "../hook-event.ts";
import { createRuntime } from "../runtime.ts";
import { grokForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { readDetails, translate } from "./translate.ts";
import { findTranscript, watchGrok } from "./watch/index.ts";

export const grok: AgentRuntime = createRuntime(grokForwarding, {
  translate,
  readDetails,
  // The same call can come from a hook and from a file.
  dedupeKey: createCallKey,
  outputFields: ["toolResult", "tool_response", "tool_result"],
  watch: watchGrok,
  findTranscript,
  isPresent,
  createRegistrationCheck,
});
