/** The table of agents: one row each. It stays light, because the forwarder reads it: the rest of an agent loads when needed. */
import type { Agent, AgentRuntime } from "./agent.ts";

export const agents: readonly Agent[] = [
  {
    id: "claude",
    name: "Claude Code",
    loadRuntime: async () => (await import("./claude/index.ts")).claude,
  },
];

/** The agent of a hook that names none. */
export const defaultAgent = "claude";

export type LoadedAgents = ReadonlyMap<string, AgentRuntime>;

export async function loadAgents(table: readonly Agent[] = agents): Promise<LoadedAgents> {
  return new Map(await Promise.all(table.map(async (row) => [row.id, await row.loadRuntime()] as const)));
}
