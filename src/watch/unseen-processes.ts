/**
 * The agents' processes on systems where a hook cannot look around quickly (macOS, Windows). A hook says who started it, and
 * the agent is found among that process and its parents while the hook still runs. A process that is younger than what its
 * session did last is another one, which got the same pid.
 */

import { forgetOldest } from "../core/forget-oldest.ts";
import { type AgentEvent, createInternalEvent } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { ProcessInfo } from "../core/terminals/plan.ts";
import { isAgentProcess } from "../system/process-stat.ts";

export interface UnseenProcessOptions {
  /** The process and its parents, nearest first; empty if it has ended. */
  readonly readLineage: (pid: number) => Promise<readonly ProcessInfo[]>;
  readonly dispatch: (event: AgentEvent) => void;
  readonly clock: () => { readonly at: number; readonly t: number };
  readonly get: (session: Session) => Session | null;
}

export interface UnseenProcesses {
  /** Finds the process of the agent that sent this event, unless it is known. */
  follow(session: Session, event: AgentEvent): Promise<void>;
  /** The sessions whose pid belongs to another process by now. */
  findReused(sessions: readonly Session[]): Promise<readonly Session[]>;
}

/** Start times are in whole seconds on macOS. */
const slackMs = 2_000;
const maxRemembered = 500;
let count = 0;

export function createUnseenProcesses(options: UnseenProcessOptions): UnseenProcesses {
  /** By session, the parent whose agent was looked for last. A shell in between differs at every hook. */
  const looked = new Map<string, number>();
  return {
    async follow(session, { place: reported }) {
      const parent = reported?.hookParent;
      if (parent === undefined || !reported?.local) return;
      const key = sessionKeyOf(session);
      if (looked.get(key) === parent) return;
      looked.set(key, parent);
      forgetOldest(looked, maxRemembered);
      const lineage = await options.readLineage(parent);
      const found = lineage.find(({ name }) => isAgentProcess(session.agent, name));
      const place = options.get(session)?.place;
      if (!found || !place || place.pid === found.pid) return;
      const now = options.clock();
      const { agent, sessionId } = session;
      const { hookParent: _, ...rest } = place;
      const located = { ...rest, pid: found.pid, procStart: null, tty: found.tty ?? place.tty };
      const id = `located-${++count}-${now.t}`;
      options.dispatch(
        createInternalEvent(id, now, { agent, sessionId }, { kind: "located", place: located }),
      );
    },
    async findReused(sessions) {
      const reused: Session[] = [];
      for (const session of sessions) {
        const { ended, place, last } = session;
        if (ended || !place?.local || place.pid === null) continue;
        const startedAt = (await options.readLineage(place.pid))[0]?.startedAt ?? 0;
        if (startedAt > last.at + slackMs) reused.push(session);
      }
      return reused;
    },
  };
}
