/** Watches what Codex's hooks do not report: its rollout files, and the shared server that runs most sessions. */
import {
  type Change,
  createInternalEvent,
  type EventSubject,
  isHookChange,
  type Moment,
} from "../../../core/session/event.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { agentId } from "../translate.ts";
import { isExpectingRows, watchRollouts } from "./rollouts.ts";
import { watchServer } from "./server.ts";

let count = 0;

export function watchCodex(context: WatchContext): AgentWatcher {
  const { clock, dispatch, findSession, onError } = context;
  let isStopped = false;

  /** Timers and file watchers call this: nobody else would catch an error. */
  function emit(
    subject: Partial<EventSubject> & { readonly sessionId: string },
    when: Moment,
    change: Change,
  ): string {
    const id = `codex-${++count}-${when.t}`;
    if (isStopped) return id;
    // What beckon itself finds out is never older than the last event: it would be dropped.
    const newest = findSession(subject.sessionId)?.newest ?? when.t;
    const moment = { at: when.at, t: Math.max(when.t, newest) };
    try {
      dispatch(createInternalEvent(id, moment, { ...subject, agent: agentId }, change));
    } catch (error) {
      onError(`could not apply ${change.kind} to ${subject.sessionId}: ${error}`);
    }
    return id;
  }

  const rollouts = watchRollouts({ ...context, emit });
  const server = watchServer({ ...context, emit, rollouts });

  return {
    scan(sessions) {
      for (const session of sessions) if (!session.ended) rollouts.read(session);
      server.check(sessions);
    },
    check(sessions) {
      const now = clock();
      for (const session of sessions) if (isExpectingRows(session, now)) rollouts.read(session);
      server.check(sessions);
    },
    follow(session, event) {
      if (event.change.kind === "enriched" || session.ended) return;
      // A hook from a terminal: the session runs there now, and the server's last status is not about it.
      if (session.file !== null && event.place !== null && isHookChange(event.change))
        emit({ sessionId: session.sessionId }, clock(), { kind: "status-lost" });
      rollouts.read(session);
    },
    continuesElsewhere({ sessionId }) {
      // Its terminal was closed: the server keeps the session, and what it asks.
      if (server.runs(sessionId)) emit({ sessionId }, clock(), { kind: "located", place: null });
      return server.runs(sessionId);
    },
    locate: ({ sessionId }) => server.locate(sessionId),
    stop() {
      isStopped = true;
      rollouts.stop();
      server.stop();
    },
  };
}
