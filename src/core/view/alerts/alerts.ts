/** The alerts that should be on the screen, of the state and the time. Nothing says "now show one" or "take it back". */
import type { Config } from "../../config/config.ts";
import { findMuteScope, type Preferences } from "../../config/preferences.ts";
import { computeQuietHours, type LocalTime, nextMidnight } from "../../config/quiet.ts";
import { type FindAskDetails, withAnsweringEnabled } from "../../session/ask-details.ts";
import type { Moment } from "../../session/event.ts";
import { sessionKeyOf } from "../../session/keys.ts";
import { elapsedMs } from "../../session/phase.ts";
import { isProbe } from "../../session/probe.ts";
import { projectOf, type Session } from "../../session/session.ts";
import { settle } from "../../session/settle.ts";
import { toSingleLine } from "../../text/text.ts";
import { nameSessions } from "../session-names.ts";
import type { Alert, AlertKind } from "../view.ts";
import { type AlertCause, findCauses } from "./causes.ts";
import { formatListAlert } from "./text.ts";

export interface AlertsInput {
  readonly sessions: readonly Session[];
  readonly preferences: Preferences;
  readonly config: Config;
  readonly now: Moment & LocalTime;
  /** Local time, for people: `14:20`, or with its day where it is not today. */
  readonly formatTime: (at: number) => string;
  /** Wall time since which this run of beckon has watched: what it found dead then may have been so for hours. */
  readonly startedAt: number;
  /** Sessions, `agent:sessionId`, whose very pane the person looks at. */
  readonly visibleSessions: ReadonlySet<string>;
  /** Keys of alerts whose pane they looked at a moment ago: they know of these, and of nothing that came since. */
  readonly recentlySeen: ReadonlySet<string>;
  /** The person has asked their desktop for silence. */
  readonly doNotDisturb: boolean;
  readonly findDetails: FindAskDetails;
  /** The person's own folder; empty: not known. */
  readonly home: string;
}

export interface Alerts {
  readonly show: readonly Alert[];
  /** What would show but for the reason given, in words for a log. */
  readonly suppressed: readonly { readonly key: string; readonly reason: string }[];
  /** Ends that the person sees happen: to be dismissed, or they would be told of them as soon as they look away. */
  readonly seen: readonly string[];
  /** Wall time at which this may become another though nothing happens; null: never. */
  readonly nextChange: number | null;
}

export function computeAlerts(input: AlertsInput): Alerts {
  const { now, config } = input;
  const watch = {
    now,
    upSince: input.startedAt,
    on: config.alerts,
    asked: withAnsweringEnabled(input.findDetails, config),
    home: input.home,
  };
  const sessions = input.sessions.map((session) => settle(session, now.t));
  const told = sessions.map((session) => findCauses(session, watch));
  const causes = told.flatMap((one) => one.causes).sort(bySince);
  const judged = causes.map((cause) => ({ cause, hold: holdOf(cause, input) }));
  const groups = groupCauses(judged.filter(({ hold }) => hold === null).map(({ cause }) => cause));
  const names = namesFor(groups.flatMap(listNamedSessions), sessions);
  const quiet = computeQuietHours(config.quietHours, now);

  const times = [
    ...told.flatMap(({ againMs }) => againMs.map((ms) => now.at + ms)),
    ...causes.flatMap(({ leftMs }) => (leftMs === null ? [] : [now.at + leftMs])),
    ...judged.flatMap(({ hold }) => hold?.until ?? []),
    ...(quiet && causes.length > 0 ? [quiet.checkAt] : []),
    // What began today began on a day with a name, from then on.
    ...(groups.length > 0 ? [nextMidnight(now)] : []),
  ];
  return {
    show: groups.map((group) =>
      createAlert(group, names, { sound: config.alerts.sound, clock: input.formatTime }),
    ),
    suppressed: judged.flatMap(({ cause, hold }) => (hold ? [{ key: cause.key, reason: hold.why }] : [])),
    seen: causes.filter((cause) => isSeen(cause, input)).map(({ key }) => key),
    nextChange: earliest(times, now.at),
  };
}

