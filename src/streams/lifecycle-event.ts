/** LifecycleEvent: a line of the shared stream that other tools read, about a session, a turn or a skill. Pure. */
import type { AgentEvent } from "../core/session/event.ts";
import type { Ask, Session } from "../core/session/session.ts";

/** Field names are public: do not rename. */
export interface LifecycleEvent {
  readonly id: string;
  readonly eventType: "session.lifecycle" | "turn.start" | "turn.end" | "skill.lifecycle";
  readonly phase?:
    | "started"
    | "ended"
    | "waiting_permission"
    | "waiting_question"
    | "in_progress"
    | "completed";
  readonly occurredAtIso: string;
  readonly sessionId: string;
  readonly provider: string;
  readonly projectPath: string | null;
  readonly cwd?: string | null;
  readonly prompt?: string;
  readonly transcriptPath?: string | null;
  readonly skillName?: string;
  readonly triggerCommand?: string;
  readonly turnSeq?: number | null;
  readonly targetDocPath?: string | null;
}

export interface LifecycleContext {
  /** The folder in which the session was started. null if unknown. */
  readonly projectPath: string | null;
  /** How many prompts the session has had. */
  readonly turnCount: number;
}

interface OpenedAsk {
  readonly id: string;
  readonly session: Pick<Session, "agent" | "sessionId" | "cwd">;
  readonly ask: Pick<Ask, "kind" | "at">;
}

/** null unless the event starts or ends a session, a turn or a skill, or reminds the user that the session is idle. */
export function createLifecycleEvent(
  event: AgentEvent,
  { projectPath, turnCount }: LifecycleContext,
): LifecycleEvent | null {
  const { change, cwd, agentId } = event;
  // Most events are none of these: for them, nothing is made.
  const createCommon = () => ({
    id: event.id,
    occurredAtIso: new Date(event.at).toISOString(),
    sessionId: event.sessionId,
    provider: event.agent,
    projectPath,
  });
  switch (change.kind) {
    case "session-start":
      if (change.source === "compact") return null;
      return { ...createCommon(), eventType: "session.lifecycle", phase: "started", cwd };
    case "session-end":
      return { ...createCommon(), eventType: "session.lifecycle", phase: "ended", cwd };
    case "prompt":
      return { ...createCommon(), eventType: "turn.start", cwd, prompt: change.text };
    case "turn-end":
      if (agentId !== null) return null;
      return { ...createCommon(), eventType: "turn.end", cwd, transcriptPath: event.transcriptPath };
    case "reminder":
      // A reminder of a dialog opens an ask, which has a line of its own.
      if (change.ask !== "idle") return null;
      return { ...createCommon(), eventType: "session.lifecycle", phase: "waiting_question", cwd };
    case "tool-start":
    case "tool-end":
      if (!change.skill) return null;
      return {
        ...createCommon(),
        eventType: "skill.lifecycle",
        phase: change.kind === "tool-start" ? "in_progress" : "completed",
        skillName: change.skill.name,
        triggerCommand: change.skill.triggerCommand,
        turnSeq: turnCount,
        targetDocPath: change.skill.targetDocPath,
      };
    default:
      return null;
  }
}

/** `projectPath` is null if unknown. */
export function createWaitingEvent(
  { id, session, ask }: OpenedAsk,
  projectPath: string | null,
): LifecycleEvent {
  const { agent, sessionId, cwd } = session;
  const isPermission = ask.kind === "permission" || ask.kind === "plan";
  return {
    id,
    eventType: "session.lifecycle",
    phase: isPermission ? "waiting_permission" : "waiting_question",
    occurredAtIso: new Date(ask.at).toISOString(),
    sessionId,
    provider: agent,
    projectPath,
    cwd,
  };
}
