/** Recordings of Grok Build 1.0.41: the hooks that beckon registers, and its file of events. */
import { agents } from "../../../src/agents/index.ts";
import { describeReplay } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "grok");
if (!agent) throw new Error("grok is not in the table");

const otherDialog = "the recorder did not know the form of this dialog, which was open";

describeReplay({
  agent,
  // Of the ends of calls, only a question's is registered. events.jsonl has the others.
  createPayloads: ({ event, payload }, home) =>
    /^PostToolUse/.test(event) && payload.tool_name !== "ask_user_question"
      ? []
      : [{ ...payload, transcript_path: String(payload.transcript_path).replace("/home/dev", home) }],
  // A subagent's session runs in the same process. No process of this machine has such an id.
  createMeta: ({ ppid = 0 }) => ({ pid: 4_190_000 + (ppid % 1_000), host: "host" }),
  exitKeys: /^\/exit$/,
  unknowable: {
    hangup: { "9.6 s: the screen is idle (idle), shown is shell": "the terminal was closed then" },
    perm_esc: { "22.8 s: the permission dialog has no ask": "the same dialog, drawn again: its ask stays" },
    subagent: {
      "6.0 s: a permission ask without a dialog": otherDialog,
      "7.4 s: the screen is working (working), shown is waiting": otherDialog,
    },
  },
});
