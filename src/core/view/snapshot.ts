/** What others see of a session: the API's, the command line's and the desktop's one view. */
import { createHash } from "node:crypto";
import type { Config } from "../config/config.ts";
import type { Preferences } from "../config/preferences.ts";
import type { AskDetails } from "../session/ask-details.ts";
import type { AskKind, Moment, Place, Tokens } from "../session/event.ts";
import {
  type ActivityPhase,
  phaseOf,
  type SessionState,
  type Status,
  stateOf,
  statusOf,
} from "../session/phase.ts";
import { hasDied, isInterrupted, isVisible, projectOf, type Session } from "../session/session.ts";
import { settle } from "../session/settle.ts";
import { createAges } from "./ages.ts";
import { formatSilence, type Group, groupSession } from "./groups.ts";

export interface AskSnapshot {
  readonly id: string;
  readonly kind: AskKind;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly summary: string;
  /** Those of the first question. */
  readonly options: readonly string[];
  /** How many questions it asks at once, where more than one. */
  readonly questions?: number;
  readonly openedAt: number;
  /** A person can answer it from here. */
  readonly answerable: boolean;
  /** What an answer has to name; there while it is answerable. */
  readonly answerId?: string;
  /** In words, where it is answerable and could do harm. */
  readonly dangers?: readonly string[];
  /** All that is asked, where it is answerable; else why it is not. Only of one session at a time. */
  readonly asked?: AskDetails;
  readonly why?: string;
}

export interface SessionSnapshot {
  readonly provider: string;
  readonly sessionId: string;
  readonly state: SessionState;
  /** The group under which users see it. */
  readonly group: Group;
  readonly activityPhase: ActivityPhase | null;
  readonly status: Status;
  /** What its last turn ended with, where that was an error. */
  readonly error: string | null;
  /** Its process went away in the middle of a turn. */
  readonly died: boolean;
  /** Its last turn was broken off: `lastResponse`, if any, is older than `lastPrompt`. */
  readonly interrupted?: true;
  readonly asks: readonly AskSnapshot[];
  readonly children: readonly {
    readonly agentId: string;
    readonly type: string;
    readonly state: "running" | "ended";
    readonly detail: string | null;
    readonly startedAt: number;
  }[];
  readonly cwd: string | null;
  readonly project: string | null;
  readonly gitBranch: string | null;
  readonly title: string | null;
  readonly model: string | null;
  readonly tokens: Tokens | null;
  readonly turnCount: number;
  readonly lastPrompt: string | null;
  readonly lastResponse: string | null;
  readonly currentSkill: string | null;
  readonly place: Place | null;
  readonly fingerprint: string | null;
  readonly attended: boolean | null;
  /** Why no alert is shown for it: "muted", "snoozed until 14:20", "unattended", "dismissed". Absent if alerts are shown. */
  readonly silence?: string;
  /** Since when it has been in this phase. */
  readonly since: number;
  readonly startedAt: number;
  readonly lastEventAt: number;
}

export interface SnapshotContext {
  readonly preferences: Preferences;
  readonly config: Config;
  /** Formats a wall time as local time; `now` decides whether the day is named. */
  readonly formatTime: (at: number, now: number) => string;
}

export function createSnapshot(stored: Session, now: Moment, context: SnapshotContext): SessionSnapshot {
  const session = settle(stored, now.t);
  const { preferences, config, formatTime } = context;
  const { group, silence } = groupSession(session, { preferences, config, ages: createAges(now) });
  const asks = session.asks.filter(isVisible);
  return {
    provider: session.agent,
    sessionId: session.sessionId,
    state: stateOf(session, now),
    group,
    activityPhase: phaseOf(session, now),
    status: statusOf(session, now),
    error: session.turn.error,
    died: hasDied(session),
    ...(isInterrupted(session) ? { interrupted: true } : {}),
    asks: asks.map((ask) => ({
      id: ask.id,
      kind: ask.kind,
      agentId: ask.agentId,
      tool: ask.tool,
      summary: ask.summary,
      options: ask.options,
      ...(ask.questions === undefined ? {} : { questions: ask.questions }),
      openedAt: ask.at,
      answerable: false,
    })),
    children: session.children.map((child) => ({
      agentId: child.agentId,
      type: child.type,
      state: child.running ? "running" : "ended",
      detail: child.detail,
      startedAt: child.startedAt,
    })),
    cwd: session.cwd,
    project: projectOf(session),
    gitBranch: session.gitBranch,
    title: session.title,
    model: session.model,
    tokens: session.tokens,
    turnCount: session.turnCount,
    lastPrompt: session.lastPrompt,
    lastResponse: session.lastResponse,
    currentSkill: session.currentSkill,
    place: session.place,
    fingerprint: fingerprint(session),
    attended: session.attended,
    ...(silence === null ? {} : { silence: formatSilence(silence, (at) => formatTime(at, now.at)) }),
    since: sinceOf(session),
    startedAt: session.startedAt,
    lastEventAt: session.last.at,
  };
}

function sinceOf(session: Session): number {
  if (session.ended) return session.ended.at;
  const blocking = session.asks.find((ask) => ask.kind !== "idle" && isVisible(ask));
  return blocking?.at ?? session.turn.at;
}

/** Two terminals in one folder differ; the same terminal is the same after a restart of beckon. */
function fingerprint(session: Session): string | null {
  const { place, firstCwd } = session;
  if (place?.pid == null) return null;
  return createHash("sha256")
    .update(`${firstCwd ?? ""}:${place.tty ?? ""}:${place.pid}:${place.procStart ?? ""}`)
    .digest("hex")
    .slice(0, 16);
}
