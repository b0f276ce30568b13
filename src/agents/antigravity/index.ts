/** Antigravity CLI while the app runs: its events. Written from others' reports, never run. */
import type { AgentRuntime } from "../agent.ts";
import { createRuntime } from "../runtime.ts";
import { antigravityForwarding } from "./forwarding.ts";
import { createRegistrationCheck, isRegistered } from "./setup/registered.ts";
import { explainRefusal, translate } from "./translate.ts";

export const antigravity: AgentRuntime = createRuntime(antigravityForwarding, {
  translate,
  explainRefusal,
  isPresent: isRegistered,
  createRegistrationCheck,
});
