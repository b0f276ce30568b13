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
  /** What started the hook, if the agent's own process is still to be found (watch/unseen-processes.ts). */
  readonly hookParent?: number;
}

export interface BackgroundTask {
  readonly id: string;
  readonly type: string;
  readonly running: boolean;
  readonly description: string | null;
}

/** Four parts that do not overlap. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface Usage {
  readonly tokens: Tokens;
  /** Millionths of a dollar at list price, an integer. null if the price of any model is unknown. */
  readonly costMicros: number | null;
}

/** How full the model's context is, in tokens. */
export interface ContextUse {
  readonly used: number;
  /** null if unknown. */
  readonly window: number | null;
}

/** How much of a quota is used. */
export interface QuotaUse {
  readonly usedPercent: number;
  /** Wall time in milliseconds. null if unknown. */
  readonly resetsAt: number | null;
}

/** The quotas of the user's subscription. Those that are unknown are null. */
export interface RateLimits {
  readonly fiveHour: QuotaUse | null;
  readonly sevenDay: QuotaUse | null;
}

/** What the transcripts add to a subagent. */
export interface ChildEnrichment {
  readonly agentId: string;
  readonly model: string | null;
  readonly usage: Usage | null;
  readonly context: ContextUse | null;
  readonly transcriptPath: string | null;
}

/** What the transcripts add to a session. Absent or null means unknown: the session keeps its value. */
export interface Enrichment {
  readonly model?: string | null;
  /** Of the session and all of its subagents. */
  readonly usage?: Usage | null;
  readonly context?: ContextUse | null;
  readonly rateLimits?: RateLimits | null;
  readonly children?: readonly ChildEnrichment[];
  readonly turnCount?: number | null;
  readonly gitBranch?: string | null;
  readonly title?: string | null;
  readonly lastResponse?: string | null;
  /** Who decides about permissions: the user, or a model in their place. */
  readonly approvals?: Approvals | null;
}

export type Approvals = "user" | "model";

/** What an agent's status file says it waits for. A dialog can also be one that the user opened. */
export type WaitingFor = "permission" | "question" | "dialog";

export type FileStatus = "idle" | "busy" | "waiting" | "shell";

/** A call of a skill. */
export interface SkillCall {
  /** Without a leading slash. */
  readonly name: string;
  readonly args: string | null;
  /** The command that a user would type: `/spec docs/a.md`. */
  readonly triggerCommand: string;
  /** The document that the skill works on. null if the skill has none. */
  readonly targetDocPath: string | null;
}

/**
 * A change of the agent's own list of tasks. A call that creates a task does not know its id. The first change with an unknown
 * id is taken for one of the tasks without an id.
 */
export interface TaskChange {
  /** null if the agent has not given it an id yet. */
  readonly id: string | null;
  readonly status: "pending" | "in_progress" | "completed" | "deleted";
  /** What is to be done. Absent if the change does not name it. */
  readonly subject?: string;
}

/** A port: a named piece of work in a project, which the session's edits belong to. */
export interface SessionPort {
  readonly id: string;
  readonly title: string;
  /** The project's folder. */
  readonly project: string;
  /** Wall time since which the session works on it. */
  readonly since: number;
}

/** A change of a file. */
export interface FileEdit extends Moment {
  /** Absolute, as the agent named it. */
  readonly path: string;
}

/** A file of a session that another live session has changed too, and that change is not committed. `at` is when it was made. */
export interface SharedFile extends FileEdit {
  /** The other session. */
  readonly machine: string | null;
  readonly agent: string;
  readonly sessionId: string;
  readonly project: string | null;
}

/** A file that a session has changed and not committed, named so that another machine recognises it. */
export interface RepositoryFile extends Moment {
  /** A hash of the address of its remote repository. */
  readonly repository: string;
  /** The last commit. */
  readonly commit: string;
  /** In the repository. */
  readonly path: string;
}

/** A file of instructions that the agent has read into its context. */
export interface LoadedDocument {
  readonly path: string;
  /** In the agent's terms: `User`, `Project`. */
  readonly kind: string;
}

/** What became of a request. null if the agent does not say. */
export type AskEndedOutcome = "allowed" | "denied" | "replied" | null;

