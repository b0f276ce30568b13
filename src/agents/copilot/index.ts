/** Copilot CLI while the app runs: its events, and what is watched beside its hooks. Its requests are answered in its terminal. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { copilotForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { readDetails, readGuardRequest, translate } from "./translate.ts";
import { findTranscript, watchCopilot } from "./watch/index.ts";

/** No dedupeKey: hooks of beckon and of a project's .claude/settings.json send the same text. */
export const copilot: AgentRuntime = createRuntime(copilotForwarding, {
  translate,
  readDetails,
  readGuardRequest,
  outputFields: ["tool_result", "toolResult", "tool_response"],
  watch: watchCopilot,
  findTranscript,
  isPresent,
  createRegistrationCheck,
});
