/** What a transition is in the event stream. Pure. What time alone changes, the stream finds by comparing views of sessions. */
import type { SessionChange, Transition } from "../core/interfaces/index.ts";
import type { RuntimeAgent, StreamMessage } from "../core/interfaces/wire.ts";
import { type Child, nameOfChild, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { createAskView } from "../core/view/session-view.ts";
import { createAgentId, nameWorkspace } from "./normalized-event.ts";

/** What becomes an "agent-update": only clients that are connected get it. */
export const isUpdate = (transition: Transition): boolean =>
  transition.kind === "span" && transition.before !== null && transition.state !== null;

/** null if the stream has nothing for it. A client must not miss any of them while it is away, except "agent-update". */
export function createStreamMessage(transition: Transition): StreamMessage | null {
  switch (transition.kind) {
    case "ask-opened": {
      const { session, ask } = transition;
      return { event: "ask-opened", data: { key: sessionKeyOf(session), ask: createAskView(ask) } };
    }
    case "ask-ended": {
      const { session, ask, how, where, waitedMs } = transition;
      const key = sessionKeyOf(session);
      return { event: "ask-closed", data: { key, ask: createAskView(ask), how, where, waitedMs } };
    }
    case "span": {
      const { session, before, state } = transition;
      if (before === null) return { event: "agent-appeared", data: describeAgent(session, null) };
      if (state === null) return createDeparture(session, null);
      return { event: "agent-update", data: describeAgent(session, null) };
    }
    case "child-appeared":
      return { event: "agent-appeared", data: describeAgent(transition.session, transition.child) };
    case "child-ended":
      return createDeparture(transition.session, transition.child);
    case "session-event":
      return { event: "session.event", data: transition.event };
    case "departed":
      return { event: "session-departed", data: { key: transition.key } };
    default:
      return null;
  }
}

/** Subagents that go on and report something else. */
export function createChildUpdates({ session, before }: SessionChange): StreamMessage[] {
  if (session.children === before?.children) return [];
  return session.children.flatMap((child): StreamMessage[] => {
    const old = before?.children.find(({ agentId }) => agentId === child.agentId);
    const isUpdate = old?.running && child.running && old.detail !== child.detail;
    return isUpdate ? [{ event: "agent-update", data: describeAgent(session, child) }] : [];
  });
}

const createDeparture = (session: Session, child: Child | null): StreamMessage => ({
  event: "agent-departed",
  data: { ...describeAgent(session, child), state: "ended" },
});

/** `child` is null for the main agent of the session. */
function describeAgent(session: Session, child: Child | null): RuntimeAgent {
  const workspace = nameWorkspace(session);
  const agent_id = createAgentId(child?.team ?? workspace, child ? (child.name ?? child.agentId) : null);
  return {
    key: sessionKeyOf(session),
    agent_id,
    name: child ? nameOfChild(child) : workspace,
    employment_type: "contractor",
    source: "runtime_agent",
    avatar_seed: Bun.hash.crc32(agent_id),
    state: (child ? child.running : !session.ended) ? "running" : "ended",
    detail: child ? child.detail : session.detail,
  };
}
