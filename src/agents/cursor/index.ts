/** Cursor while the app runs: its events. Written from its documentation, never run. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { cursorForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isRegistered } from "./setup/registered.ts";
import { explainRefusal, readDetails, stripToolOutput, translate } from "./translate.ts";

export const cursor: AgentRuntime = createRuntime(cursorForwarding, {
  translate,
  readDetails,
  explainRefusal,
  stripToolOutput,
  isPresent: isRegistered,
  createRegistrationCheck,
});
