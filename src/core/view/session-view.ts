/** SessionView: a session as the API, the command line and the dashboard see it. Its field names are part of the API. */
import { createHash } from "node:crypto";
import type { Preferences } from "../config/preferences.ts";
import type { AskDetails } from "../session/ask-details.ts";
import type {
  AskKind,
  ContextUse,
  Moment,
  Place,
  RateLimits,
  SessionPort,
  SharedFile,
  Tokens,
  Usage,
} from "../session/event.ts";
import {
  type ActivityPhase,
  type Evidence,
  evidenceOf,
  phaseOf,
  type SessionState,
  type Status,
  stateOf,
  statusOf,
} from "../session/phase.ts";
import {
  type Ask,
  type Child,
  hasDied,
  isInterrupted,
  isVisible,
  nameOfChild,
  projectOf,
  type Session,
  type Task,
} from "../session/session.ts";
import { settle } from "../session/settle.ts";
import { findStuck, type Stuck } from "../session/stuck.ts";
import { createAges } from "./ages.ts";
import type { Group } from "./group-names.ts";
import { formatSilence, type GroupConfig, groupSession, type Silence } from "./groups.ts";
import { nameTerminal } from "./terminal-name.ts";

export interface AskView {
  readonly id: string;
  readonly kind: AskKind;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly summary: string;
  /** The options of the first question. */
  readonly options: readonly string[];
  /** How many questions it asks at once. Absent for one. */
  readonly questions?: number;
  readonly openedAt: number;
  /** It can be answered through beckon. */
  readonly answerable: boolean;
  /** The id that an answer has to name. Present while it is answerable. */
  readonly answerId?: string;
  /** Warnings, if it is answerable and could do harm. */
  readonly dangers?: readonly string[];
  /** Only in the view of a single session: everything that is asked if it is answerable, otherwise why it is not. */
  readonly asked?: AskDetails;
  readonly why?: string;
}

/** `cached` is the older name of `cacheRead`. */
export interface TokenCounts extends Tokens {
  readonly cached: number;
}

export interface ChildView {
  readonly agentId: string;
  readonly parentSessionId: string;
  /** Its own name, its type, or "Subagent". */
  readonly name: string;
  readonly type: string;
  readonly state: "running" | "ended";
  readonly detail: string | null;
  readonly startedAt: number;
  /** null while it runs. */
  readonly endedAt: number | null;
  readonly model: string | null;
  readonly tokens: TokenCounts | null;
  readonly costUsd: number | null;
  readonly context: ContextUse | null;
  readonly transcriptPath: string | null;
}

export interface TaskList {
  readonly done: number;
  readonly total: number;
  /** In the order in which they were created. The subject is null if unknown. */
  readonly list: readonly { readonly subject: string | null; readonly status: Task["status"] }[];
}

export interface SessionView {
  /** The machine that it runs on; null for this one. */
  readonly machine: string | null;
  /** False if its machine cannot be reached: the rest is as last known. */
  readonly reachable: boolean;
  /** Wall time since which it cannot be reached. Absent while it can. */
  readonly unreachableSince?: number;
  readonly provider: string;
  readonly sessionId: string;
  readonly state: SessionState;
  /** The group under which users see it. */
  readonly group: Group;
  readonly activityPhase: ActivityPhase | null;
  /** Whether the agent itself proves the phase, or it is inferred from what has happened. */
  readonly evidence: Evidence;
  readonly status: Status;
  /** The error that ended its last turn. */
  readonly error: string | null;
  /** Its process disappeared in the middle of a turn. */
  readonly died: boolean;
  /** Its last turn was interrupted, so `lastResponse` is older than `lastPrompt`. */
  readonly interrupted?: true;
  readonly asks: readonly AskView[];
  readonly children: readonly ChildView[];
  readonly cwd: string | null;
  readonly project: string | null;
  readonly gitBranch: string | null;
  readonly title: string | null;
  readonly model: string | null;
  /** Of the session and all of its subagents. null if unknown. */
  readonly tokens: TokenCounts | null;
  /** At list price. null if unknown, or if a model's price is unknown. */
  readonly costUsd: number | null;
  readonly context: ContextUse | null;
  /** The quotas of the subscription, if the user lets beckon read the agent's status line. Otherwise null. */
  readonly rateLimits: RateLimits | null;
  /** The agent's own list of tasks. null if it has none. */
  readonly tasks: TaskList | null;
  readonly permissionMode: string | null;
  /** `startup`, `resume`, `clear`, `fork`; null if its start was not seen. */
  readonly startSource: string | null;
  /** Why it ended. null while it lives. */
  readonly endReason: string | null;
  readonly transcriptPath: string | null;
  readonly turnCount: number;
  readonly lastPrompt: string | null;
  readonly lastResponse: string | null;
  readonly currentSkill: string | null;
  /** The piece of work that its edits belong to. null if it works on none. */
  readonly port: SessionPort | null;
  /** Files that another live session has changed too, and neither change is committed. Absent if there are none. */
  readonly sharedFiles?: readonly Omit<SharedFile, "t">[];
  /** Why it may be stuck. Absent if nothing suggests it. */
  readonly stuck?: Stuck;
  readonly place: Place | null;
  /** What users call its terminal: "tmux %3", "kitty", "VS Code over SSH". null if unknown. */
  readonly terminal: string | null;
  /** The command that opens a background session in a terminal. null if it has a terminal of its own. */
  readonly attach: string | null;
  readonly fingerprint: string | null;
  readonly attended: boolean | null;
  /** Why no alert is shown for it: "muted", "snoozed until 14:20", "unattended", "dismissed". Absent if alerts are shown. */
  readonly silence?: string;
  /** The same, for programs. */
  readonly silenceKind?: Silence["kind"];
  /** Wall time since which it has been in this group. */
  readonly since: number;
  readonly startedAt: number;
  readonly lastEventAt: number;
}

