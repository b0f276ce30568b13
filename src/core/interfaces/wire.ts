/** What the API sends besides sessions: the history, its statistics, the lanes of a day, and the event stream. */
import type { AskEnding } from "../answers/ending.ts";
import type { Quiet } from "../config/quiet.ts";
import type { AskKind } from "../session/event.ts";
import type { PastAlert, PastAskEnd } from "../view/past-ask.ts";
import type { AskView, SessionView } from "../view/session-view.ts";
import type { Beat } from "../view/story.ts";

export const historyKinds = [
  "permission",
  "question",
  "plan",
  "elicitation",
  "failed",
  "started",
  "ended",
  "prompt",
  "answer",
  "tool",
  "skill",
  "compact",
  "notification",
  "port",
] as const;

export type HistoryKind = (typeof historyKinds)[number];

export type Severity = "debug" | "info" | "warn" | "error";

export interface HistoryItem {
  readonly id: string;
  /** Wall time in milliseconds, like every time here. */
  readonly at: number;
  /** The session: `provider:sessionId`. */
  readonly key: string;
  readonly provider: string;
  readonly project: string | null;
  readonly branch: string | null;
  readonly kind: HistoryKind;
  readonly text: string;
  /** null for an ask that is open, and for anything else. */
  readonly how: AskEnding | null;
  /** "terminal", "editor", "page", "menu", "notification", "command line", "rule" or a channel's name. */
  readonly where: string | null;
  /** How long the ask has waited, or had waited when it ended. null if it is not an ask. */
  readonly waitedMs: number | null;
  /** What was replied, or the message of a denial. Absent if there is none. */
  readonly detail?: string;
  readonly severity: Severity;
  /** The port that the session worked on then. Absent if it worked on none. */
  readonly port?: string;
}

export interface HistoryQuery {
  /** Words that the text must contain. */
  readonly q?: string;
  readonly project?: string;
  readonly agent?: string;
  readonly kind?: HistoryKind;
  /** `provider:sessionId`, or the session's id. */
  readonly session?: string;
  /** The `next` of the page before. */
  readonly before?: string;
  readonly limit?: number;
}

/** Newest first. */
export interface HistorySession {
  readonly provider: string;
  readonly sessionId: string;
  readonly project: string | null;
  readonly gitBranch: string | null;
  readonly title: string | null;
}

export interface HistoryPage {
  /** False if the user has turned the history off. */
  readonly enabled: boolean;
  /** How many items match, on all pages. Matches of a search are counted up to 10,000. */
  readonly total: number;
  /** Pass it as `before` to get the next page. null on the last one. */
  readonly next: string | null;
  readonly items: readonly HistoryItem[];
  /** Present if `session` in the query does not name exactly one session: those that it could mean, newest first. */
  readonly candidates?: readonly HistorySession[];
  /** Why items may be missing. Absent if all is well. */
  readonly problem?: string;
}

/** What the story can be narrowed to. */
export const storyKinds = ["prompts", "commands", "edits", "asks", "failures"] as const;

export type StoryKind = (typeof storyKinds)[number];

export interface StoryQuery extends Pick<HistoryQuery, "q" | "project" | "agent" | "before"> {
  readonly kind?: StoryKind;
  /** A time on the day to start with; the days before it follow. */
  readonly day?: number;
  /** `provider:sessionId`: only this session on that day, with nothing folded away. */
  readonly session?: string;
  readonly limit?: number;
}

/** A session on a day. */
export interface StoryThread extends Pick<HistoryItem, "key" | "provider" | "project" | "branch"> {
  readonly title: string | null;
  readonly model: string | null;
  /** The start of the day. */
  readonly day: number;
  /** Its first and its last moment on that day. */
  readonly from: number;
  readonly to: number;
  /** null if it has not ended on that day. */
  readonly endedAt: number | null;
  /** The group that the session is in now. "ended" if beckon does not list it any more. */
  readonly group: SessionView["group"];
  /** Those that waited for the user, on that day. */
  readonly asks: number;
  readonly waitedMs: number;
  /** How many moments match. Absent if nothing is searched. */
  readonly hits?: number;
  /** In the order of time. null if the session asked for nothing and did not fail: ask for it with `session`. */
  readonly beats: readonly Beat[] | null;
}

