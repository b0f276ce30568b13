/** Recordings of Kimi Code 2.1.0: the hooks that beckon registers, and the main agent's wire file. */
import { agents } from "../../../src/agents/index.ts";
import { describeReplay } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "kimi");
if (!agent) throw new Error("kimi is not in the table");

const closed =
  "a closed terminal is not reported: beckon sees that the process is gone, which a recording has not";

describeReplay({
  agent,
  // Of calls, these are registered. The wire files have the others.
  createPayloads: ({ event, payload }) =>
    /ToolUse/.test(event) && !/^(?:AskUserQuestion|Agent)$/.test(String(payload.tool_name)) ? [] : [payload],
  exitKeys: /^\/exit$/,
  unknowable: {
    hangup: {
      "9.7 s: the ask stays after the permission dialog": closed,
      "11.2 s: the screen is idle (idle), shown is waiting": closed,
    },
    perm_feedback: {
      "12.9 s: the ask stays after the permission dialog":
        "the recorder did not know the line for feedback, which was open",
    },
    question: {
      "11.5 s: the ask stays after the question dialog":
        "the recorder did not know the page that sends the answers, which was open",
    },
  },
});
