/** What the forwarder knows about the made-up agent. */
import type { Forwarding } from "../../../src/agents/agent.ts";

export const exampleForwarding: Forwarding = {
  pidVariable: "EXAMPLE_PID",
  projectVariable: null,
  metaVariables: ["EXAMPLE_MODE"],
  identifierFields: ["type", "session", "folder"],
  isAttended: (env) => (env.EXAMPLE_MODE === "batch" ? false : null),
  identify: ({ type, session }) => ({ eventName: type, sessionId: session }),
  spoolKind: ({ type }) => ({ kind: type === "permission.asked" ? "ask" : "end", toolUseId: null }),
  isSessionStart: ({ type }) => type === "session.started",
  canWaitForAnswer: ({ type }) => type === "permission.asked",
  isDecision: (output) => /^\{"reply":"(?:yes|no)"(?:,"text":"[^"]*")?\}$/.test(JSON.stringify(output)),
};
