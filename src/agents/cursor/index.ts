/** Cursor while the app runs: its events. Written from its documentation, never run. */
import type { AgentRuntime } from "../agent.ts";
import { createFileCheck } from "../setup/file-check.ts";
import { cursorForwarding } from "./forwarding.ts";
import { hooksPath, isRegistered } from "./setup/registered.ts";
import { explainRefusal, readDetails, stripToolOutput, translate } from "./translate.ts";

export const cursor: AgentRuntime = {
  translate,
  readDetails,
  explainRefusal,
  stripToolOutput,
  identifierFields: new Set(cursorForwarding.identifierFields),
  dedupeKey: () => null,
  dangers: null,
  answering: null,
  watch: () => null,
  findTranscript: async () => null,
  isPresent: isRegistered,
  createRegistrationCheck: (env) => createFileCheck([hooksPath(env)], () => isRegistered(env)),
};
