/** What the user sets with a click: mute, snooze, dismiss, quiet. It survives a restart. */

import { asRecord } from "../json.ts";
import { listAlertKeys } from "../session/keys.ts";
import { hasDied, projectOf, type Session } from "../session/session.ts";
import { sessionKeyOf } from "../session/session-ref.ts";
import { minuteMs } from "../timing.ts";
import type { Config } from "./config.ts";
import type { QuietMode, UserAction } from "./user-action.ts";

export interface Preferences {
  /** Wall time; `Number.MAX_SAFE_INTEGER` until it is turned off; null if not quiet. */
  readonly quietUntil: number | null;
  /** `agent:sessionId` */
  readonly muted: readonly string[];
  readonly mutedProjects: readonly string[];
  readonly snoozed: readonly { readonly session: string; readonly until: number }[];
  /** Keys of alerts that the user has seen or closed. They are not shown again. */
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
 * What "Dismiss" adds to `dismissed` for each open ask, besides the keys of its alerts. An alert that was only closed, or has
 * expired, still counts in the menu.
 */
export function createDismissedAskKey(session: string, askId: string): string {
  return `tray:${session}/${askId}`;
}

/** The same for a failed turn, or a session that died in the middle of one. */
export function createDismissedFailureKey(session: string, { turn }: Pick<Session, "turn">): string {
  return createDismissedAskKey(session, `failed-${turn.at}`);
}

const maxSnoozeMinutes = 7 * 24 * 60;

/** Wall times: now, and 08:00 local time of the next day. */
export interface PreferenceTime {
  readonly at: number;
  readonly tomorrow: number;
}

export interface PreferenceFacts {
  /** Finds a session by `agent:sessionId`, settled, so that it has every visible ask. */
  readonly session: (key: string) => Session | null;
}

/** Returns the preferences after a click. An action that sets no preference leaves them as they are. */
export function applyPreference(
  preferences: Preferences,
  action: UserAction,
  now: PreferenceTime,
  facts: PreferenceFacts,
): Preferences {
  switch (action.do) {
    case "mute":
      return { ...preferences, muted: withName(preferences.muted, action.session, action.on) };
    case "mute-project":
      return {
        ...preferences,
        mutedProjects: withName(preferences.mutedProjects, action.project, action.on),
      };
    case "snooze": {
      const others = preferences.snoozed.filter(({ session }) => session !== action.session);
      if (action.minutes === null || !(action.minutes > 0)) return { ...preferences, snoozed: others };
      const until = Math.round(now.at + Math.min(action.minutes, maxSnoozeMinutes) * minuteMs);
      return { ...preferences, snoozed: [...others, { session: action.session, until }] };
    }
    case "dismiss": {
      const session = facts.session(action.session);
      return session ? dismissAlerts(preferences, listDismissalKeys(session)) : preferences;
    }
    case "quiet":
      return { ...preferences, quietUntil: computeQuietEnd(action.mode, now) };
    default:
      return preferences;
  }
}

/** Whether the session or its project is muted, by a click or in the settings; null if not muted. */
export function findMuteScope(
  session: Session,
  preferences: Preferences,
  config: Pick<Config, "mutedProjects">,
): "session" | "project" | null {
  if (preferences.muted.includes(sessionKeyOf(session))) return "session";
  const project = projectOf(session);
  const isMuted =
    project !== null && [...preferences.mutedProjects, ...config.mutedProjects].includes(project);
  return isMuted ? "project" : null;
}

/** Marks alerts as dismissed that the user has closed, or has seen happen. */
export function dismissAlerts(preferences: Preferences, keys: readonly string[]): Preferences {
  const added = new Set(keys.filter((key) => !preferences.dismissed.includes(key)));
  return added.size === 0 ? preferences : { ...preferences, dismissed: [...preferences.dismissed, ...added] };
}

function withName(list: readonly string[], name: string, on: boolean): readonly string[] {
  if (list.includes(name) === on) return list;
  return on ? [...list, name] : list.filter((other) => other !== name);
}

function computeQuietEnd(mode: QuietMode, now: PreferenceTime): number | null {
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

function listDismissalKeys(session: Session): string[] {
  const own = sessionKeyOf(session);
  const hasFailed = session.turn.error !== null || hasDied(session);
  const failure = hasFailed ? [createDismissedFailureKey(own, session)] : [];
  return [
    ...listAlertKeys(session),
    ...session.asks.map((ask) => createDismissedAskKey(own, ask.id)),
    ...failure,
  ];
}

/** Drops what is over. `sessions` must be settled. Muted projects stay, so the next session there is muted too. */
export function prunePreferences(
  preferences: Preferences,
  now: number,
  sessions: readonly Session[],
): Preferences {
  const { quietUntil: until, muted, snoozed, dismissed } = preferences;
  const known = new Set(sessions.map(sessionKeyOf));
  const keys = dismissed.length === 0 ? new Set<string>() : new Set(sessions.flatMap(listDismissalKeys));
  const next: Preferences = {
    ...preferences,
    quietUntil: until !== null && until > now ? until : null,
    muted: muted.filter((session) => known.has(session)),
    snoozed: snoozed.filter((snooze) => snooze.until > now && known.has(snooze.session)),
    dismissed: dismissed.filter((key) => keys.has(key)),
  };
  const isUnchanged =
    next.quietUntil === until &&
    next.muted.length === muted.length &&
    next.snoozed.length === snoozed.length &&
    next.dismissed.length === dismissed.length;
  return isUnchanged ? preferences : next;
}

const maxItems = 10_000;
const maxKeyLength = 4_096;

/** Keeps what is valid of a file that may be damaged or of another version. */
export function parsePreferences(value: unknown): Preferences {
  const fields = asRecord(value);
  return {
    quietUntil: isTime(fields.quietUntil) ? fields.quietUntil : null,
    muted: readNames(fields.muted),
    mutedProjects: readNames(fields.mutedProjects),
    snoozed: readList(fields.snoozed).flatMap((item) => {
      const { session, until } = asRecord(item);
      return isName(session) && isTime(until) ? [{ session, until }] : [];
    }),
    dismissed: readNames(fields.dismissed),
  };
}

function readList(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, maxItems) : [];
}

function readNames(value: unknown): string[] {
  return [...new Set(readList(value).filter(isName))];
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxKeyLength;
}

/** A valid date, or "until it is turned off". */
function isTime(value: unknown): value is number {
  const isDate = Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 8.64e15;
  return isDate || value === Number.MAX_SAFE_INTEGER;
}
