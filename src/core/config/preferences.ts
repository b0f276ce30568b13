/** What a person asked for with a click, and that should outlive a restart. */

import { listAlertKeys, sessionKeyOf } from "../session/keys.ts";
import type { Session } from "../session/session.ts";
import { projectOf } from "../session/session.ts";
import { minuteMs } from "../timing.ts";
import type { Config } from "./config.ts";
import type { QuietMode, UserAction } from "./user-action.ts";

export interface Preferences {
  /** Wall time; `Number.MAX_SAFE_INTEGER`: until it is turned off. null: not quiet. */
  readonly quietUntil: number | null;
  /** `agent:sessionId` */
  readonly muted: readonly string[];
  readonly mutedProjects: readonly string[];
  readonly snoozed: readonly { readonly session: string; readonly until: number }[];
  /** Keys of alerts that were seen or sent away: not shown again. */
  readonly dismissed: readonly string[];
}

export const noPreferences: Preferences = {
  quietUntil: null,
  muted: [],
  mutedProjects: [],
  snoozed: [],
  dismissed: [],
};

/**
 * What `dismiss` adds to `dismissed` for each open ask, beside the keys of its alerts: an alert that was only closed or
 * has run out still counts in the tray.
 */
export function dismissedAskKey(session: string, askId: string): string {
  return `tray:${session}/${askId}`;
}

/** The same for a turn that failed. */
export function dismissedFailureKey(session: string, { turn }: Pick<Session, "turn">): string {
  return dismissedAskKey(session, `failed-${turn.at}`);
}

const maxSnoozeMinutes = 7 * 24 * 60;

/** Wall times: now, and 08:00 local of the next day. */
export interface PreferenceTime {
  readonly at: number;
  readonly tomorrow: number;
}

export interface PreferenceFacts {
  /** By `agent:sessionId`; as it has settled, so that every ask that shows is in it. */
  readonly session: (key: string) => Session | null;
}

/** The preferences after a click. An action that preferences for nothing leaves them as they are. */
export function applyPreference(
  preferences: Preferences,
  action: UserAction,
  now: PreferenceTime,
  facts: PreferenceFacts,
): Preferences {
  switch (action.do) {
    case "mute":
      return { ...preferences, muted: turned(preferences.muted, action.session, action.on) };
    case "mute-project":
      return { ...preferences, mutedProjects: turned(preferences.mutedProjects, action.project, action.on) };
    case "snooze": {
      const others = preferences.snoozed.filter(({ session }) => session !== action.session);
      if (action.minutes === null || !(action.minutes > 0)) return { ...preferences, snoozed: others };
      const until = Math.round(now.at + Math.min(action.minutes, maxSnoozeMinutes) * minuteMs);
      return { ...preferences, snoozed: [...others, { session: action.session, until }] };
    }
    case "dismiss": {
      const session = facts.session(action.session);
      return session ? dismissAlerts(preferences, everyKey(session)) : preferences;
    }
    case "quiet":
      return { ...preferences, quietUntil: quietUntil(action.mode, now) };
    default:
      return preferences;
  }
}

/** By a click on it or on its project, or by the settings. null: it is not. */
export function findMuteScope(
  session: Session,
  preferences: Preferences,
  config: Config,
): "session" | "project" | null {
  if (preferences.muted.includes(sessionKeyOf(session))) return "session";
  const project = projectOf(session);
  const isMuted =
    project !== null && [...preferences.mutedProjects, ...config.mutedProjects].includes(project);
  return isMuted ? "project" : null;
}

/** For alerts that the person closed on the screen, or saw happen. */
export function dismissAlerts(preferences: Preferences, keys: readonly string[]): Preferences {
  const fresh = new Set(keys.filter((key) => !preferences.dismissed.includes(key)));
  return fresh.size === 0 ? preferences : { ...preferences, dismissed: [...preferences.dismissed, ...fresh] };
}

function turned(list: readonly string[], name: string, on: boolean): readonly string[] {
  if (list.includes(name) === on) return list;
  return on ? [...list, name] : list.filter((other) => other !== name);
}

function quietUntil(mode: QuietMode, now: PreferenceTime): number | null {
  switch (mode) {
    case "off":
      return null;
    case "hour":
      return now.at + 60 * minuteMs;
    case "tomorrow":
      return now.tomorrow;
    case "on":
      return Number.MAX_SAFE_INTEGER;
  }
}

function everyKey(session: Session): string[] {
  const own = sessionKeyOf(session);
  const failure = session.turn.error === null ? [] : [dismissedFailureKey(own, session)];
  return [...listAlertKeys(session), ...session.asks.map((ask) => dismissedAskKey(own, ask.id)), ...failure];
}

/** Without what is over, of all sessions as they have settled. Muted projects stay: the next session there is muted too. */
export function prunePreferences(
  preferences: Preferences,
  now: number,
  sessions: readonly Session[],
): Preferences {
  const { quietUntil: until, muted, snoozed, dismissed } = preferences;
  const known = new Set(sessions.map(sessionKeyOf));
  const keys = dismissed.length === 0 ? new Set<string>() : new Set(sessions.flatMap(everyKey));
  const next: Preferences = {
    ...preferences,
    quietUntil: until !== null && until > now ? until : null,
    muted: muted.filter((session) => known.has(session)),
    snoozed: snoozed.filter((one) => one.until > now && known.has(one.session)),
    dismissed: dismissed.filter((key) => keys.has(key)),
  };
  const isSame =
    next.quietUntil === until &&
    next.muted.length === muted.length &&
    next.snoozed.length === snoozed.length &&
    next.dismissed.length === dismissed.length;
  return isSame ? preferences : next;
}

const maxRead = 10_000;
const maxKeyLength = 4_096;

/** From a file that may be of another version, or damaged: what can be understood of it. */
export function parsePreferences(value: unknown): Preferences {
  const fields: Readonly<Record<string, unknown>> =
    typeof value === "object" && value !== null ? { ...value } : {};
  return {
    quietUntil: isTime(fields.quietUntil) ? fields.quietUntil : null,
    muted: names(fields.muted),
    mutedProjects: names(fields.mutedProjects),
    snoozed: list(fields.snoozed).flatMap((one) => {
      const { session, until } = (one ?? {}) as Record<string, unknown>;
      return isName(session) && isTime(until) ? [{ session, until }] : [];
    }),
    dismissed: names(fields.dismissed),
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, maxRead) : [];
}

function names(value: unknown): string[] {
  return [...new Set(list(value).filter(isName))];
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxKeyLength;
}

/** A date that there is, or for ever. */
function isTime(value: unknown): value is number {
  const isDate = Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 8.64e15;
  return isDate || value === Number.MAX_SAFE_INTEGER;
}
