import type { AgentEvent, AskKind, FileStatus, Moment, Place, Tokens } from "./event.ts";

/** Something the session waits for a person to do. */
export interface Ask extends Moment {
  readonly id: string;
  readonly kind: AskKind;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly toolUseId: string | null;
  readonly promptId: string | null;
  readonly inputKey: string | null;
  readonly summary: string;
  /** Those of the first question, where it asks several. */
  readonly options: readonly string[];
  /** How many questions it asks at once, where more than one: `summary` is the first of them. */
  readonly questions?: number;
  /** The event that asked, by its id: an answer goes to this request and to no other. null: nobody has named it yet. */
  readonly request: string | null;
  /** Who told us: only a hook knows the ask's name; the others are named by the hook that may still come. */
  readonly from: "hook" | "reminder" | "file";
  /** The agent's own status says that no dialog is on the screen (yet): kept, but not shown. */
  readonly hidden: boolean;
}

export interface Child extends Moment {
  readonly agentId: string;
  readonly type: string;
  readonly running: boolean;
  readonly detail: string | null;
  readonly startedAt: number;
}

/** A tool call under way, or one that ended a moment ago (its permission request may come after its end). */
export interface ToolCall extends Moment {
  readonly toolUseId: string | null;
  readonly tool: string;
  readonly agentId: string | null;
  readonly promptId: string | null;
  readonly inputKey: string;
  readonly summary: string;
  readonly ended: boolean;
}

export interface Turn extends Moment {
  readonly running: boolean;
  /** A hook started it, not a dialog the person opened. */
  readonly byHook: boolean;
  readonly error: string | null;
}

export interface Session {
  readonly agent: string;
  readonly sessionId: string;
  readonly startedAt: number;
  /** The last thing the agent itself did. */
  readonly last: Moment;
  /** The newest stamp of all: what is older comes late. */
  readonly newest: number;
  readonly turn: Turn;
  readonly detail: string | null;
  /** The last prompt. */
  readonly prompted: Moment | null;
  /** The last time the agent itself said that its turn was over: one that its person broke off is not done. */
  readonly stopped: Moment | null;
  /** The last time somebody answered an ask through beckon. */
  readonly answered: Moment | null;
  /** What was running when compaction began. */
  readonly beforeCompact: { readonly running: boolean; readonly detail: string | null } | null;
  readonly asks: readonly Ask[];
  readonly asksOpened: number;
  readonly children: readonly Child[];
  readonly tools: readonly ToolCall[];
  /** The agent's own status file, as last read. */
  readonly file: ({ readonly status: FileStatus; readonly waitingFor: string | null } & Moment) | null;
  /** When hooks or file last moved it, and whether the file has had its last word since. */
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
  readonly gitBranch: string | null;
  readonly title: string | null;
  readonly model: string | null;
  readonly tokens: Tokens | null;
  readonly turnCount: number;
  readonly lastPrompt: string | null;
  readonly lastResponse: string | null;
  readonly currentSkill: string | null;
}

export function isBlocking(ask: Ask): boolean {
  return ask.kind !== "idle";
}

export function isVisible(ask: Ask): boolean {
  return !ask.hidden;
}

const deaths: ReadonlySet<string> = new Set(["process gone", "file gone"]);

/** In mid-turn, and without a word: a SessionEnd also comes when its person quits it or closes its window, and they know. */
export function hasDied({ ended }: Pick<Session, "ended">): boolean {
  return ended?.whileBusy === true && deaths.has(ended.reason);
}

/**
 * Its last turn ended without the agent's word: what it said before that prompt is no answer to it. Where the agent has never
 * been heard to stop, a reply may be of this very turn. The file can be up to a second ahead of the hook that says it is done.
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
    agent: event.agent,
    sessionId: event.sessionId,
    startedAt: event.at,
    last: when,
    newest: Number.NEGATIVE_INFINITY,
    turn: { ...when, running: false, byHook: false, error: null },
    detail: null,
    prompted: null,
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
    gitBranch: null,
    title: null,
    model: null,
    tokens: null,
    turnCount: 0,
    lastPrompt: null,
    lastResponse: null,
    currentSkill: null,
  };
}

export function projectOf(session: Session): string | null {
  return session.project ?? baseName(session.firstCwd);
}

function baseName(path: string | null): string | null {
  const parts = path?.split(/[\\/]/).filter(Boolean);
  return parts?.at(-1) ?? path;
}
