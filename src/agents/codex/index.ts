/** Codex while the app runs: its events, its requests and what is watched beside its hooks. */
import type { AgentRuntime } from "../agent.ts";
import { codexAnswering, codexDangers } from "./answering.ts";
import { codexForwarding } from "./forwarding.ts";
import { dedupeKey, readGuardRequest, stripToolOutput } from "./payload.ts";
import { isPresent } from "./setup/folder.ts";
import { createRegistrationCheck } from "./setup/registration-check.ts";
import { explainRefusal, findOwnPlace, readDetails, translate } from "./translate.ts";
import { watchCodex } from "./watch/index.ts";
import { findRollout } from "./watch/rollouts.ts";

export const codex: AgentRuntime = {
  translate,
  readDetails,
  readGuardRequest,
  findOwnPlace,
  explainRefusal,
  stripToolOutput,
  identifierFields: new Set(codexForwarding.identifierFields),
  dedupeKey,
  dangers: codexDangers,
  answering: codexAnswering,
  watch: watchCodex,
  findTranscript: findRollout,
  isPresent,
  createRegistrationCheck,
};