/** How an event changes its session. `no-change` only updates cwd, place and the time of the last event. */
export type Change =
  | { readonly kind: "session-start"; readonly source: string; readonly model: string | null }
  | { readonly kind: "session-end"; readonly reason: string | null }
  | { readonly kind: "prompt"; readonly text: string; readonly byMachine: boolean }
  /** The agent reports that it works. Unlike a prompt it closes no ask and counts no turn. */
  | { readonly kind: "turn-start" }
  | {
      readonly kind: "tool-start";
      readonly tool: string;
      readonly toolUseId: string | null;
      /** Equal for equal inputs. Matches a permission request with its tool call. */
      readonly inputKey: string;
      readonly summary: string;
      readonly skill: SkillCall | null;
      /** What a dialog for this call asks. Absent if it asks for permission. */
      readonly asks?: AskKind;
      /** The call changes the list of tasks. Absent if it does not. */
      readonly task?: TaskChange;
      /** The files that the call changes. Absent if it does not edit files. */
      readonly editPaths?: readonly string[];
    }
  | {
      readonly kind: "tool-end";
      readonly tool: string;
      readonly toolUseId: string | null;
      readonly outcome: "ok" | "failed" | "denied";
      readonly skill: SkillCall | null;
      /** The call changed the list of tasks. Absent if it did not. */
      readonly task?: TaskChange;
      /** The files that the call changed. Absent if it does not edit files. */
      readonly editPaths?: readonly string[];
    }
  | { readonly kind: "tool-batch-end" }
  | {
      readonly kind: "ask";
      readonly ask: Exclude<AskKind, "idle">;
      readonly tool: string | null;
      readonly inputKey: string | null;
      /** The tool call that it is about, if the agent itself says so. Otherwise the call is found by its input. */
      readonly toolUseId?: string;
      readonly summary: string;
      readonly options: readonly string[];
      /** How many questions it asks at once. Absent for one. */
      readonly questions?: number;
    }
  /** `request` is the id of the event that asked. Ask ids can change when a late event makes beckon reduce again. */
  | { readonly kind: "ask-answered"; readonly request: string }
  /**
   * The agent reports that a request is over, however it was answered. `inputKey` is the one that its `ask` had; null ends all
   * requests of that thread.
   */
  | { readonly kind: "ask-ended"; readonly inputKey: string | null; readonly outcome: AskEndedOutcome }
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
  /** `team` is absent if the subagent belongs to none. */
  | { readonly kind: "child-start"; readonly type: string; readonly team?: string }
  | { readonly kind: "child-end"; readonly transcriptPath: string | null }
  | { readonly kind: "task"; readonly task: TaskChange }
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
      /** The command that opens a session without a terminal of its own in one. Absent if it has a terminal. */
      readonly attach?: string;
    }
  /** The agent's status cannot be read any more: from here on, hooks decide. */
  | { readonly kind: "status-lost" }
  | { readonly kind: "gone"; readonly why: "process" | "file" }
  | { readonly kind: "enriched"; readonly with: Enrichment }
  /** beckon found out which terminal shows the session. null if none is known to show it. */
  | { readonly kind: "located"; readonly place: Place | null }
  | { readonly kind: "document-loaded"; readonly document: LoadedDocument }
  /** The session works on this port from now on; null if it works on none. */
  | { readonly kind: "port"; readonly port: SessionPort | null }
  /** The agent edits a file, or was kept from it, while no port runs. */
  | {
      readonly kind: "untracked-edit";
      readonly tool: string;
      /** null if unknown. */
      readonly path: string | null;
      readonly isBlocked: boolean;
    }
  /** Files that another live session has changed too, all of them. Empty if there are none any more. */
  | { readonly kind: "shared-files"; readonly files: readonly SharedFile[] }
  | { readonly kind: "repository-files"; readonly files: readonly RepositoryFile[] }
  /** The session's own machine has described it again. */
  | { readonly kind: "mirrored" }
  | { readonly kind: "no-change" };

export interface AgentEvent extends Moment {
  readonly id: string;
  /** Absent for this machine. */
  readonly machine?: string;
  readonly agent: string;
  readonly sessionId: string;
  /** The subagent it belongs to; null for the main thread. */
  readonly agentId: string | null;
  readonly agentType: string | null;
  /** The subagent's own name; null if it has none. */
  readonly agentName: string | null;
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
  /** `default`, `plan`, `acceptEdits`, …; null if the event does not name it. */
  readonly permissionMode: string | null;
  /** Equal for equal payloads. A hook that is registered twice sends two events that count once. */
  readonly payloadKey: string | null;
  readonly change: Change;
}

/** False for facts that beckon adds itself. They do not mean that the agent has just done something. */
export function isHookChange(change: Change): boolean {
  switch (change.kind) {
    case "status":
    case "status-lost":
    case "gone":
    case "enriched":
    case "located":
    case "interrupted":
    case "ask-answered":
    case "port":
    case "untracked-edit":
    case "shared-files":
    case "repository-files":
    case "mirrored":
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
    agentName: null,
    name: change.kind,
    promptId: null,
    cwd: null,
    project: null,
    transcriptPath: null,
    place: null,
    attended: null,
    permissionMode: null,
    payloadKey: null,
    ...about,
    id,
    at: when.at,
    t: when.t,
    change,
  };
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
