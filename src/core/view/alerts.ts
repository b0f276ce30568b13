/** The alerts that should be on the screen, of the state and the time. Nothing says "now show one" or "take it back". */

import type { Config } from "../config/config.ts";
import { mutedBy, type Preferences } from "../config/preferences.ts";
import { type LocalTime, midnightAfter, quietHours } from "../config/quiet.ts";
import { type FindAskDetails, withAnsweringEnabled } from "../session/ask-details.ts";
import type { Moment } from "../session/event.ts";
import { keyOfSession } from "../session/keys.ts";
import { elapsedMs } from "../session/phase.ts";
import { isProbe } from "../session/probe.ts";
import type { Session } from "../session/session.ts";
import { projectOf } from "../session/session.ts";
import { settle } from "../session/settle.ts";
import { plain } from "../text/line.ts";
import { type AlertCause, causesOf } from "./alert-causes.ts";
import { createAlert, groupCauses, namedIn } from "./alert-groups.ts";
import { nameSessions } from "./tray-name.ts";
import type { Alert } from "./view.ts";

export interface AlertsInput {
  readonly sessions: readonly Session[];
  readonly preferences: Preferences;
  readonly config: Config;
  readonly now: Moment & LocalTime;
  /** Local time, for people: `14:20`, or with its day where it is not today. */
  readonly clock: (at: number) => string;
  /** Wall time since which this run of beckon has watched: what it found dead then may have been so for hours. */
  readonly upSince: number;
  /** Sessions, `agent:sessionId`, whose very pane the person looks at. */
  readonly looking: ReadonlySet<string>;
  /** Keys of alerts whose pane they looked at a moment ago: they know of these, and of nothing that came since. */
  readonly known: ReadonlySet<string>;
  /** The person has asked their desktop for silence. */
  readonly silenced: boolean;
  readonly asked: FindAskDetails;
  /** The person's own folder; empty: not known. */
  readonly home: string;
}

export interface Alerts {
  readonly show: readonly Alert[];
  /** What would show but for the reason given, in words for a log. */
  readonly held: readonly { readonly key: string; readonly why: string }[];
  /** Ends that the person sees happen: to be dismissed, or they would be told of them as soon as they look away. */
  readonly seen: readonly string[];
  /** Wall time at which this may become another though nothing happens; null: never. */
  readonly next: number | null;
}

export function alerts(input: AlertsInput): Alerts {
  const { now, config } = input;
  const watch = {
    now,
    upSince: input.upSince,
    on: config.alerts,
    asked: withAnsweringEnabled(input.asked, config),
    home: input.home,
  };
  const sessions = input.sessions.map((session) => settle(session, now.t));
  const told = sessions.map((session) => causesOf(session, watch));
  const causes = told.flatMap((one) => one.causes).sort(bySince);
  const judged = causes.map((cause) => ({ cause, hold: holdOf(cause, input) }));
  const groups = groupCauses(judged.filter(({ hold }) => hold === null).map(({ cause }) => cause));
  const names = namesFor(groups.flatMap(namedIn), sessions);
  const quiet = quietHours(config.quietHours, now);

  const times = [
    ...told.flatMap(({ againMs }) => againMs.map((ms) => now.at + ms)),
    ...causes.flatMap(({ leftMs }) => (leftMs === null ? [] : [now.at + leftMs])),
    ...judged.flatMap(({ hold }) => hold?.until ?? []),
    ...(quiet && causes.length > 0 ? [quiet.lookAgain] : []),
    // What began today began on a day with a name, from then on.
    ...(groups.length > 0 ? [midnightAfter(now)] : []),
  ];
  return {
    show: groups.map((group) =>
      createAlert(group, names, { sound: config.alerts.sound, clock: input.clock }),
    ),
    held: judged.flatMap(({ cause, hold }) => (hold ? [{ key: cause.key, why: hold.why }] : [])),
    seen: causes.filter((cause) => isSeen(cause, input)).map(({ key }) => key),
    next: earliest(times, now.at),
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
  const { preferences, config, now, clock } = input;
  const own = keyOfSession(session);
  const muted = mutedBy(session, preferences, config);
  const snooze = preferences.snoozed.find((s) => s.session === own && s.until > now.at);
  const quiet = quietHours(config.quietHours, now);
  // Who runs a test looks at it, and wants to see it at once.
  const isTest = isProbe(session);
  const mayLook = isTest || config.alerts.whileLooking;
  const graceMs = kind === "blocked" && !isTest ? config.alerts.graceMs - elapsedMs(since, now) : 0;

  if (!config.alerts[kind]) return stays(`alerts.${kind} is off in the settings`);
  if (session.attended === false && !config.alerts.unattended) return stays("nobody sits at this session");
  if (preferences.dismissed.includes(key)) return stays("you have seen it or sent it away");
  if (muted === "session") return stays("you muted this session");
  if (muted === "project") return stays(`the project ${plain(projectOf(session) ?? "")} is muted`);
  if (snooze) return { why: `you snoozed it until ${clock(snooze.until)}`, until: snooze.until };
  if (preferences.quietUntil !== null && preferences.quietUntil > now.at) {
    if (preferences.quietUntil === Number.MAX_SAFE_INTEGER) return stays("quiet until you turn it off");
    return { why: `quiet until ${clock(preferences.quietUntil)}`, until: preferences.quietUntil };
  }
  if (quiet?.isOn) return { why: `quiet hours until ${clock(quiet.edge)}`, until: quiet.lookAgain };
  if (input.silenced) return stays("your desktop is set to do not disturb");
  if (!mayLook && input.looking.has(own)) return stays("you are looking at it");
  if (!mayLook && input.known.has(key)) return stays("you have just looked at it");
  if (graceMs > 0) {
    return { why: `you have ${config.alerts.graceMs} ms to answer in the terminal`, until: now.at + graceMs };
  }
  return null;
}

/** Who sees a turn end knows it. A dialog that somebody looked at and left open still waits for them. */
function isSeen({ kind, key, session }: AlertCause, { looking, config, preferences }: AlertsInput): boolean {
  const looks = !config.alerts.whileLooking && looking.has(keyOfSession(session));
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
  return nameSessions(rows.map((session) => ({ key: keyOfSession(session), session })));
}

function earliest(times: readonly number[], now: number): number | null {
  let first: number | null = null;
  for (const at of times) if (at > now && (first === null || at < first)) first = Math.ceil(at);
  return first;
}
