/**
 * Sessions: the events that change them (event.ts), how (reduce.ts, apply.ts, asks.ts, children.ts, settle.ts), what is derived
 * from them (phase.ts, texts.ts) and how they are named (keys.ts). Pure; time comes in with each event.
 *
 * The snapshot on disk contains these objects, so their field names are a format.
 */
import type {
  AgentEvent,
  Approvals,
  AskKind,
  ContextUse,
  FileEdit,
  FileStatus,
  LoadedDocument,
  Moment,
  Place,
  RateLimits,
  RepositoryFile,
  SessionPort,
  SharedFile,
  SkillCall,
  TaskChange,
  Usage,
} from "./event.ts";

/** Something the session waits for the user to do. */
export interface Ask extends Moment {
  readonly id: string;
  readonly kind: AskKind;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly toolUseId: string | null;
  readonly promptId: string | null;
  readonly inputKey: string | null;
  readonly summary: string;
  /** The options of the first question. */
  readonly options: readonly string[];
  /** How many questions it asks at once; `summary` is the first. Absent for one. */
  readonly questions?: number;
  /** The id of the event that asked, to which an answer goes; null as long as no hook has named the ask. */
  readonly request: string | null;
  /** What reported it. Only a hook knows the details; asks from a reminder or the status file are named by a later hook. */
  readonly from: "hook" | "reminder" | "file";
  /** The status file says that no dialog is on the screen (yet). The ask is kept but not shown. */
  readonly hidden: boolean;
}

export interface Child extends Moment {
  readonly agentId: string;
  readonly type: string;
  /** null if it has no name of its own. */
  readonly name: string | null;
  /** Absent if it belongs to no team. */
  readonly team?: string;
  readonly running: boolean;
  readonly detail: string | null;
  readonly startedAt: number;
  readonly model: string | null;
  readonly usage: Usage | null;
  readonly context: ContextUse | null;
  readonly transcriptPath: string | null;
}

/** The last call of a skill. */
export interface SkillRun extends SkillCall, Moment {
  readonly phase: "in_progress" | "completed";
  /** The turn that called it: the first is 1. */
  readonly turnSeq: number;
}

export interface Task {
  /** null if the agent has not given it an id yet. */
  readonly id: string | null;
  readonly status: Exclude<TaskChange["status"], "deleted">;
  /** Absent if unknown. */
  readonly subject?: string;
}

/** A tool call that runs, or ended a moment ago: its permission request can arrive after its end. */
export interface ToolCall extends Moment {
  readonly toolUseId: string | null;
  readonly tool: string;
  readonly agentId: string | null;
  readonly promptId: string | null;
  readonly inputKey: string;
  readonly summary: string;
  /** What a dialog for it asks. Absent if it asks for permission. */
  readonly asks?: AskKind;
  /** The files that it changes. Absent if it does not edit files. */
  readonly editPaths?: readonly string[];
  readonly ended: boolean;
}

export interface Turn extends Moment {
  readonly running: boolean;
  /** A hook started it, not a dialog that the user opened. */
  readonly byHook: boolean;
  readonly error: string | null;
}

export interface Session {
  /** The machine that it runs on, by the user's name for it; null for this one. */
  readonly machine: string | null;
  /** Wall time since which its machine cannot be reached: the rest is as last known. null if it can, and on this machine. */
  readonly unreachableSince: number | null;
  readonly agent: string;
  readonly sessionId: string;
  readonly startedAt: number;
  /** The last hook event or status file change. */
  readonly last: Moment;
  /** `t` of the newest event. Anything older has arrived late. */
  readonly newest: number;
  readonly turn: Turn;
  readonly detail: string | null;
  /** The last prompt. */
  readonly prompted: Moment | null;
  /** The agent's id of the last prompt; null if unknown. A prompt that is queued during a turn has the id of that turn. */
  readonly promptId: string | null;
  /** The last end of a turn that the agent reported. An interrupted turn has none. */
  readonly stopped:
    | (Moment & { /** Of a turn whose prompt was not reported yet. */ readonly promptId?: string })
    | null;
  /** The last answer that was given through beckon. */
  readonly answered: Moment | null;
  /** What was running when compaction started. */
  readonly beforeCompact: { readonly running: boolean; readonly detail: string | null } | null;
  readonly asks: readonly Ask[];
  readonly asksOpened: number;
  readonly children: readonly Child[];
  readonly tools: readonly ToolCall[];
  /** The agent's status file, as last read. */
  readonly file: ({ readonly status: FileStatus; readonly waitingFor: string | null } & Moment) | null;
  /** The last change by a hook or the status file, and whether settle() has applied the file since then. */
  readonly moved: Moment;
  readonly settled: boolean;
  readonly ended: ({ readonly reason: string; readonly whileBusy: boolean } & Moment) | null;
  readonly payloads: readonly { readonly key: string; readonly t: number }[];
  readonly background: string | null;
  readonly attended: boolean | null;
  readonly cwd: string | null;
  readonly firstCwd: string | null;
  readonly project: string | null;
  readonly transcriptPath: string | null;
  readonly place: Place | null;
  /** The command that opens a background session in a terminal. null if it has a terminal of its own. */
  readonly attach: string | null;
  readonly gitBranch: string | null;
  readonly title: string | null;
  readonly model: string | null;
  /** Of the session and all of its subagents. */
  readonly usage: Usage | null;
  readonly context: ContextUse | null;
  readonly rateLimits: RateLimits | null;
  readonly tasks: readonly Task[];
  readonly permissionMode: string | null;
  /** Who decides about permissions. A request to a model is not an ask. */
  readonly approvals: Approvals;
  /** `startup`, `resume`, `clear`, `fork`; null if its start was not seen. */
  readonly startSource: string | null;
  readonly turnCount: number;
  readonly lastPrompt: string | null;
  readonly lastResponse: string | null;
  readonly currentSkill: string | null;
  readonly skill: SkillRun | null;
  readonly documents: readonly LoadedDocument[];
  /** The port that the session works on. null if it works on none. */
  readonly port: SessionPort | null;
  /** The last edit without a port, in a project whose work guard is on. null if there was none, or a port has run since. */
  readonly untracked: UntrackedEdit | null;
  /** The files that it changed last. Empty once it has ended. */
  readonly edits: readonly FileEdit[];
  readonly sharedFiles: readonly SharedFile[];
  /** For other machines. Empty if none is linked, or it has ended. */
  readonly repositoryFiles: readonly RepositoryFile[];
  /** The call that failed last. null if another call has succeeded since then, or the turn is over. */
  readonly failing: RepeatedFailure | null;
}

