/** What any agent can tell us, in words that belong to no agent. Everything that happens becomes one of these. */

/**
 * When something happened. `at` is the wall clock (for people). `t` orders events: milliseconds since this
 * machine's boot on a clock that nobody can set; events of an earlier boot have a negative `t`.
 */
export interface Moment {
  readonly at: number;
  readonly t: number;
}

export type AskKind = "permission" | "question" | "plan" | "elicitation" | "idle";

/** Where the session's terminal is. Every field is a claim of the forwarder: checked by shape before use. */
export interface Place {
  /** The process is one of this machine's and of our own pid namespace: we can see whether it lives. */
  readonly local: boolean;
  readonly pid: number | null;
  /** The process's start time in the system's own unit (Linux: field 22 of /proc/PID/stat). */
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

/** What a session's own record (the transcript) adds; absent or null: not known, leave as it is. */
export interface Enrichment {
  readonly model?: string | null;
  readonly tokens?: Tokens | null;
  readonly turnCount?: number | null;
  readonly gitBranch?: string | null;
  readonly title?: string | null;
  readonly lastResponse?: string | null;
}

export type FileStatus = "idle" | "busy" | "waiting" | "shell";

/** The change an event makes. `note` makes none: it is kept for what it tells (cwd, place), never an error. */
export type Change =
  | { readonly kind: "session-start"; readonly source: string; readonly model: string | null }
  | { readonly kind: "session-end"; readonly reason: string | null }
  | { readonly kind: "prompt"; readonly text: string; readonly byMachine: boolean }
  | {
      readonly kind: "tool-start";
      readonly tool: string;
      readonly toolUseId: string | null;
      /** Equal for equal inputs: binds a permission request to its tool call. */
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
      /** How many it asks at once, where more than one question. */
      readonly questions?: number;
    }
  /** By the event that asked: told anew with an event that came late, the same dialog may be counted otherwise. */
  | { readonly kind: "ask-answered"; readonly request: string }
  | { readonly kind: "elicitation-end"; readonly server: string | null }
  /** The agent's own reminder that somebody is waited for: it names no tool and comes late. */
  | { readonly kind: "reminder"; readonly ask: "permission" | "elicitation" | "idle"; readonly text: string }
  | {
      readonly kind: "turn-end";
      readonly error: string | null;
      readonly lastResponse: string | null;
      /** null: this version of the agent does not tell. */
      readonly background: readonly BackgroundTask[] | null;
    }
  | { readonly kind: "child-start"; readonly type: string }
  | { readonly kind: "child-end" }
  | { readonly kind: "compact-start" }
  | { readonly kind: "compact-end" }
  | { readonly kind: "setup" }
  /** The person broke the turn off; only the transcript tells. */
  | { readonly kind: "interrupted" }
  | {
      readonly kind: "status";
      readonly status: FileStatus;
      readonly waitingFor: string | null;
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
  /** The agent's own name of the event, for the history. */
  readonly name: string;
  readonly promptId: string | null;
  readonly cwd: string | null;
  /** The project's name as the forwarder saw it. */
  readonly project: string | null;
  readonly transcriptPath: string | null;
  readonly place: Place | null;
  /** false: no person sits in front of it (`-p`, SDK). null: not told. */
  readonly attended: boolean | null;
  /** Equal for equal payloads: the same hook registered twice sends two events that count once. */
  readonly payloadKey: string | null;
  readonly change: Change;
}

/** What hooks and files are not: facts that beckon itself adds, which say nothing about when the agent last moved. */
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

/** Whose event it is, and what else is known about it. */
export type EventSubject = Pick<AgentEvent, "agent" | "sessionId"> & Partial<AgentEvent>;

/** An event that no hook sent. */
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

/** The same process in a terminal that we know: the rest of its place cannot have changed. */
export function isSamePlace(known: Place | null, told: Place | null): boolean {
  if (known === null || told === null) return known === told;
  return known.pid === told.pid && known.procStart === told.procStart && known.tty !== null;
}

/** This machine now, in the terms of `_meta`. */
export interface ClockReading extends Moment {
  readonly boot: string | null;
  /** Equal for processes that see each other's pids. */
  readonly host: string | null;
}
