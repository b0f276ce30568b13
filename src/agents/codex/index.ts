/** Codex while the app runs: its events, its requests and what is watched beside its hooks. */
import type { AgentRuntime } from "../agent.ts";
import { createCallKey } from "../hook-event.ts";
import { createRuntime } from "../runtime.ts";
import { codexAnswering, codexDangers } from "./answering.ts";
import { codexForwarding } from "./forwarding.ts";
import { readGuardRequest } from "./payload.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { readTranscriptRow } from "./transcript-lines.ts";
import { findOwnPlace, readDetails, translate } from "./translate.ts";
import { watchCodex } from "./watch/index.ts";
import { findRollout } from "./watch/rollouts.ts";

export const codex: AgentRuntime = createRuntime(codexForwarding, {
  translate,
  readDetails,
  readGuardRequest,
  findOwnPlace,
  outputFields: ["tool_response"],
  dedupeKey: createCallKey,
  dangers: codexDangers,
  answering: codexAnswering,
  watch: watchCodex,
  findTranscript: findRollout,
  readTranscriptRow,
  isPresent,
  createRegistrationCheck,
});
