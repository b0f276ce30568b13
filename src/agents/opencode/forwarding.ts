/** What the forwarder knows about opencode. Its plugin writes the payloads. No imports: it is loaded at every event. */
import type { Forwarding } from "../agent.ts";

const requests: ReadonlySet<unknown> = new Set(["permission.asked", "question.asked"]);
const tools: ReadonlySet<unknown> = new Set(["tool.started", "tool.ended"]);
const replies: ReadonlySet<unknown> = new Set(["once", "always", "reject"]);

export const opencodeForwarding: Forwarding = {
  pidVariable: "OPENCODE_PID",
  projectVariable: null,
  metaVariables: [],
  identifierFields: [
    "type",
    "session",
    "subagent",
    "subagentType",
    "cwd",
    "request",
    "call",
    "tool",
    "permission",
  ],
  // Set by the plugin for `opencode run`.
  isAttended: (env) => (env.OPENCODE_UNATTENDED === "1" ? false : null),
  identify: ({ type, session }) => ({ eventName: type, sessionId: session }),
  spoolKind({ type, call }) {
    if (requests.has(type)) return { kind: "ask", toolUseId: call };
    if (tools.has(type)) return { kind: "tool", toolUseId: call };
    return { kind: type === "session.updated" ? "other" : "end", toolUseId: call };
  },
  isSessionStart: ({ type, subagent }) => type === "session.created" && subagent === undefined,
  canWaitForAnswer: ({ type }) => requests.has(type),
  guard: {
    // The plugin sends nothing else of a call that it asks about.
    reduce: ({ type, session, cwd, tool, input }) => ({ type, session, cwd, tool, input }),
    collisions: "tell",
    formatOutput({ type }, { decision, reason, metadata: { additional_context: tell } }) {
      if (type !== "tool.started") return null;
      if (decision === "block") return { refuse: reason };
      return tell === undefined ? null : { tell };
    },
  },
  isDecision(output) {
    if (typeof output !== "object" || output === null) return false;
    const { reply, message = "", answers, ...others } = output as Readonly<Record<string, unknown>>;
    if (Object.keys(others).length > 0 || typeof message !== "string") return false;
    const isAnswers = Array.isArray(answers) && answers.every((labels) => Array.isArray(labels));
    return answers === undefined ? replies.has(reply) : isAnswers && reply === undefined;
  },
};
