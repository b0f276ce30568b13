/** The alerts that should be shown now, as a function of state and time. Nothing says "show this" or "withdraw that". */
import type { Config } from "../../config/config.ts";
import { findMuteScope, type Preferences } from "../../config/preferences.ts";
import { computeQuietHours, findNextMidnight, type LocalTime } from "../../config/quiet.ts";
import { type FindAskDetails, withAnsweringEnabled } from "../../session/ask-details.ts";
import type { Moment } from "../../session/event.ts";
import { elapsedMs } from "../../session/phase.ts";
import { isProbe } from "../../session/probe.ts";
import { projectOf, type Session } from "../../session/session.ts";
import { sessionKeyOf } from "../../session/session-ref.ts";
import { settle } from "../../session/settle.ts";
import { toSingleLine } from "../../text/text.ts";
import { formatSessionName, namePartsOf, nameSessions, type SessionName } from "../session-names.ts";
import { isUnattended } from "../unattended.ts";
import type { Alert, AlertButton } from "../view.ts";
import { type AlertCause, type AlertCauses, findCauses } from "./causes.ts";
import { type AlertKind, alertKinds } from "./kinds.ts";
import { findLimitCauses, type LimitContext } from "./limits.ts";
import { formatListAlert } from "./text.ts";

export interface AlertsInput {
  readonly sessions: readonly Session[];
  readonly preferences: Preferences;
  readonly config: Config;
  readonly now: Moment & LocalTime;
  /** Formats a wall time as local time: `14:20`, with its day if it is not today. */
  readonly formatTime: (at: number) => string;
  /** Wall time at which beckon started. */
  readonly startedAt: number;
  /** Sessions, `agent:sessionId`, whose pane the user is looking at. */
  readonly visibleSessions: ReadonlySet<string>;
  /** Keys of alerts whose pane the user looked at a moment ago. */
  readonly recentlySeen: ReadonlySet<string>;
  /** The desktop is set to "do not disturb". */
  readonly doNotDisturb: boolean;
  /** The other machine at which the user is, and which shows the alerts of this session; null if they are here, or not known. */
  readonly findUserElsewhere: (session: Session) => string | null;
  readonly findDetails: FindAskDetails;
  /** The user's home folder; empty if unknown. */
  readonly home: string;
  /** Absent where limits cause no alerts. */
  readonly limits?: Pick<LimitContext, "crossings" | "agentName">;
}

export interface ComputedAlerts {
  readonly show: readonly Alert[];
  /** What is not shown, and the reason. `isPause`: only for a moment, so it is not worth a line in the log. */
  readonly suppressed: readonly {
    readonly key: string;
    readonly reason: string;
    readonly isPause: boolean;
  }[];
  /** Keys of ends of turns that the user sees happen. To be dismissed, or they would alert as soon as the user looks away. */
  readonly seen: readonly string[];
  /** Wall time at which this may change without an event; null if it does not. */
  readonly nextChange: number | null;
}

export function computeAlerts(input: AlertsInput): ComputedAlerts {
  const { now } = input;
  const { sessions, causes, judged, changes } = judgeCauses(input);
  const shown = judged.filter(({ suppression }) => suppression === null).map(({ cause }) => cause);
  const groups = groupCauses(shown);
  const names = nameForAlerts(groups.flatMap(listNamedSessions), sessions);
  const namesAgents = groups.length > 0 && hasSeveralAgents(sessions);
  // After midnight, a time of today is shown with its day.
  const midnight = groups.length > 0 ? [findNextMidnight(now)] : [];
  return {
    show: groups.map((group) => createAlert(group, { names, namesAgents }, input)),
    suppressed: judged.flatMap(({ cause: { key }, suppression }) =>
      suppression ? [{ key, reason: suppression.reason, isPause: suppression.isPause === true }] : [],
    ),
    seen: causes.filter((cause) => isSeen(cause, input)).map(({ key }) => key),
    nextChange: findEarliest([...changes, ...midnight], now.at),
  };
}