function bySince(a: AlertCause, b: AlertCause): number {
  return a.since.at - b.since.at || (a.key < b.key ? -1 : 1);
}

interface Hold {
  readonly why: string;
  /** Wall time at which it should be judged anew; null: only the person changes it. */
  readonly until: number | null;
}

const stays = (why: string): Hold => ({ why, until: null });

/** null: nothing speaks against it. */
function holdOf({ key, kind, session, since }: AlertCause, input: AlertsInput): Hold | null {
  const { preferences, config, now, formatTime: clock } = input;
  const own = sessionKeyOf(session);
  const muted = findMuteScope(session, preferences, config);
  const snooze = preferences.snoozed.find((s) => s.session === own && s.until > now.at);
  const quiet = computeQuietHours(config.quietHours, now);
  // Who runs a test looks at it, and wants to see it at once.
  const isTest = isProbe(session);
  const mayLook = isTest || config.alerts.whileLooking;
  const graceMs = kind === "blocked" && !isTest ? config.alerts.graceMs - elapsedMs(since, now) : 0;

  if (!config.alerts[kind]) return stays(`alerts.${kind} is off in the settings`);
  if (session.attended === false && !config.alerts.unattended) return stays("nobody sits at this session");
  if (preferences.dismissed.includes(key)) return stays("you have seen it or sent it away");
  if (muted === "session") return stays("you muted this session");
  if (muted === "project") return stays(`the project ${toSingleLine(projectOf(session) ?? "")} is muted`);
  if (snooze) return { why: `you snoozed it until ${clock(snooze.until)}`, until: snooze.until };
  if (preferences.quietUntil !== null && preferences.quietUntil > now.at) {
    if (preferences.quietUntil === Number.MAX_SAFE_INTEGER) return stays("quiet until you turn it off");
    return { why: `quiet until ${clock(preferences.quietUntil)}`, until: preferences.quietUntil };
  }
  if (quiet?.isOn) return { why: `quiet hours until ${clock(quiet.changesAt)}`, until: quiet.checkAt };
  if (input.doNotDisturb) return stays("your desktop is set to do not disturb");
  if (!mayLook && input.visibleSessions.has(own)) return stays("you are looking at it");
  if (!mayLook && input.recentlySeen.has(key)) return stays("you have just looked at it");
  if (graceMs > 0) {
    return { why: `you have ${config.alerts.graceMs} ms to answer in the terminal`, until: now.at + graceMs };
  }
  return null;
}

/** Who sees a turn end knows it. A dialog that somebody looked at and left open still waits for them. */
function isSeen(
  { kind, key, session }: AlertCause,
  { visibleSessions: looking, config, preferences }: AlertsInput,
): boolean {
  const looks = !config.alerts.whileLooking && looking.has(sessionKeyOf(session));
  return looks && kind !== "blocked" && !preferences.dismissed.includes(key);
}

/** Each is compared with all others. */
const maxSiblings = 50;

/** As the menu calls them: by project, and by what tells two that live in one project apart. */
function namesFor(named: readonly Session[], sessions: readonly Session[]): ReadonlyMap<string, string> {
  if (named.length === 0) return new Map();
  const told = new Set(named);
  const projects = new Set([...told].map(projectOf));
  const others = sessions.filter((s) => !s.ended && !told.has(s) && projects.has(projectOf(s)));
  const rows = [...told, ...others.slice(0, maxSiblings)];
  return nameSessions(rows.map((session) => ({ key: sessionKeyOf(session), session })));
}

function earliest(times: readonly number[], now: number): number | null {
  let first: number | null = null;
  for (const at of times) if (at > now && (first === null || at < first)) first = Math.ceil(at);
  return first;
}

