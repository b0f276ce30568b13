/** Cursor while the app runs: its events. Written from its documentation, never run. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { cursorForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isRegistered } from "./setup/registered.ts";
import { explainRefusal, readDetails, translate } from "./translate.ts";

export const cursor: AgentRuntime = createRuntime(cursorForwarding, {
  translate,
  readDetails,
  explainRefusal,
  // An edit comes with all of its old and new text.
  outputFields: ["tool_output", "tool_response", "edits"],
  isPresent: isRegistered,
  createRegistrationCheck,
});