/** One cause for an alert, for a place that does not group them. */
export interface JudgedCause extends AlertCause {
  readonly name: SessionName;
  /** It exists, but the user does not want to see it now. */
  readonly isSuppressed: boolean;
}

export interface JudgedCauses {
  /** Oldest first. */
  readonly causes: readonly JudgedCause[];
  /** Wall time at which this may change without an event; null if it does not. */
  readonly nextChange: number | null;
  /** Sessions that may get a cause by then, although no event follows. */
  readonly unsettled: readonly Session[];
}

/** Every cause of these sessions with an alert of its own, also those that are suppressed. */
export function computeCauses(input: AlertsInput): JudgedCauses {
  const { sessions, unsettled, causes, judged, changes } = judgeCauses(input);
  const names = nameForAlerts(
    causes.map(({ session }) => session),
    sessions,
  );
  return {
    unsettled,
    causes: judged.map(({ cause, suppression }) => ({
      ...cause,
      name: names.get(sessionKeyOf(cause.session)) ?? unnamed,
      isSuppressed: suppression !== null,
    })),
    nextChange: findEarliest(changes, input.now.at),
  };
}

function judgeCauses(input: AlertsInput) {
  const { now, config } = input;
  const context = {
    now,
    startedAt: input.startedAt,
    enabled: config.alerts,
    findDetails: withAnsweringEnabled(input.findDetails, config),
    home: input.home,
  };
  const sessions = input.sessions.map((session) => settle(session, now.t));
  const perSession = sessions.map((session) => findCauses(session, context));
  const limits = input.limits?.crossings.length
    ? findLimitCauses(sessions, { ...input.limits, now, formatTime: input.formatTime })
    : noCauses;
  const causes = [...perSession.flatMap((found) => found.causes), ...limits.causes].sort(compareByAge);
  const judged = causes.map((cause) => ({ cause, suppression: findSuppression(cause, input) }));
  const quiet = computeQuietHours(config.quietHours, now);
  const changes = [
    ...[...perSession, limits].flatMap(({ recheckMs }) => recheckMs.map((ms) => now.at + ms)),
    ...causes.flatMap(({ leftMs }) => (leftMs === null ? [] : [now.at + leftMs])),
    ...judged.flatMap(({ suppression }) => suppression?.until ?? []),
    ...(quiet && causes.length > 0 ? [quiet.checkAt] : []),
  ];
  const unsettled = sessions.filter((_, n) => (perSession[n]?.recheckMs.length ?? 0) > 0);
  return { sessions, unsettled, causes, judged, changes };
}

const noCauses: AlertCauses = { causes: [], recheckMs: [] };
const unnamed: SessionName = { project: "A session", difference: "" };

function compareByAge(a: AlertCause, b: AlertCause): number {
  return a.since.at - b.since.at || (a.key < b.key ? -1 : 1);
}

interface Suppression {
  readonly reason: string;
  /** Wall time at which to check again; null if only the user or an event changes it. */
  readonly until: number | null;
  /** It ends by itself in a moment. */
  readonly isPause?: boolean;
}

const suppress = (reason: string, until: number | null = null): Suppression => ({ reason, until });