export interface StoryDay {
  /** The start of the day. */
  readonly day: number;
  readonly sessions: number;
  /** How many moments match. Absent if nothing is searched. */
  readonly hits?: number;
}

export interface StoryPage {
  /** False if the user has turned the history off. */
  readonly enabled: boolean;
  /** The session with the newest moment of each day first. */
  readonly threads: readonly StoryThread[];
  /** The newest first: the days of `threads`, or all that have a match. */
  readonly days: readonly StoryDay[];
  /** Pass it as `before` to get the next page. null on the last one. */
  readonly next: string | null;
  /** What there is in all, whatever is searched: when its first moment was, and the agents it is of. Absent if there is nothing. */
  readonly holds?: { readonly firstAt: number; readonly agents: readonly string[] };
  /** How long the history is kept, and how large it is. Absent if the app does not run. */
  readonly kept?: { readonly days: number; readonly maxMb: number; readonly mb: number };
  readonly problem?: string;
}

export interface TranscriptLine {
  /** null if the transcript does not say. */
  readonly at: number | null;
  readonly who: "you" | "agent" | "step";
  readonly text: string;
  /** Of a step. */
  readonly tool?: string;
}

/** GET /api/transcript: what a session's transcript says around a moment. Secrets are masked. */
export interface TranscriptPage {
  /** The oldest first. */
  readonly lines: readonly TranscriptLine[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
  /** Why there are no lines. Absent if there are some. */
  readonly why?: string;
}

interface StatsFigures {
  /** The time with a blocking ask open and visible: sessions that waited at the same time count each. */
  readonly waitedMs: number;
  /** Asks that waited for the user. Those that a rule answered are not counted. */
  readonly asks: number;
  /** The median time to an answer. null if there was none. */
  readonly medianMs: number | null;
  readonly tokens: number;
  /** Of the tokens whose price is known. null if there are none. */
  readonly costUsd: number | null;
  /** Present if the price of some tokens is unknown. */
  readonly isCostPartial?: true;
}

export interface DayStats extends StatsFigures {
  /** In local time: "2026-11-17". */
  readonly date: string;
}

export interface ProjectStats extends StatsFigures {
  readonly project: string;
  readonly todayMs: number;
}

export interface TodayStats extends StatsFigures {
  readonly longest: {
    readonly ms: number;
    /** When it began, or the day did. */
    readonly from: number;
    readonly key: string;
    readonly project: string | null;
    /** It still waits. */
    readonly open: boolean;
  } | null;
  /** Asks that the user's rules answered. */
  readonly byRules: number;
}

/** A port's share of the days: what the sessions did while they worked on it. */
export interface PortStats {
  /** The project's folder. */
  readonly project: string;
  readonly port: string;
  readonly title: string;
  /** Sessions that worked at the same time count each. */
  readonly workedMs: number;
  readonly waitedMs: number;
  readonly sessions: number;
  readonly tokens: number;
  /** Of the tokens whose price is known. null if there are none. */
  readonly costUsd: number | null;
  /** Present if the price of some tokens is unknown. */
  readonly isCostPartial?: true;
  readonly lastAt: number;
}

export interface Stats {
  readonly enabled: boolean;
  readonly now: number;
  readonly today: TodayStats;
  /** Oldest first, today last; a day without events is there too. */
  readonly days: readonly DayStats[];
  /** Over all days, the longest wait first. */
  readonly projects: readonly ProjectStats[];
  /** The one that was worked on last first. Absent if no session worked on any. */
  readonly ports?: readonly PortStats[];
  readonly problem?: string;
}

export type SpanState = "working" | "waiting" | "ready" | "failed";

export interface Span {
  readonly state: SpanState;
  readonly from: number;
  /** null if it lasts. */
  readonly to: number | null;
}

/** What the history has of a session since some time, for a machine that was not linked then. */
export interface PastSession {
  readonly agent: string;
  readonly sessionId: string;
  readonly project: string | null;
  readonly cwd: string | null;
  readonly branch: string | null;
  readonly title: string | null;
  readonly model: string | null;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly endedAt: number | null;
  readonly attended: boolean | null;
  /** All that it has used so far. null if unknown. */
  readonly tokens: number | null;
  /** null if a price is unknown. */
  readonly costMicros: number | null;
  /** From the oldest to the newest. */
  readonly asks: readonly PastAsk[];
  readonly spans: readonly Span[];
}

export interface PastAsk {
  readonly request: string | null;
  readonly kind: AskKind;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly summary: string;
  readonly openedAt: number;
  /** null while it is open. */
  readonly closedAt: number | null;
  readonly waitedMs: number | null;
  readonly how: AskEnding | null;
  /** "terminal", "menu", …; null if nobody answered. */
  readonly place: string | null;
  /** What was replied, the message of a denial. */
  readonly detail: string | null;
}

export interface Lane {
  readonly key: string;
  readonly project: string | null;
  readonly branch: string | null;
  readonly title: string | null;
  /** The group that the session is in now. "ended" if beckon does not list it any more. */
  readonly group: SessionView["group"];
  /** Of the session's process: equal for sessions that followed each other there. null if unknown. */
  readonly fingerprint: string | null;
  /** In this range. */
  readonly waitedMs: number;
  readonly spans: readonly Span[];
}

export interface Lanes {
  readonly enabled: boolean;
  readonly from: number;
  readonly to: number;
  readonly lanes: readonly Lane[];
  /** When at least one session waited: overlapping waits count once. */
  readonly anyWaiting: readonly Pick<Span, "from" | "to">[];
  readonly problem?: string;
}

/** GET /api/moment: every session as it was then. */
export interface PastMoment {
  /** False if the user has turned the history off. */
  readonly enabled: boolean;
  readonly at: number;
  readonly now: number;
  /** When the first moment is that can be shown. null if there is none yet. */
  readonly from: number | null;
  /** False if nothing is known of that moment. */
  readonly isKnown: boolean;
  /** beckon did not run then: the sessions are as it knew them when it stopped. Absent if it ran. */
  readonly stoppedAt?: number;
  /** The quiet mode that was on. Absent if none was. */
  readonly quiet?: Quiet;
  /** As GET /api/sessions listed them, but nothing can be answered. */
  readonly sessions: readonly SessionView[];
  readonly ends: readonly PastAskEnd[];
  /** Absent if the app has not looked for them. */
  readonly alerts?: readonly PastAlert[];
  readonly problem?: string;
}

/** A subagent, or the main agent of a session. Scripts read its field names, so they stay. */
export interface RuntimeAgent {
  readonly key: string;
  readonly agent_id: string;
  readonly name: string;
  readonly employment_type: "contractor";
  readonly source: "runtime_agent";
  /** Equal for equal agent ids. */
  readonly avatar_seed: number;
  readonly state: "running" | "ended";
  readonly detail: string | null;
}

/** What is recorded of a session whose project has the work guard on, or that works on a port. */
const sessionEventTypes = [
  "session_start",
  "session_end",
  "port_start",
  "port_end",
  "user_request",
  "untracked_edit",
  "escalation",
  "decision",
  "file_edit",
  "build_failed",
  "test_failed",
  "compact",
  "context_loaded",
  "context_overflow",
  "agent_activated",
  "agent_deactivated",
  "dependency_resolved",
  "quality_warning",
  "checkpoint_created",
] as const;

export type SessionEventType = (typeof sessionEventTypes)[number];

/** Scripts read its field names, so they stay. */
export interface SessionEvent {
  readonly id: string;
  /** Empty for a port that no session worked on. */
  readonly session_id: string;
  readonly port_id?: string;
  readonly event_type: SessionEventType;
  readonly summary: string;
  readonly details?: object;
  readonly severity: "info" | "warn" | "error";
  readonly created_at: string;
}

/** What the work guard says about a hook's event. Scripts read its field names, so they stay. */
export interface HookOutput {
  /** "ask": the user decides, in the agent's own dialog. An agent without one for this gets `additional_context` only. */
  readonly decision: "approve" | "ask" | "block";
  /** Why, and the commands that help. Empty if it is approved. */
  readonly reason: string;
  readonly context: {
    readonly active_port: PortSummary | null;
    readonly loaded_docs: readonly { readonly path: string; readonly type: string }[];
    /** The session's state, or "unknown". */
    readonly session_state: string;
    /** Tokens in the model's context. 0 if unknown, like the budget. */
    readonly tokens_used: number;
    readonly token_budget: number;
  };
  readonly notifications: readonly {
    readonly level: "info" | "warn" | "error";
    readonly title: string;
    readonly message: string;
    /** A command that helps. */
    readonly action?: string;
  }[];
  /** Commands. */
  readonly suggestions: readonly string[];
  readonly metadata: {
    readonly mode: "strict" | "warn" | "off";
    readonly project: string | null;
    readonly session_id: string | null;
    readonly fingerprint: string | null;
    /** What the agent adds to the model's context, and what it shows to the user. Absent if the settings do not ask for it. */
    readonly additional_context?: string;
    readonly system_message?: string;
  };
}

export interface PortSummary {
  readonly id: string;
  readonly title: string;
  readonly status: "open" | "running" | "ended";
  /** Ports that it depends on and that have not ended. */
  readonly open_dependencies: readonly string[];
}

/** GET /api/ports: a named piece of work in a project. */
export interface PortView {
  /** The project's folder. */
  readonly project: string;
  readonly id: string;
  readonly title: string;
  readonly status: PortSummary["status"];
  readonly dependsOn: readonly string[];
  /** Those that have not ended. */
  readonly openDependencies: readonly string[];
  /** It was started for every session of the project without a port of its own. */
  readonly isForEverybody: boolean;
  readonly createdAt: number;
  /** null while it has not ended. */
  readonly endedAt: number | null;
  /** null if there is none. */
  readonly note: string | null;
}

/** GET /api/events: the data of each event, by its name. */
export interface StreamEvents {
  /** The whole state. Sent first, after what the client has missed. */
  readonly snapshot: {
    readonly now: number;
    readonly version: string;
    readonly quiet: Quiet | null;
    readonly sessions: readonly SessionView[];
  };
  readonly "session-appeared": { readonly session: SessionView };
  readonly "session-updated": { readonly session: SessionView };
  readonly "session-departed": { readonly key: string };
  readonly "ask-opened": { readonly key: string; readonly ask: AskView };
  readonly "ask-closed": {
    readonly key: string;
    readonly ask: AskView;
    readonly how: AskEnding;
    readonly where: string | null;
    readonly waitedMs: number;
  };
  readonly "agent-appeared": RuntimeAgent;
  readonly "agent-update": RuntimeAgent;
  readonly "agent-departed": RuntimeAgent;
  readonly "session.event": SessionEvent;
}

export type StreamMessage = {
  readonly [Name in keyof StreamEvents]: { readonly event: Name; readonly data: StreamEvents[Name] };
}[keyof StreamEvents];

/** As it is sent: the id is the cursor for Last-Event-ID. */
export type StreamEvent = StreamMessage & { readonly id: string };

/** Some agent of a machine waited for its user. `to` is null while one does. */
export interface TeamWait {
  readonly from: number;
  readonly to: number | null;
}

export interface TeamMachine {
  readonly name: string;
  readonly isThis: boolean;
  /** It says that it is there. */
  readonly isThere: boolean;
  /** When it was last heard of, if it is not there; null if it never was since beckon started here. */
  readonly heardAt: number | null;
  /** How many agents wait for its user now, and since when the first of them does. */
  readonly waiting: number;
  readonly since: number | null;
  /** What that one is about, as far as its user shares it. */
  readonly project: string | null;
  readonly tool: string | null;
  readonly working: number;
  /** Today's, as far as they were seen here. */
  readonly waits: readonly TeamWait[];
}

export interface TeamPerson {
  readonly name: string;
  readonly isYou: boolean;
  readonly machines: readonly TeamMachine[];
}

/** A team fleet: who is blocked since when. Nobody can answer for somebody else. */
export interface TeamView {
  readonly name: string;
  /** What this machine shows the others: "minimal" or "summary", and in words. */
  readonly share: string;
  readonly shareWords: string;
  /** A session of this machine as the others get it, in JSON; null if there is none. */
  readonly example: string | null;
  /** Since when this machine follows the others. */
  readonly followedAt: number;
  readonly people: readonly TeamPerson[];
}

/** A prompt that the user has written for a session, as the API sends it. */
export interface PromptView {
  readonly id: string;
  /** The session's key. */
  readonly session: string;
  readonly text: string;
  readonly state: "queued" | "sent" | "delivered" | "not taken" | "unknown";
  readonly since: number;
  /** Why it waits, or was not taken. */
  readonly says: string;
}

export interface SessionPrompts {
  readonly prompts: readonly PromptView[];
  /** Why the session takes no prompt from here; null if it does. */
  readonly obstacle: string | null;
  /** Where the text goes, or what comes before it, for users: "Arrives as a message from @beckon". null if it takes none. */
  readonly way: string | null;
}

export interface CountedText {
  readonly text: string;
  readonly count: number;
}

/** What a rule would have done with what the user was asked before. */
export interface BackTest {
  /** Asks that it was tried on, and since when. */
  readonly asks: number;
  readonly since: number | null;
  readonly answered: number;
  /** Of those that it would have answered. */
  readonly allowedByYou: number;
  readonly deniedByYou: number;
  /** How long those waited for the user. */
  readonly savedMs: number;
  readonly medianMs: number;
  readonly longest: { readonly ms: number; readonly at: number } | null;
  readonly would: readonly CountedText[];
  /** Much like it, and still asked. */
  readonly stillAsks: readonly (CountedText & { readonly why: string })[];
}

export interface RuleSuggestion {
  readonly agent: string;
  /** The project's folder. */
  readonly project: string;
  readonly text: string;
  readonly test: BackTest;
}

export interface RuleUse {
  /** In the last 30 days. */
  readonly count: number;
  readonly lastAt: number;
}

export interface RuleView {
  readonly name: string;
  readonly agent: string;
  /** The project's folder. */
  readonly project: string;
  readonly text: string;
  readonly madeAt: number;
  readonly madeFrom: "suggestion" | "text";
  /** null if it was never used, as far as the history goes. */
  readonly use: RuleUse | null;
}

/** A session that the user trusts for a while. */
export interface TrustView {
  /** The session's key. */
  readonly session: string;
  readonly project: string | null;
  readonly until: number;
  readonly since: number;
  readonly uses: number;
}

export interface RulesReport {
  readonly rules: readonly RuleView[];
  /** The rules of `answering.autoAllow`. */
  readonly settings: readonly Pick<RuleView, "text" | "project" | "use">[];
  readonly trusts: readonly TrustView[];
  /** Asks of the history that were looked at, and since when. */
  readonly asks: number;
  readonly since: number | null;
  readonly suggestions: readonly RuleSuggestion[];
  readonly problems: readonly string[];
}
