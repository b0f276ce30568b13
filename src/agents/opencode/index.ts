/** opencode while the app runs: what its plugin reports, and its requests. Its plugin reports everything. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { createOpencodeAnswering, createOpencodeDangers } from "./answering.ts";
import { opencodeForwarding } from "./forwarding.ts";
import { opencodeVariant } from "./opencode.ts";
import { createFolder } from "./setup/folder.ts";
import { dedupeKey, explainRefusal, readDetails, readGuardRequest, translate } from "./translate.ts";
import type { OpencodeVariant } from "./variant.ts";
import { watchInboxes } from "./watch/index.ts";

export function createOpencodeRuntime(variant: OpencodeVariant): AgentRuntime {
  const { isPresent, createRegistrationCheck } = createFolder(variant);
  return createRuntime(opencodeForwarding, {
    translate,
    readDetails,
    readGuardRequest,
    explainRefusal,
    dedupeKey,
    dangers: createOpencodeDangers(variant),
    answering: createOpencodeAnswering(variant),
    watch: ({ env }) => watchInboxes({ env, name: variant.name }),
    isPresent,
    createRegistrationCheck,
  });
}

export const opencode = createOpencodeRuntime(opencodeVariant);
