/** The table of agents: one row each. It stays light, because the forwarder reads it: the rest of an agent loads when needed. */
import type { AgentVariables } from "../system/app-environment.ts";
import type { Agent, AgentRuntime } from "./agent.ts";
import { claudeForwarding } from "./claude/forwarding.ts";
import { codexForwarding } from "./codex/forwarding.ts";
import { copilotForwarding } from "./copilot/forwarding.ts";
import { geminiForwarding } from "./gemini/forwarding.ts";
import { grokForwarding } from "./grok/forwarding.ts";
import { kimiForwarding } from "./kimi/forwarding.ts";
import { opencodeForwarding } from "./opencode/forwarding.ts";
import { qwenForwarding } from "./qwen/forwarding.ts";

export const agents: readonly Agent[] = [
  {
    id: "claude",
    name: "Claude Code",
    forwarding: claudeForwarding,
    sessionVariables: ["CLAUDE", "ANTHROPIC"],
    commandMarkers: ["CLAUDECODE"],
    settingsVariables: [{ name: "CLAUDE_CONFIG_DIR", meaning: "Claude Code's own folder (~/.claude)" }],
    loadRuntime: async () => (await import("./claude/index.ts")).claude,
    loadSetup: async () => (await import("./claude/setup/index.ts")).claudeSetup,
    loadDemo: async () => (await import("./claude/demo.ts")).createClaudeDemoDay,
  },
  {
    id: "codex",
    name: "Codex",
    forwarding: codexForwarding,
    sessionVariables: ["CODEX_"],
    commandMarkers: ["CODEX_SANDBOX", "CODEX_THREAD_ID"],
    settingsVariables: [{ name: "CODEX_HOME", meaning: "Codex's own folder (~/.codex)" }],
    loadRuntime: async () => (await import("./codex/index.ts")).codex,
    loadSetup: async () => (await import("./codex/setup/index.ts")).codexSetup,
  },
  {
    id: "opencode",
    name: "opencode",
    forwarding: opencodeForwarding,
    sessionVariables: ["OPENCODE"],
    commandMarkers: ["OPENCODE"],
    settingsVariables: [
      { name: "OPENCODE_CONFIG_DIR", meaning: "opencode's own folder (~/.config/opencode)" },
    ],
    loadRuntime: async () => (await import("./opencode/index.ts")).opencode,
    loadSetup: async () => (await import("./opencode/setup/index.ts")).opencodeSetup,
  },
  {
    id: "kilo",
    name: "Kilo",
    // beckon's plugin for opencode runs in it, and sets the same variables for the hook.
    forwarding: opencodeForwarding,
    sessionVariables: ["KILO"],
    commandMarkers: ["KILO"],
    settingsVariables: [{ name: "KILO_CONFIG_DIR", meaning: "Kilo's own folder (~/.config/kilo)" }],
    loadRuntime: async () => (await import("./kilo/index.ts")).kilo,
    loadSetup: async () => (await import("./kilo/setup/index.ts")).kiloSetup,
  },
  {
    id: "copilot",
    name: "Copilot CLI",
    forwarding: copilotForwarding,
    sessionVariables: ["COPILOT_CLI", "COPILOT_HOOK", "COPILOT_LOADER", "COPILOT_PROJECT"],
    commandMarkers: ["COPILOT_CLI"],
    settingsVariables: [{ name: "COPILOT_HOME", meaning: "Copilot CLI's own folder (~/.copilot)" }],
    loadRuntime: async () => (await import("./copilot/index.ts")).copilot,
    loadSetup: async () => (await import("./copilot/setup/index.ts")).copilotSetup,
  },
  {
    id: "gemini",
    name: "Gemini CLI",
    forwarding: geminiForwarding,
    sessionVariables: ["GEMINI_"],
    commandMarkers: ["GEMINI_CLI"],
    settingsVariables: [{ name: "GEMINI_CLI_HOME", meaning: "the home folder that Gemini CLI uses (~)" }],
    loadRuntime: async () => (await import("./gemini/index.ts")).gemini,
    loadSetup: async () => (await import("./gemini/setup/index.ts")).geminiSetup,
  },
  {
    id: "qwen",
    name: "Qwen Code",
    forwarding: qwenForwarding,
    sessionVariables: ["QWEN_"],
    commandMarkers: ["QWEN_CODE_SESSION_ID"],
    settingsVariables: [],
    loadRuntime: async () => (await import("./qwen/index.ts")).qwen,
    loadSetup: async () => (await import("./qwen/setup/index.ts")).qwenSetup,
  },
  {
    id: "grok",
    name: "Grok Build",
    forwarding: grokForwarding,
    sessionVariables: ["GROK_HOOK", "GROK_SESSION", "GROK_WORKSPACE"],
    commandMarkers: ["GROK_SESSION_ID"],
    settingsVariables: [],
    loadRuntime: async () => (await import("./grok/index.ts")).grok,
    loadSetup: async () => (await import("./grok/setup/index.ts")).grokSetup,
  },
  {
    id: "kimi",
    name: "Kimi Code",
    forwarding: kimiForwarding,
    sessionVariables: [],
    commandMarkers: [],
    settingsVariables: [],
    loadRuntime: async () => (await import("./kimi/index.ts")).kimi,
    loadSetup: async () => (await import("./kimi/setup/index.ts")).kimiSetup,
  },
];

/** The agent of a hook that names none. */
export const defaultAgent = "claude";

export function findAgent(id: string, table: readonly Agent[] = agents): Agent | null {
  // A loop, not find(): the forwarder runs this, and the first call of find() takes up to 0.1 ms.
  for (const agent of table) if (agent.id === id) return agent;
  return null;
}

export type LoadedAgents = ReadonlyMap<string, AgentRuntime>;

export async function loadAgents(table: readonly Agent[] = agents): Promise<LoadedAgents> {
  return new Map(await Promise.all(table.map(async (row) => [row.id, await row.loadRuntime()] as const)));
}

/** Set by several agents. */
const commonMarkers = ["AI_AGENT"];

export function listVariables(table: readonly Agent[] = agents): AgentVariables {
  return {
    session: table.flatMap((agent) => agent.sessionVariables),
    settings: table.flatMap((agent) => agent.settingsVariables.map(({ name }) => name)),
    markers: [...commonMarkers, ...table.flatMap((agent) => agent.commandMarkers)],
  };
}
