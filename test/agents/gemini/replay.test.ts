/** Recordings of Gemini CLI 0.61.0: the hooks that beckon registers, and the transcript. */

import { agents } from "../../../src/agents/index.ts";
import { describeReplay } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "gemini");
if (!agent) throw new Error("gemini is not in the table");

describeReplay({
  agent,
  createPayloads: ({ payload }, home) => [
    { ...payload, transcript_path: String(payload.transcript_path).replace("/home/dev", home) },
  ],
  exitKeys: /^\/quit$/,
  skipped: [
    [/^headless$/, "no terminal UI, so nothing to compare with"],
    [/^(?:pre_|notif_)/, "the recorder holds or breaks the hooks"],
  ],
  unknowable: {
    perm_idle_keyboard: {
      "12.9 s: the ask stays after the permission dialog":
        "between an approval and the end of the command there is neither a hook nor a line; its process, which a replay does not have, is the only sign (watch.test.ts)",
    },
  },
});
