/** What the forwarder knows about Kimi Code, which waits for no hook of a request (measured). Imports little: it is loaded at every hook. */
import { createHookForwarding } from "../hook-forwarding.ts";

export const kimiForwarding = createHookForwarding({
  identifierFields: ["client_type", "id", "turn_id", "tool_call_id"],
  spoolKinds: { PermissionResult: "end", Interrupt: "end" },
});
