/** Gemini CLI while the app runs: its events, and what is watched beside its hooks. Its requests are answered in its terminal. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { geminiForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { dedupeKey, readDetails, readGuardRequest, stripToolOutput, translate } from "./translate.ts";
import { findTranscript, watchGemini } from "./watch/index.ts";

export const gemini: AgentRuntime = createRuntime(geminiForwarding, {
  translate,
  readDetails,
  readGuardRequest,
  stripToolOutput,
  dedupeKey,
  watch: watchGemini,
  findTranscript,
  isPresent,
  createRegistrationCheck,
});
