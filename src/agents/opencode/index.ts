/** opencode while the app runs: what its plugin reports, and its requests. Its plugin knows everything, so nothing is watched. */
import type { AgentRuntime } from "../agent.ts";
import { createFileCheck, readSettingsText } from "../setup/file-check.ts";
import { opencodeAnswering, opencodeDangers } from "./answering.ts";
import { opencodeForwarding } from "./forwarding.ts";
import { isPresent, pluginPath } from "./setup/folder.ts";
import { dedupeKey, explainRefusal, readDetails, readGuardRequest, translate } from "./translate.ts";

export const opencode: AgentRuntime = {
  translate,
  readDetails,
  readGuardRequest,
  explainRefusal,
  // The plugin sends none.
  stripToolOutput: (text) => text,
  identifierFields: new Set(opencodeForwarding.identifierFields),
  dedupeKey,
  dangers: opencodeDangers,
  answering: opencodeAnswering,
  watch: () => null,
  // opencode keeps its sessions in a database.
  findTranscript: async () => null,
  isPresent,
  createRegistrationCheck(env) {
    const path = pluginPath("user", env) ?? "";
    return createFileCheck([path], () => readSettingsText(path).includes("beckon's plugin for opencode"));
  },
};
