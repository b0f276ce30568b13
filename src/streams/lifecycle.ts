/** Makes LifecycleEvents of sessions, turns and skills. Pure. */
import type { LifecycleEvent } from "../core/lifecycle-event.ts";
import type { AgentEvent } from "../core/session/event.ts";
import type { Ask } from "../core/session/session.ts";

export interface LifecycleContext {
  /** The folder in which the session was started. null if unknown. */
  readonly projectPath: string | null;
  /** How many prompts the session has had. */
  readonly turnCount: number;
}

/** null if the event starts or ends neither a session, a turn nor a skill. */
export function createLifecycleEvent(
  event: AgentEvent,
  { projectPath, turnCount }: LifecycleContext,
): LifecycleEvent | null {
  const { change, cwd, agentId } = event;
  const common = {
    id: event.id,
    occurredAtIso: new Date(event.at).toISOString(),
    sessionId: event.sessionId,
    provider: event.agent,
    projectPath,
  };
  switch (change.kind) {
    case "session-start":
      if (change.source === "compact") return null;
      return { ...common, eventType: "session.lifecycle", phase: "started", cwd };
    case "session-end":
      return { ...common, eventType: "session.lifecycle", phase: "ended", cwd };
    case "prompt":
      return { ...common, eventType: "turn.start", cwd, prompt: change.text };
    case "turn-end":
      if (agentId !== null) return null;
      return { ...common, eventType: "turn.end", cwd, transcriptPath: event.transcriptPath };
    case "tool-start":
    case "tool-end":
      if (!change.skill) return null;
      return {
        ...common,
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

export function createWaitingEvent(
  id: string,
  {
    agent,
    sessionId,
    cwd,
  }: { readonly agent: string; readonly sessionId: string; readonly cwd: string | null },
  { kind, at }: Pick<Ask, "kind" | "at">,
  projectPath: string | null,
): LifecycleEvent {
  return {
    id,
    eventType: "session.lifecycle",
    phase: kind === "permission" || kind === "plan" ? "waiting_permission" : "waiting_question",
    occurredAtIso: new Date(at).toISOString(),
    sessionId,
    provider: agent,
    projectPath,
    cwd,
  };
}
