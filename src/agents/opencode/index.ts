/** opencode while the app runs: what its plugin reports, and its requests. Its plugin knows everything, so nothing is watched. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { opencodeAnswering, opencodeDangers } from "./answering.ts";
import { opencodeForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { dedupeKey, explainRefusal, readDetails, readGuardRequest, translate } from "./translate.ts";

export const opencode: AgentRuntime = createRuntime(opencodeForwarding, {
  translate,
  readDetails,
  readGuardRequest,
  explainRefusal,
  dedupeKey,
  dangers: opencodeDangers,
  answering: opencodeAnswering,
  isPresent,
  createRegistrationCheck,
});