export interface UntrackedEdit extends Moment {
  readonly tool: string;
  /** null if unknown. */
  readonly path: string | null;
  readonly isBlocked: boolean;
}

/** A call that failed, each time with the same input, and with no other call of its thread in between. */
export interface RepeatedFailure extends Moment {
  readonly agentId: string | null;
  readonly tool: string;
  readonly inputKey: string;
  readonly summary: string;
  readonly count: number;
}

export function isBlocking(ask: Ask): boolean {
  return ask.kind !== "idle";
}

/** Its end would be noticed: its process is watched here, or by the machine that it runs on. */
export function isWatched({ machine, place }: Pick<Session, "machine" | "place">): boolean {
  return place !== null && place.pid !== null && (place.local || machine !== null);
}

export function isVisible(ask: Ask): boolean {
  return !ask.hidden;
}

/** The asks that wait for somebody. */
export const findWaiting = ({ asks }: Pick<Session, "asks">): readonly Ask[] =>
  asks.filter((ask) => isBlocking(ask) && isVisible(ask));

const deathReasons: ReadonlySet<string> = new Set(["process gone", "file gone"]);

/** The agent itself reported the end: the user quit, cleared the session or closed the window. */
export function isEndedByHook({ ended }: Pick<Session, "ended">): boolean {
  return ended !== null && !deathReasons.has(ended.reason);
}

/** The user cleared the session, and its terminal goes on with another one. */
export const isClearReason = (reason: string | null | undefined): boolean => reason === "clear";

/** The process disappeared in the middle of a turn. */
export function hasDied({ ended }: Pick<Session, "ended">): boolean {
  return ended?.whileBusy === true && deathReasons.has(ended.reason);
}

/**
 * Its last turn ended without a Stop event, so `lastResponse` is older than `lastPrompt`. If no Stop was ever seen, a response
 * can be of this turn. The status file can be up to a second ahead of the Stop hook.
 */
export function isInterrupted(session: Session): boolean {
  const { turn, prompted, stopped, file, settled, ended, lastResponse } = session;
  if (turn.running || turn.error !== null || ended || prompted === null) return false;
  if (file !== null && !settled) return false;
  return stopped === null ? lastResponse === null : prompted.t > stopped.t;
}

export function createSession(event: AgentEvent): Session {
  const when = { at: event.at, t: event.t };
  return {
    machine: null,
    unreachableSince: null,
    agent: event.agent,
    sessionId: event.sessionId,
    startedAt: event.at,
    last: when,
    newest: Number.NEGATIVE_INFINITY,
    turn: { ...when, running: false, byHook: false, error: null },
    detail: null,
    prompted: null,
    promptId: null,
    stopped: null,
    answered: null,
    beforeCompact: null,
    asks: [],
    asksOpened: 0,
    children: [],
    tools: [],
    file: null,
    moved: when,
    settled: false,
    ended: null,
    payloads: [],
    background: null,
    attended: null,
    cwd: null,
    firstCwd: null,
    project: null,
    transcriptPath: null,
    place: null,
    attach: null,
    gitBranch: null,
    title: null,
    model: null,
    usage: null,
    context: null,
    rateLimits: null,
    tasks: [],
    permissionMode: null,
    approvals: "user",
    startSource: null,
    turnCount: 0,
    lastPrompt: null,
    lastResponse: null,
    currentSkill: null,
    skill: null,
    documents: [],
    port: null,
    untracked: null,
    edits: [],
    sharedFiles: [],
    repositoryFiles: [],
    failing: null,
  };
}

/** For users. */
export function nameOfChild({ name, type }: Pick<Child, "name" | "type">): string {
  return name || type || "Subagent";
}

export function projectOf({ project, firstCwd }: Pick<Session, "project" | "firstCwd">): string | null {
  return project ?? baseName(firstCwd);
}

function baseName(path: string | null): string | null {
  const parts = path?.split(/[\\/]/).filter(Boolean);
  return parts?.at(-1) ?? path;
}
