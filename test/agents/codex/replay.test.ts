/** Recordings of Codex 0.166.0: the hooks that beckon registers, and the rollout files. The shared server has its own test. */
import { agents } from "../../../src/agents/index.ts";
import { letTimePass } from "../../wait-until.ts";
import { describeReplay } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "codex");
if (!agent) throw new Error("codex is not in the table");

const leftScreen = "Codex has ended; the recorder took what it leaves on the screen for its prompt";

describeReplay({
  agent,
  async createPayloads({ payload }, home) {
    await letTimePass(10, "a replay is faster than the check whether a rollout file is one of Codex's own");
    return [{ ...payload, transcript_path: String(payload.transcript_path).replace("/home/dev", home) }];
  },
  exitKeys: /^\/(?:exit|quit)$/,
  skipped: [
    [
      /^(?:hold_|pre_|perm_(?:exit|badjson|interrupt|missing)|prompt_|end_|toml_|trust)/,
      "the recorder holds or breaks the hooks",
    ],
    [/^exec$/, "no terminal UI, so nothing to compare with"],
  ],
  unknowable: {
    ctrl_c: {
      "7.0 s: the screen is idle (one), shown is shell": leftScreen,
      "9.5 s: the screen is idle (two), shown is shell": leftScreen,
      "9.5 s: the screen is idle (final), shown is shell": leftScreen,
    },
    daemon_exit_pending: {
      "15.8 s: the ask stays after the permission dialog":
        "its terminal was killed; the shared server goes on waiting, and `codex resume` shows the dialog again",
    },
    kill9: {
      "12.5 s: the screen is idle (after), shown is shell": leftScreen,
      "12.5 s: the screen is idle (final), shown is shell": leftScreen,
    },
    patch: {
      "8.0 s: a permission ask without a dialog":
        "the recorder did not watch for this dialog; its look at 11.5 s shows it",
    },
    perm_parallel: {
      "10.6 s: the ask stays after the permission dialog":
        "the second dialog follows, which the recorder did not watch for",
      "7.7 s: a permission ask without a dialog": "the ask of that second dialog: both requests come at once",
    },
    plan_dialog: {
      "11.8 s: the ask stays after the plan dialog": "Esc there sends no hook and writes no row",
      "13.3 s: the screen is idle (after-esc), shown is waiting": "the same",
      "13.3 s: the screen is idle (final), shown is waiting": "the same",
    },
  },
});
