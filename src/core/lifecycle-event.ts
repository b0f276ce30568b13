/** LifecycleEvent: a line of the shared stream that other tools read. Its names stay as they are. */
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
