/** Qwen Code while the app runs: its events, and what is watched beside its hooks. Its requests are answered through its second channel. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { qwenAnswering, qwenDangers } from "./answering.ts";
import { qwenForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { readDetails, readGuardRequest, translate } from "./translate.ts";
import { findTranscript, watchQwen } from "./watch/index.ts";

export const qwen: AgentRuntime = createRuntime(qwenForwarding, {
  translate,
  readDetails,
  readGuardRequest,
  // Without its calls, the end of a batch does not say that the user cancelled it. The end of the turn follows at once.
  outputFields: ["tool_response", "tool_calls"],
  dangers: qwenDangers,
  answering: qwenAnswering,
  watch: watchQwen,
  findTranscript,
  isPresent,
  createRegistrationCheck,
});