/** Returns null if the alert should be shown. */
function findSuppression({ key, kind, session, since }: AlertCause, input: AlertsInput): Suppression | null {
  const { preferences, config, now, formatTime } = input;
  const sessionKey = sessionKeyOf(session);
  const { quietUntil } = preferences;
  const muteScope = findMuteScope(session, preferences, config);
  const snooze = preferences.snoozed.find((one) => one.session === sessionKey && one.until > now.at);
  const quiet = computeQuietHours(config.quietHours, now);
  // The user who runs a test looks at it and wants to see it at once.
  const isTest = isProbe(session);
  const isShownWhileLooking = isTest || isOutOfSight(kind) || config.alerts.whileLooking;
  const graceMs = kind === "blocked" && !isTest ? config.alerts.graceMs - elapsedMs(since, now) : 0;

  // A finished turn is a cause only if the user wants it: all of them, or the long ones. So is an edit without a port, and a limit.
  const isOptional = kind === "finished" || kind === "untracked" || kind === "limit";
  if (!isOptional && !config.alerts[kind]) return suppress(`alerts.${kind} is off in the settings`);
  if (isUnattended(session, config)) return suppress("the session is unattended");
  if (preferences.dismissed.includes(key)) return suppress("you have seen or dismissed it");
  if (muteScope === "session") return suppress("you muted this session");
  if (muteScope === "project") {
    return suppress(`the project ${toSingleLine(projectOf(session) ?? "")} is muted`);
  }
  if (snooze) return suppress(`you snoozed it until ${formatTime(snooze.until)}`, snooze.until);
  if (quietUntil === Number.MAX_SAFE_INTEGER) return suppress("quiet until you turn it off");
  if (quietUntil !== null && quietUntil > now.at) {
    return suppress(`quiet until ${formatTime(quietUntil)}`, quietUntil);
  }
  if (quiet?.isOn) return suppress(`quiet hours until ${formatTime(quiet.changesAt)}`, quiet.checkAt);
  if (input.doNotDisturb) return suppress("your desktop is set to do not disturb");
  const elsewhere = isTest ? null : input.findUserElsewhere(session);
  if (elsewhere !== null) return suppress(`you are at ${toSingleLine(elsewhere)}, which shows it`);
  if (!isShownWhileLooking && input.visibleSessions.has(sessionKey)) return suppress("you are looking at it");
  if (!isShownWhileLooking && input.recentlySeen.has(key)) return suppress("you have just looked at it");
  if (graceMs > 0) {
    const reason = `you have ${config.alerts.graceMs} ms to answer in the terminal`;
    return { reason, until: now.at + graceMs, isPause: true };
  }
  return null;
}

/** A pane does not show how much of a limit is used. */
const isOutOfSight = (kind: AlertKind): boolean => kind === "limit";

/** A user who sees a turn end knows it. A dialog that they looked at and left open still waits for them. */
function isSeen({ kind, key, session }: AlertCause, input: AlertsInput): boolean {
  const { visibleSessions, config, preferences } = input;
  const isLooking = !config.alerts.whileLooking && visibleSessions.has(sessionKeyOf(session));
  return isLooking && kind !== "blocked" && !isOutOfSight(kind) && !preferences.dismissed.includes(key);
}

/** Names are compared with each other, so only so many sessions are taken into account. */
const maxSiblings = 50;

/** Names sessions as the menu does. Live sessions of the same projects count, so that the names distinguish them. */
function nameForAlerts(
  named: readonly Session[],
  sessions: readonly Session[],
): ReadonlyMap<string, SessionName> {
  if (named.length === 0) return new Map();
  const wanted = new Set(named);
  const projects = new Set([...wanted].map(projectOf));
  const siblings = sessions.filter((s) => !s.ended && !wanted.has(s) && projects.has(projectOf(s)));
  const all = [...wanted, ...siblings.slice(0, maxSiblings)];
  return nameSessions(all.map(namePartsOf));
}

/** Ended sessions count too: the end of an agent's last session must not change the text of an alert. */
const hasSeveralAgents = (sessions: readonly Session[]): boolean =>
  sessions.some(({ agent }) => agent !== sessions[0]?.agent);

function findEarliest(times: readonly number[], now: number): number | null {
  let first: number | null = null;
  for (const at of times) if (at > now && (first === null || at < first)) first = Math.ceil(at);
  return first;
}

/**
 * Nobody can handle more blocked sessions one by one. The oldest keep alerts of their own, which can be clicked; the others
 * share one. When an ask is answered, the next session gets an alert of its own.
 */
const maxBlocked = 3;
/** If the network or the agent's service is down, all sessions fail with the same error. */
const maxFailed = 3;
const maxQuiet = 1;
/** Two quotas of an account can be nearly used up at once. */
const maxLimit = 2;
const maxListed = 5;

/** Opens the list of sessions. */
const showListButton: AlertButton = { id: "list", label: "Show", action: { do: "list" }, needsAll: false };

