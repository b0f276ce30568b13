/**
 * The source of events that no hook sends: each agent's own watcher, and processes that ended without an event (kill -9).
 * What knows an agent is in that agent's folder.
 */
import type {
  AgentProgram,
  AgentWatcher,
  FileHook,
  PromptSupport,
  WatchContext,
  WatchedRequest,
} from "../agents/agent.ts";
import type { LoadedAgents } from "../agents/index.ts";
import type { Source } from "../core/interfaces/index.ts";
import { createInternalEvent } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import type { ProcessInfo } from "../core/terminals/plan.ts";
import { findDeadSessions, hasProcess, isAlive } from "../system/processes.ts";
import { scheduleTogether } from "../system/schedule.ts";
import { createUnseenProcesses } from "./unseen-processes.ts";

export interface WatchSource extends Source {
  /** Why the session's terminal is not known; null if its place is right. */
  locate(session: Session): Promise<string | null>;
  /** null if the agent takes no prompt from outside. */
  prompts(agent: string): PromptSupport | null;
}

export interface WatchOptions
  extends Omit<WatchContext, "findSession" | "findProgram" | "addPendingRequest" | "report"> {
  readonly agents: LoadedAgents;
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly findProgram: (agent: string) => Promise<AgentProgram | null>;
  readonly addPendingRequest: (agent: string, request: WatchedRequest) => () => void;
  readonly report: (agent: string, hook: FileHook) => void;
  /** null where hooks see the processes themselves. */
  readonly readLineage: ((pid: number) => Promise<readonly ProcessInfo[]>) | null;
}

const checkMs = 1_000;
/** Only every so many checks ask whether a process is a zombie, or another one that got the same pid. */
const thoroughEvery = 5;
/** Only every so many checks look at start times where that takes a program. */
const lineageEvery = 60;
let count = 0;

export function watchAgents({
  agents,
  sessions,
  get,
  findProgram,
  addPendingRequest,
  report,
  readLineage,
  ...context
}: WatchOptions): WatchSource {
  const { clock, dispatch, onError } = context;
  let checks = 0;
  const unseen = readLineage && createUnseenProcesses({ readLineage, dispatch, clock, get });
  const watchers = new Map<string, AgentWatcher>();
  for (const [id, agent] of agents) {
    const watcher = agent.watch({
      ...context,
      findSession: (sessionId) => get({ agent: id, sessionId }),
      findProgram: () => findProgram(id),
      addPendingRequest: (request) => addPendingRequest(id, request),
      report: (hook) => report(id, hook),
    });
    if (watcher) watchers.set(id, watcher);
  }

  function endDead(all: readonly Session[], isRunning = isAlive): void {
    endGone(findDeadSessions(all, isRunning));
  }

  function endGone(gone: readonly Session[]): void {
    for (const session of gone) {
      const { agent, sessionId } = session;
      if (watchers.get(agent)?.continuesElsewhere(session)) continue;
      const now = clock();
      const id = `process-${++count}-${now.t}`;
      dispatch(createInternalEvent(id, now, { agent, sessionId }, { kind: "gone", why: "process" }));
    }
  }

  function forEachWatcher(
    all: readonly Session[],
    run: (watcher: AgentWatcher, own: readonly Session[]) => void,
  ): void {
    for (const [id, watcher] of watchers) {
      run(
        watcher,
        all.filter(({ agent }) => agent === id),
      );
    }
  }

  function check(): void {
    try {
      const all = sessions();
      endDead(all, ++checks % thoroughEvery === 0 ? isAlive : hasProcess);
      if (checks % lineageEvery === 0) unseen?.findReused(all).then(endGone, onLookError);
      forEachWatcher(all, (watcher, own) => watcher.check(own));
    } catch (error) {
      onError(`could not check the sessions' processes and files: ${error}`);
    }
  }

  const onLookError = (error: unknown) => onError(`could not look at the sessions' processes: ${error}`);

  function checkLater(): () => void {
    return scheduleTogether(() => {
      cancelCheck = checkLater();
      check();
    }, checkMs);
  }
  let cancelCheck = checkLater();

  return {
    name: "agents",
    start() {
      forEachWatcher(sessions(), (watcher, own) => watcher.scan(own));
      endDead(sessions());
      unseen?.findReused(sessions()).then(endGone, onLookError);
    },
    locate: async (session) => (await watchers.get(session.agent)?.locate?.(session)) ?? null,
    prompts: (agent) => watchers.get(agent)?.prompts ?? null,
    onChange({ session, event }) {
      unseen?.follow(session, event).catch(onLookError);
      watchers.get(session.agent)?.follow(session, event);
    },
    stop() {
      cancelCheck();
      for (const watcher of watchers.values()) watcher.stop();
    },
  };
}
