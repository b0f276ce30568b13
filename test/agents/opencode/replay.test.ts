/** Recordings of opencode 1.18.33, replayed through beckon's plugin. */

import { agents } from "../../../src/agents/index.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { describeReplay, type HookRow } from "../replay-other.ts";
import { type LoadedPlugin, loadPlugin } from "./plugin.ts";

const agent = agents.find(({ id }) => id === "opencode");
if (!agent) throw new Error("opencode is not in the table");
let plugin: LoadedPlugin;

/** The plugin's own hooks have two arguments; the recorder kept them as `input` and `output`. */
function createPayloads({ event, payload }: HookRow): readonly JsonRecord[] | Promise<readonly JsonRecord[]> {
  const { input, output } = payload;
  if (event === "plugin-load") return [];
  return /^(?:chat|tool)\./.test(event)
    ? plugin.callHook(event, input, output)
    : plugin.sendEvent(event, payload);
}

describeReplay({
  agent,
  async reset() {
    plugin = await loadPlugin();
  },
  createPayloads,
  exitKeys: /^\/exit$/,
  unknowable: {
    question: { "38.4 s: a question ask without a dialog": "the recorder did not look at the screen then" },
    resume: {
      "29.1 s: the screen is idle (resumed), shown is shell":
        "after --continue opencode reports nothing before the first prompt",
    },
  },
});