/** From causes to alerts: one each while they are few, the rest in one, so that a bad minute is not a wall of alerts. */

/**
 * More blocked sessions than this cannot be taken in one by one. The oldest keep their own alert, which can be clicked;
 * the rest share the last. As soon as one is answered, the next comes out of the crowd with an alert of its own.
 */
const maxBlocked = 5;
/** When the network or the agent's service is down, all sessions fail at once, and all say the same. */
const maxFailed = 3;
const maxQuiet = 1;
const maxListed = 5;

const urgencies = { blocked: "critical", failed: "normal", idle: "low", finished: "low" } as const;

const predicates: Readonly<Record<AlertKind, string>> = {
  blocked: "need you",
  failed: "stopped with an error",
  idle: "are waiting for you",
  finished: "are done",
};

/** What one alert is about. */
export interface AlertGroup {
  readonly key: string;
  readonly first: AlertCause;
  readonly causes: readonly AlertCause[];
  /** "3 sessions", where there are no others of their kind; "3 more". */
  readonly isAll: boolean;
}

/** Of causes in the order of their age. */
function groupCauses(causes: readonly AlertCause[]): readonly AlertGroup[] {
  // A test has its own, however many others there are.
  const tests = causes.filter(({ session }) => isProbe(session));
  const real = tests.length === 0 ? causes : causes.filter(({ session }) => !isProbe(session));
  const of = (...kinds: AlertKind[]) => real.filter(({ kind }) => kinds.includes(kind));
  return [
    ...capped(tests, tests.length, ""),
    ...capped(of("blocked"), maxBlocked, "more:blocked"),
    ...capped(of("failed"), maxFailed, "more:failed"),
    // Of what is done the last is news; who has waited longest comes first in all else.
    ...capped(of("idle", "finished").toReversed(), maxQuiet, "more:done"),
  ];
}

/** Never more than `max`, and never a crowd of one. */
function capped(causes: readonly AlertCause[], max: number, key: string): readonly AlertGroup[] {
  const isMany = causes.length > max;
  const alone = isMany ? causes.slice(0, max - 1) : causes;
  const groups = alone.map((cause): AlertGroup => {
    return { key: cause.key, first: cause, causes: [cause], isAll: false };
  });
  const rest = causes.slice(alone.length);
  const [first] = rest;
  return first ? [...groups, { key, first, causes: rest, isAll: alone.length === 0 }] : groups;
}

/** The sessions that its alert names. */
function listNamedSessions({ causes }: AlertGroup): readonly Session[] {
  return causes.slice(0, maxListed).map(({ session }) => session);
}

function createAlert(
  group: AlertGroup,
  names: ReadonlyMap<string, string>,
  { sound, clock }: { readonly sound: boolean; readonly clock: (at: number) => string },
): Alert {
  const { key, first, causes, isAll } = group;
  const nameOf = ({ session }: AlertCause): string => names.get(sessionKeyOf(session)) ?? "A session";
  const kind = causes.some((cause) => cause.kind === "idle") ? "idle" : first.kind;
  const isOne = causes.length === 1;
  const listed = isOne ? [] : causes.slice(0, maxListed).map((cause) => cause.listed(nameOf(cause)));
  const when = clock(first.since.at);
  const longest = kind === "blocked" ? `, the longest since ${when}` : "";
  const title = `${causes.length} ${isAll ? "sessions" : "more"} ${predicates[kind]}${longest}`;
  return {
    key,
    session: sessionKeyOf(first.session),
    kind,
    urgency: urgencies[kind],
    sound: sound && (kind === "blocked" || kind === "failed") && !isProbe(first.session),
    ...(isOne ? first.words(nameOf(first), when) : formatListAlert(title, listed, causes.length)),
    since: first.since.at,
    ...(isOne ? {} : { covers: causes.map((cause) => cause.key) }),
  };
}
