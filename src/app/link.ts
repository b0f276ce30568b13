/** What machines that are linked to this one get and ask for (src/machines/publisher.ts), loaded when the first one comes. */
import type { Publisher, PublisherOptions } from "../machines/publisher.ts";
import { schedule } from "../system/schedule.ts";
import type { Base } from "./base.ts";
import type { Desktop } from "./desktop.ts";
import type { Navigation } from "./navigation.ts";
import type { AppPrompts } from "./prompts.ts";
import type { Sinks } from "./sinks.ts";
import type { AppState } from "./state.ts";

export interface LinkServer {
  connect(id: string, signal: AbortSignal): Promise<Response>;
  take(id: string, line: string): Promise<string | null>;
  stop(): void;
}

/** What other machines learn about this one, and what they can ask of it: by a link or in a fleet. */
export function createOwnerOptions(
  base: Base,
  state: AppState,
  desktop: Pick<Desktop, "terminals">,
  sinks: Sinks,
  navigation: Navigation,
  prompts: Pick<AppPrompts, "sendFor">,
): PublisherOptions {
  const registrations = [...base.agents].map(([id, agent]) => ({
    id,
    isRegistered: agent.createRegistrationCheck(base.env),
  }));
  return {
    machineId: base.machineId(),
    findPast: sinks.history.findPast,
    agents: () => registrations.filter(({ isRegistered }) => isRegistered()).map(({ id }) => id),
    hasChannels: () => sinks.channels.report().some(({ problem }) => problem === null),
    clock: base.clock,
    sessions: () => state.sessionsNow().filter(({ machine }) => machine === null),
    get: state.store.get,
    pending: sinks.answers.pending,
    send: prompts.sendFor,
    focus: navigation.focus,
    findLogins: async ({ place, cwd, title }) =>
      place ? desktop.terminals.findLogins({ place, cwd, title }) : [],
    schedule,
    onProblem: base.onProblem,
  };
}

export function createLinkServer(
  { followers }: Pick<AppState, "followers">,
  { filesAcrossMachines }: Pick<Sinks, "filesAcrossMachines">,
  createOwner: () => PublisherOptions,
): LinkServer {
  let loading: Promise<Publisher> | null = null;
  let loaded: Publisher | null = null;

  async function load(): Promise<Publisher> {
    const { createPublisher } = await import("../machines/publisher.ts");
    const publisher = createPublisher(createOwner());
    followers.addFirst(publisher);
    filesAcrossMachines.start();
    loaded = publisher;
    return publisher;
  }

  return {
    async connect(id, signal) {
      loading ??= load();
      return (await loading).connect(id, signal);
    },
    take: async (id, line) => (loading ? (await loading).take(id, line) : "no link is open"),
    stop: () => loaded?.stop(),
  };
}
