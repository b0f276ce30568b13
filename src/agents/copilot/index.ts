/** Copilot CLI while the app runs: its events, and what is watched beside its hooks. Its requests are answered in its terminal. */
import type { AgentRuntime } from "../agent.ts";
import { copilotForwarding } from "./forwarding.ts";
import { isPresent } from "./setup/folder.ts";
import { createRegistrationCheck } from "./setup/registration-check.ts";
import { dedupeKey, explainRefusal, readDetails, stripToolOutput, translate } from "./translate.ts";
import { findTranscript, watchCopilot } from "./watch/index.ts";

export const copilot: AgentRuntime = {
  translate,
  readDetails,
  explainRefusal,
  stripToolOutput,
  identifierFields: new Set(copilotForwarding.identifierFields),
  dedupeKey,
  dangers: null,
  answering: null,
  watch: watchCopilot,
  findTranscript,
  isPresent,
  createRegistrationCheck,
};
