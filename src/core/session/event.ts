/** AgentEvent: everything that happens to a session, in terms that belong to no particular agent. */

/**
 * When something happened. `at` is wall time, for display. `t` orders events: milliseconds since this machine's boot, on a
 * monotonic clock. Events of an earlier boot have a negative `t`.
 */
export interface Moment {
  readonly at: number;
  readonly t: number;
}

export type AskKind = "permission" | "question" | "plan" | "elicitation" | "idle";

/** Where the session's terminal is. The forwarder reports it, so every field is checked before use. */
export interface Place {
  /** The process runs on this machine and in our pid namespace, so we can see whether it is alive. */
  readonly local: boolean;
  readonly pid: number | null;
  /** The start time of the process in the system's unit (Linux: field 22 of /proc/PID/stat). */
  readonly procStart: string | null;
  readonly tty: string | null;
  readonly terminalSessionId: string | null;
  /** TERM_PROGRAM, TMUX, TMUX_PANE, WINDOWID, … as the agent saw them. */
  readonly env: Readonly<Record<string, string>>;
}

export interface BackgroundTask {
  readonly id: string;
  readonly type: string;
  readonly running: boolean;
  readonly description: string | null;
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** What the transcript adds to a session. Absent or null means unknown: the session keeps its value. */
export interface Enrichment {
  readonly model?: string | null;
  readonly tokens?: Tokens | null;
  readonly turnCount?: number | null;
  readonly gitBranch?: string | null;
  readonly title?: string | null;
  readonly lastResponse?: string | null;
}

/** What an agent's status file says it waits for. A dialog can also be one that the user opened. */
export type WaitingFor = "permission" | "question" | "dialog";

export type FileStatus = "idle" | "busy" | "waiting" | "shell";

/** How an event changes its session. `no-change` only updates cwd, place and the time of the last event. */
export type Change =
  | { readonly kind: "session-start"; readonly source: string; readonly model: string | null }
  | { readonly kind: "session-end"; readonly reason: string | null }
  | { readonly kind: "prompt"; readonly text: string; readonly byMachine: boolean }
  | {
      readonly kind: "tool-start";
      readonly tool: string;
      readonly toolUseId: string | null;
      /** Equal for equal inputs. Matches a permission request with its tool call. */
      readonly inputKey: string;
      readonly summary: string;
      readonly skill: string | null;
    }
  | {
      readonly kind: "tool-end";
      readonly tool: string;
      readonly toolUseId: string | null;
      readonly outcome: "ok" | "failed" | "denied";
      readonly skill: string | null;
    }
  | { readonly kind: "tool-batch-end" }
  | {
      readonly kind: "ask";
      readonly ask: Exclude<AskKind, "idle">;
      readonly tool: string | null;
      readonly inputKey: string | null;
      readonly summary: string;
      readonly options: readonly string[];
      /** How many questions it asks at once. Absent for one. */
      readonly questions?: number;
    }
  /** `request` is the id of the event that asked. Ask ids can change when a late event makes beckon reduce again. */
  | { readonly kind: "ask-answered"; readonly request: string }
  | { readonly kind: "elicitation-end"; readonly server: string | null }
  /** The agent's notification that it waits for the user. It names no tool and comes seconds late. */
  | { readonly kind: "reminder"; readonly ask: "permission" | "elicitation" | "idle"; readonly text: string }
  | {
      readonly kind: "turn-end";
      readonly error: string | null;
      readonly lastResponse: string | null;
      /** null if this version of the agent does not report it. */
      readonly background: readonly BackgroundTask[] | null;
    }
  | { readonly kind: "child-start"; readonly type: string }
  | { readonly kind: "child-end" }
  | { readonly kind: "compact-start" }
  | { readonly kind: "compact-end" }
  | { readonly kind: "setup" }
  /** The user interrupted the turn. Only the transcript shows it. */
  | { readonly kind: "interrupted" }
  | {
      readonly kind: "status";
      readonly status: FileStatus;
      /** null if the agent does not say. */
      readonly waitingFor: WaitingFor | null;
      readonly title: string | null;
    }
  | { readonly kind: "gone"; readonly why: "process" | "file" }
  | { readonly kind: "enriched"; readonly with: Enrichment }
  | { readonly kind: "no-change" };

export interface AgentEvent extends Moment {
  readonly id: string;
  readonly agent: string;
  readonly sessionId: string;
  /** The subagent it belongs to; null for the main thread. */
  readonly agentId: string | null;
  readonly agentType: string | null;
  /** The agent's name of the event, for the history. */
  readonly name: string;
  readonly promptId: string | null;
  readonly cwd: string | null;
  /** The project's name as the forwarder saw it. */
  readonly project: string | null;
  readonly transcriptPath: string | null;
  readonly place: Place | null;
  /** False if no user is in front of it (`-p`, SDK); null if unknown. */
  readonly attended: boolean | null;
  /** Equal for equal payloads. A hook that is registered twice sends two events that count once. */
  readonly payloadKey: string | null;
  readonly change: Change;
}

/** False for facts that beckon adds itself. They do not mean that the agent has just done something. */
export function isHookChange(change: Change): boolean {
  switch (change.kind) {
    case "status":
    case "gone":
    case "enriched":
    case "interrupted":
    case "ask-answered":
      return false;
    default:
      return true;
  }
}

/** The session an event belongs to, and what else is known about it. */
export type EventSubject = Pick<AgentEvent, "agent" | "sessionId"> & Partial<AgentEvent>;

/** Creates an event that no hook sent. */
export function createInternalEvent(
  id: string,
  when: Moment,
  about: EventSubject,
  change: Change,
): AgentEvent {
  return {
    agentId: null,
    agentType: null,
    name: change.kind,
    promptId: null,
    cwd: null,
    project: null,
    transcriptPath: null,
    place: null,
    attended: null,
    payloadKey: null,
    ...about,
    id,
    at: when.at,
    t: when.t,
    change,
  };
}

export function createSessionKey(agent: string, sessionId: string): string {
  return `${agent}:${sessionId}`;
}

/** The same process in a known terminal: nothing else about its place can have changed. */
export function isSamePlace(known: Place | null, reported: Place | null): boolean {
  if (known === null || reported === null) return known === reported;
  return known.pid === reported.pid && known.procStart === reported.procStart && known.tty !== null;
}

/** The current time on this machine, and what identifies its boot and pid namespace, as in `_meta`. */
export interface ClockReading extends Moment {
  readonly boot: string | null;
  /** Equal for processes that share a pid namespace. */
  readonly host: string | null;
}
