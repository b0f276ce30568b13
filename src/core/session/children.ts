/** Subagents: how they appear, work and end. Their asks end with them. */

import { limits } from "../limits.ts";
import { timing } from "../timing.ts";
import { endThreadAsks } from "./asks.ts";
import type { AgentEvent, BackgroundTask, ChildEnrichment, Moment } from "./event.ts";
import type { Child, Session } from "./session.ts";

export function isChildRunning(session: Session, agentId: string): boolean {
  return session.children.some((child) => child.agentId === agentId && child.running);
}

/** An event of a child means that it exists and runs. `detail` is null while it thinks; undefined keeps the old one. */
export function upsertChild(session: Session, event: AgentEvent, detail?: string | null): Session {
  const { agentId } = event;
  if (agentId === null) return session;
  const { change } = event;
  const team = change.kind === "child-start" && change.team !== undefined ? { team: change.team } : {};
  const known = session.children.find((child) => child.agentId === agentId);
  if (!known) {
    const child: Child = {
      agentId,
      type: event.agentType ?? "",
      name: event.agentName ?? null,
      ...team,
      ...unread,
      running: true,
      detail: detail ?? null,
      startedAt: event.at,
      at: event.at,
      t: event.t,
    };
    return withChildren(session, [...session.children, child]);
  }
  if (!known.running && change.kind !== "child-start" && event.t - known.t < timing.trailingMs)
    return session;
  return replaceChild(session, known, {
    ...known,
    type: event.agentType ?? known.type,
    name: event.agentName ?? known.name,
    ...team,
    running: true,
    detail: detail === undefined ? known.detail : detail,
    at: event.at,
    t: event.t,
  });
}

export function endChild(
  session: Session,
  agentId: string,
  when: Moment,
  transcriptPath: string | null = null,
): Session {
  const closed = endThreadAsks(session, agentId);
  const tools = closed.tools.filter((call) => call.agentId !== agentId);
  const known = closed.children.find((child) => child.agentId === agentId);
  // /compact sends the end of a child that never started.
  if (!known) return { ...closed, tools };
  return replaceChild({ ...closed, tools }, known, {
    ...known,
    running: false,
    detail: null,
    transcriptPath: transcriptPath ?? known.transcriptPath,
    at: when.at,
    t: when.t,
  });
}

/** Adds what the transcripts say about children. Those that no hook has reported are not added. */
export function enrichChildren(session: Session, enrichments: readonly ChildEnrichment[]): Session {
  const byId = new Map(enrichments.map((child) => [child.agentId, child]));
  if (!session.children.some(({ agentId }) => byId.has(agentId))) return session;
  const children = session.children.map((child) => {
    const {
      model = null,
      usage = null,
      context = null,
      transcriptPath = null,
    } = byId.get(child.agentId) ?? {};
    return {
      ...child,
      model: model ?? child.model,
      usage: usage ?? child.usage,
      context: context ?? child.context,
      transcriptPath: transcriptPath ?? child.transcriptPath,
    };
  });
  return { ...session, children };
}

/** What only a child's transcript knows. */
const unread = { model: null, usage: null, context: null, transcriptPath: null } as const;

/** Applies the background tasks that the end of a turn reports. Adds unknown children, never revives one that has ended. */
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
  const unknown = agents.filter((task) => !session.children.some((child) => child.agentId === task.id));
  return withChildren(next, [
    ...next.children,
    ...unknown.map((task) => ({
      agentId: task.id,
      type: task.description ?? "",
      name: null,
      ...unread,
      running: true,
      detail: null,
      startedAt: when.at,
      at: when.at,
      t: when.t,
    })),
  ]);
}

function replaceChild(session: Session, old: Child, next: Child): Session {
  return { ...session, children: session.children.map((child) => (child === old ? next : child)) };
}

/** Drops ended children first if there are too many. */
function withChildren(session: Session, children: readonly Child[]): Session {
  if (children.length <= limits.maxChildren) return { ...session, children };
  const oldest = children.find((child) => !child.running) ?? children[0];
  const rest = children.filter((child) => child !== oldest);
  return withChildren(endThreadAsks({ ...session, children: rest }, oldest?.agentId ?? ""), rest);
}
