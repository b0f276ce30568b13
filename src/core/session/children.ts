/** Subagents: they appear, work, ask and end; their asks end with them. */

import { limits } from "../limits.ts";
import { timing } from "../timing.ts";
import { endThreadAsks } from "./asks.ts";
import type { AgentEvent, BackgroundTask, Moment } from "./event.ts";
import type { Child, Session } from "./session.ts";

export function isChildRunning(session: Session, agentId: string): boolean {
  return session.children.some((child) => child.agentId === agentId && child.running);
}

/** An event of the child: it is there and runs. `detail` null: thinking; undefined: as it was. */
export function upsertChild(session: Session, event: AgentEvent, detail?: string | null): Session {
  const { agentId } = event;
  if (agentId === null) return session;
  const known = session.children.find((child) => child.agentId === agentId);
  if (!known) {
    const child: Child = {
      agentId,
      type: event.agentType ?? "",
      running: true,
      detail: detail ?? null,
      startedAt: event.at,
      at: event.at,
      t: event.t,
    };
    return withChildren(session, [...session.children, child]);
  }
  if (!known.running && event.change.kind !== "child-start" && event.t - known.t < timing.trailingMs)
    return session;
  return replace(session, known, {
    ...known,
    type: event.agentType ?? known.type,
    running: true,
    detail: detail === undefined ? known.detail : detail,
    at: event.at,
    t: event.t,
  });
}

export function endChild(session: Session, agentId: string, when: Moment): Session {
  const closed = endThreadAsks(session, agentId);
  const tools = closed.tools.filter((call) => call.agentId !== agentId);
  const known = closed.children.find((child) => child.agentId === agentId);
  // /compact ends a child that never started.
  if (!known) return { ...closed, tools };
  return replace({ ...closed, tools }, known, {
    ...known,
    running: false,
    detail: null,
    at: when.at,
    t: when.t,
  });
}

/** What the end of a turn says of the background: names children not known yet, never revives one that ended. */
export function reconcileChildren(
  session: Session,
  background: readonly BackgroundTask[],
  when: Moment,
): Session {
  const running = background.filter((task) => task.running);
  const agents = running.filter((task) => task.type === "subagent");
  const shell = running.find((task) => task.type !== "subagent");
  let next: Session = { ...session, background: shell ? (shell.description ?? shell.type) : null };
  for (const child of session.children) {
    if (child.running && !agents.some((task) => task.id === child.agentId)) {
      next = endChild(next, child.agentId, when);
    }
  }
  const fresh = agents.filter((task) => !session.children.some((child) => child.agentId === task.id));
  return withChildren(next, [
    ...next.children,
    ...fresh.map((task) => ({
      agentId: task.id,
      type: task.description ?? "",
      running: true,
      detail: null,
      startedAt: when.at,
      at: when.at,
      t: when.t,
    })),
  ]);
}

function replace(session: Session, old: Child, next: Child): Session {
  return { ...session, children: session.children.map((child) => (child === old ? next : child)) };
}

/** Children that ended make room first. */
function withChildren(session: Session, children: readonly Child[]): Session {
  if (children.length <= limits.maxChildren) return { ...session, children };
  const oldest = children.find((child) => !child.running) ?? children[0];
  const rest = children.filter((child) => child !== oldest);
  return withChildren(endThreadAsks({ ...session, children: rest }, oldest?.agentId ?? ""), rest);
}
