/** The sources: the spool first, for what happened while beckon was not running; then what the agents' files say now. */
import type { AgentEvent } from "../core/session/event.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { maskText } from "../secrets/index.ts";
import { readInstallRecord } from "../setup/install-record.ts";
import { ofOwnSessions } from "../state/followers.ts";
import { exec } from "../system/exec.ts";
import { type WatchSource, watchAgents } from "../watch/index.ts";
import type { Base } from "./base.ts";
import type { Desktop } from "./desktop.ts";
import type { Sinks } from "./sinks.ts";
import type { AppState } from "./state.ts";

export interface Sources {
  readonly locate: WatchSource["locate"];
  readonly prompts: WatchSource["prompts"];
  /** Resolves when everything that happened before the start has been dispatched. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createSources(
  { agents, env, paths, clock, onError }: Base,
  { store, spool, followers, sessionsNow, prune, accept }: AppState,
  { terminals }: Desktop,
  { answers, renderLoop }: Sinks,
): Sources {
  /** What the agents' files say about sessions whose older events are still in the spool. */
  const newer: AgentEvent[] = [];
  let isStopping = false;
  const watch = watchAgents({
    agents,
    env,
    clock,
    sessions: () =>
      sessionsNow().filter((session) => session.machine === null && spool.isCaughtUp(sessionKeyOf(session))),
    get: store.get,
    dispatch(event) {
      if (spool.isCaughtUp(sessionKeyOf(event))) store.dispatch(event);
      else newer.push(event);
    },
    mask: maskText,
    onError,
    exec,
    listWindows: terminals.listWindows,
    readLineage: process.platform === "linux" ? null : terminals.readLineage,
    addPendingRequest: answers.pending.addWatched,
    report(provider, { payload, ...meta }) {
      accept(JSON.stringify({ provider, _meta: meta, payload })).catch(onError);
    },
    findProgram: async (agent) => readInstallRecord(paths)?.programs[agent] ?? null,
  });
  followers.add(ofOwnSessions(watch));
  return {
    locate: watch.locate,
    prompts: watch.prompts,
    async start() {
      await spool.start();
      for (const event of newer.splice(0)) store.dispatch(event);
      if (isStopping) return;
      await watch.start();
      prune();
      renderLoop.refresh();
    },
    async stop() {
      isStopping = true;
      await spool.stop();
      await watch.stop();
    },
  };
}
