/** Kimi Code while the app runs: its events, and what is watched beside its hooks. Its requests are answered in its terminal. */
import type { AgentRuntime } from "../agent.ts";
import { createCallKey } from "../hook-event.ts";
import { createRuntime } from "../runtime.ts";
import { kimiForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { readDetails, translate } from "./translate.ts";
import { watchKimi } from "./watch/index.ts";

export const kimi: AgentRuntime = createRuntime(kimiForwarding, {
  translate,
  readDetails,
  // The same call can come from a hook and from a file.
  dedupeKey: createCallKey,
  outputFields: ["tool_output"],
  watch: watchKimi,
  isPresent,
  createRegistrationCheck,
});
