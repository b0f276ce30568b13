/**
 * A made-up agent, to show that an agent is one folder and one row. It differs from Claude Code in everything that a row can
 * differ in: it calls beckon from a plugin file, its events have other fields, and it writes finished turns into a file.
 */
import type { Agent } from "../../../src/agents/agent.ts";
import { exampleForwarding } from "./forwarding.ts";

export const example: Agent = {
  id: "example",
  name: "Example Agent",
  forwarding: exampleForwarding,
  sessionVariables: ["EXAMPLE_"],
  commandMarkers: [],
  settingsVariables: [{ name: "EXAMPLE_HOME", meaning: "Example Agent's own folder (~/.example)" }],
  loadRuntime: async () => (await import("./runtime.ts")).exampleRuntime,
  loadSetup: async () => (await import("./setup.ts")).exampleSetup,
};
