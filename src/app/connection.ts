/** Which agents beckon asks the user to connect: none once any agent is registered or has sent an event. */
import type { Agent } from "../agents/agent.ts";
import type { LoadedAgents } from "../agents/index.ts";
import type { Sink } from "../core/interfaces/index.ts";
import { isHookChange } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import type { Env } from "../system/folders.ts";

export interface ConnectionOptions {
  readonly table: readonly Agent[];
  readonly agents: LoadedAgents;
  readonly env: Env;
  /** The sessions that beckon knew when it started. */
  readonly sessions: readonly Session[];
}

export interface Connection extends Sink {
  /** The agents on this machine, or the first of the table. Empty if beckon is connected. */
  unconnected(): readonly Pick<Agent, "id" | "name">[];
}

export function createConnection({ table, agents, env, sessions }: ConnectionOptions): Connection {
  const checks = [...agents.values()].map((agent) => agent.createRegistrationCheck(env));
  let hasHookEvents = sessions.some((session) => session.prompted !== null);
  return {
    name: "connection",
    onChange({ event }) {
      hasHookEvents ||= isHookChange(event.change) && !isProbe(event);
    },
    unconnected() {
      if (hasHookEvents || checks.some((isRegistered) => isRegistered())) return [];
      const present = table.filter(({ id }) => agents.get(id)?.isPresent(env));
      return present.length > 0 ? present : table.slice(0, 1);
    },
  };
}
