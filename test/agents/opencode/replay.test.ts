/** Recordings of opencode 1.18.33, replayed through beckon's plugin. */

import { agents } from "../../../src/agents/index.ts";
import { describeReplay } from "../replay-other.ts";
import { createPluginPayloads } from "./plugin.ts";

const agent = agents.find(({ id }) => id === "opencode");
if (!agent) throw new Error("opencode is not in the table");
describeReplay({
  agent,
  ...createPluginPayloads(),
  exitKeys: /^\/exit$/,
  unknowable: {
    question: { "38.4 s: a question ask without a dialog": "the recorder did not look at the screen then" },
    resume: {
      "29.1 s: the screen is idle (resumed), shown is shell":
        "after --continue opencode reports nothing before the first prompt",
    },
  },
});