export interface ViewContext {
  readonly preferences: Preferences;
  readonly config: GroupConfig;
  /** Formats a wall time as local time; `now` decides whether the day is named. */
  readonly formatTime: (at: number, now: number) => string;
}

/** Whether it can be answered is added later. */
export function createAskView(ask: Ask): AskView {
  return {
    id: ask.id,
    kind: ask.kind,
    agentId: ask.agentId,
    tool: ask.tool,
    summary: ask.summary,
    options: ask.options,
    ...(ask.questions === undefined ? {} : { questions: ask.questions }),
    openedAt: ask.at,
    answerable: false,
  };
}

export function createSessionView(stored: Session, now: Moment, context: ViewContext): SessionView {
  const session = settle(stored, now.t);
  const { preferences, config, formatTime } = context;
  const { group, silence, since } = groupSession(session, { preferences, config, ages: createAges(now) });
  const asks = session.asks.filter(isVisible);
  const { unreachableSince } = session;
  const stuck = findStuck(session, now, config.stuck.silentMinutes);
  return {
    machine: session.machine,
    reachable: unreachableSince === null,
    ...(unreachableSince === null ? {} : { unreachableSince }),
    provider: session.agent,
    sessionId: session.sessionId,
    state: stateOf(session, now),
    group,
    activityPhase: phaseOf(session, now),
    evidence: evidenceOf(session),
    status: statusOf(session, now),
    error: session.turn.error,
    died: hasDied(session),
    ...(isInterrupted(session) ? { interrupted: true } : {}),
    asks: asks.map(createAskView),
    children: session.children.map((child) => createChildView(session, child)),
    cwd: session.cwd,
    project: projectOf(session),
    gitBranch: session.gitBranch,
    title: session.title,
    model: session.model,
    ...measureSession(session),
    rateLimits: session.rateLimits,
    permissionMode: session.permissionMode,
    startSource: session.startSource,
    endReason: session.ended?.reason ?? null,
    transcriptPath: session.transcriptPath,
    turnCount: session.turnCount,
    lastPrompt: session.lastPrompt,
    lastResponse: session.lastResponse,
    currentSkill: session.currentSkill,
    port: session.port,
    ...(session.sharedFiles.length === 0
      ? {}
      : { sharedFiles: session.sharedFiles.map(({ t: _, ...file }) => file) }),
    ...(stuck === null ? {} : { stuck }),
    place: session.place,
    terminal: nameTerminal(session.place),
    attach: session.attach,
    fingerprint: computeFingerprint(session),
    attended: session.attended,
    ...(silence === null
      ? {}
      : { silence: formatSilence(silence, (at) => formatTime(at, now.at)), silenceKind: silence.kind }),
    since: since.at,
    startedAt: session.startedAt,
    lastEventAt: session.last.at,
  };
}

function createChildView({ sessionId }: Session, child: Child): ChildView {
  return {
    agentId: child.agentId,
    parentSessionId: sessionId,
    name: nameOfChild(child),
    type: child.type,
    state: child.running ? "running" : "ended",
    detail: child.detail,
    startedAt: child.startedAt,
    endedAt: child.running ? null : child.at,
    model: child.model,
    tokens: countTokens(child.usage),
    costUsd: toDollars(child.usage),
    context: child.context,
    transcriptPath: child.transcriptPath,
  };
}

export function measureSession({ usage, context, tasks }: Session) {
  return { tokens: countTokens(usage), costUsd: toDollars(usage), context, tasks: countTasks(tasks) };
}

function countTokens(usage: Usage | null): TokenCounts | null {
  return usage && { ...usage.tokens, cached: usage.tokens.cacheRead };
}

function toDollars(usage: Usage | null): number | null {
  return usage?.costMicros == null ? null : usage.costMicros / 1_000_000;
}

function countTasks(tasks: readonly Task[]): SessionView["tasks"] {
  if (tasks.length === 0) return null;
  const done = tasks.filter(({ status }) => status === "completed").length;
  const list = tasks.map(({ subject = null, status }) => ({ subject, status }));
  return { done, total: tasks.length, list };
}

/** A view is made for every change of a session, and its fingerprint stays. */
const fingerprints = new Map<string, string>();
const maxFingerprints = 1_000;

/** Differs for two terminals in one folder, and stays the same after a restart of beckon. */
export function computeFingerprint(session: Pick<Session, "place" | "firstCwd">): string | null {
  const { place, firstCwd } = session;
  if (place?.pid == null) return null;
  const text = `${firstCwd ?? ""}:${place.tty ?? ""}:${place.pid}:${place.procStart ?? ""}`;
  const known = fingerprints.get(text);
  if (known !== undefined) return known;
  const fingerprint = createHash("sha256").update(text).digest("hex").slice(0, 16);
  if (fingerprints.size >= maxFingerprints) fingerprints.clear();
  fingerprints.set(text, fingerprint);
  return fingerprint;
}
