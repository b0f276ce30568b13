/** Recordings of Qwen Code 0.24.4: the hooks that beckon registers, and what its transcript says about tokens. */
import { agents } from "../../../src/agents/index.ts";
import { describeReplay } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "qwen");
if (!agent) throw new Error("qwen is not in the table");

const onlyAllApproved = "of parallel calls, no hook says that one was approved before all of them are";
const otherDialog = "the recorder did not know the form of a subagent's dialog, which was open";

describeReplay({
  agent,
  createPayloads: ({ payload }, home) => [
    { ...payload, transcript_path: String(payload.transcript_path).replace("/home/dev", home) },
  ],
  exitKeys: /^\/quit$/,
  unknowable: {
    hangup: { "13.1 s: the screen is idle (idle), shown is shell": "the terminal was closed then" },
    perm_parallel: {
      "12.4 s: the ask stays after the permission dialog": onlyAllApproved,
      "12.4 s: the permission dialog has no ask": onlyAllApproved,
      "9.7 s: a permission ask without a dialog": onlyAllApproved,
    },
    resume: {
      "15.2 s: the screen is idle (idle), shown is shell": "Qwen Code reports its session once it is loaded",
    },
    subagent: {
      "16.9 s: a permission ask without a dialog": otherDialog,
      "18.4 s: the screen is idle (idle), shown is waiting": otherDialog,
    },
  },
});
