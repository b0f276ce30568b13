/** Recordings of Kilo 7.7.7, replayed through beckon's plugin, which is opencode's. */
import { agents } from "../../../src/agents/index.ts";
import { createPluginPayloads } from "../opencode/plugin.ts";
import { describeReplay } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "kilo");
if (!agent) throw new Error("kilo is not in the table");

describeReplay({ agent, ...createPluginPayloads(), exitKeys: /^\/exit$/, unknowable: {} });