/** The causes that share one alert. */
interface AlertGroup {
  readonly key: string;
  readonly first: AlertCause;
  readonly causes: readonly AlertCause[];
  /** It has all causes of its kind: "3 sessions", not "3 more". */
  readonly isAll: boolean;
}

/** `causes` must be sorted, oldest first. */
function groupCauses(causes: readonly AlertCause[]): readonly AlertGroup[] {
  // A test always has an alert of its own.
  const tests = causes.filter(({ session }) => isProbe(session));
  const real = tests.length === 0 ? causes : causes.filter(({ session }) => !isProbe(session));
  const ofKind = (...kinds: AlertKind[]) => real.filter(({ kind }) => kinds.includes(kind));
  return [
    ...limitAlerts(tests, tests.length, ""),
    // From the fourth on, a count: the first three can be answered meanwhile.
    ...limitAlerts(ofKind("blocked"), maxBlocked, "more:blocked"),
    ...limitAlerts(ofKind("failed"), maxFailed, "more:failed", maxFailed - 1),
    // The newest first: it is the news. The other kinds have the one that waits longest first.
    ...limitAlerts(ofKind("idle", "finished").toReversed(), maxQuiet, "more:done", maxQuiet - 1),
    ...limitAlerts(ofKind("limit").toReversed(), maxLimit, "more:limit", maxLimit - 1),
    ...limitAlerts(ofKind("untracked").toReversed(), maxQuiet, "more:untracked", maxQuiet - 1),
  ];
}

/** An alert each for up to `max` causes. If there are more: one each for `maxIfMore` of them, and one for the rest. */
function limitAlerts(
  causes: readonly AlertCause[],
  max: number,
  sharedKey: string,
  maxIfMore: number = max,
): readonly AlertGroup[] {
  const single = causes.length > max ? causes.slice(0, maxIfMore) : causes;
  const groups = single.map((cause): AlertGroup => {
    return { key: cause.key, first: cause, causes: [cause], isAll: false };
  });
  const rest = causes.slice(single.length);
  const [first] = rest;
  return first ? [...groups, { key: sharedKey, first, causes: rest, isAll: single.length === 0 }] : groups;
}

/** The sessions that the alert of a group names. */
function listNamedSessions({ causes }: AlertGroup): readonly Session[] {
  return causes.slice(0, maxListed).map(({ session }) => session);
}

function createAlert(
  { key, first, causes, isAll }: AlertGroup,
  { names, namesAgents }: { readonly names: ReadonlyMap<string, SessionName>; readonly namesAgents: boolean },
  { config, formatTime }: AlertsInput,
): Alert {
  const nameOf = ({ session }: AlertCause): SessionName => ({
    ...(names.get(sessionKeyOf(session)) ?? unnamed),
    ...(namesAgents ? { agent: session.agent } : {}),
  });
  const kind = causes.some((cause) => cause.kind === "idle") ? "idle" : first.kind;
  const isSingle = key === first.key;
  const items = isSingle
    ? []
    : causes.slice(0, maxListed).map((cause) => cause.createItem(formatSessionName(nameOf(cause))));
  const when = formatTime(first.since.at);
  const since = causes.length === 1 ? `, since ${when}` : `, the longest since ${when}`;
  const longest = kind === "blocked" ? since : "";
  const { urgency, predicates } = alertKinds[kind];
  const [one, several] = predicates;
  const subject = isAll ? "sessions" : "more";
  const title = `${causes.length} ${subject} ${causes.length === 1 ? one : several}${longest}`;
  const isLoud = (kind === "blocked" || kind === "failed") && !isProbe(first.session);
  return {
    key,
    session: sessionKeyOf(first.session),
    kind,
    urgency,
    sound: config.alerts.sound && isLoud,
    ...(isSingle ? first.formatText(nameOf(first), when) : formatListAlert(title, items, causes.length)),
    since: first.since.at,
    ...(isSingle ? {} : { buttons: [showListButton], covers: causes.map((cause) => cause.key) }),
  };
}
