/** Computes alerts for tests, and lists what the user would see and read in the log. */

import { type Config, defaultConfig } from "../../../../src/core/config/config.ts";
import { noPreferences } from "../../../../src/core/config/preferences.ts";
import { type EventWindow, reduce } from "../../../../src/core/session/reduce.ts";
import type { Session } from "../../../../src/core/session/session.ts";
import {
  type AlertsInput,
  type ComputedAlerts,
  computeAlerts,
} from "../../../../src/core/view/alerts/alerts.ts";
import type { Timeline } from "../../session/fixture.ts";
import { ago, done, minute, now as moment } from "../menu/fixture.ts";

/** A full minute: 14:20. */
export const now: AlertsInput["now"] = { ...moment, minuteOfDay: 14 * 60 + 20 };

/** The next midnight. */
export const midnight = now.at + (24 * 60 - now.minuteOfDay) * minute;

/** Local time, as `now` says. */
const formatTime: AlertsInput["formatTime"] = (at) =>
  new Date(at - now.at + now.minuteOfDay * minute).toISOString().slice(11, 16);

export const later = (ms: number): AlertsInput["now"] => ({
  at: now.at + ms,
  t: now.t + ms,
  minuteOfDay: (now.minuteOfDay + Math.floor(ms / minute)) % (24 * 60),
});

export function computeTestAlerts(
  sessions: readonly Session[],
  more: Partial<AlertsInput> = {},
): ComputedAlerts {
  return computeAlerts({
    sessions,
    preferences: noPreferences,
    config: defaultConfig,
    now,
    formatTime,
    startedAt: now.at - 24 * 60 * minute,
    home: "/home/dev",
    visibleSessions: new Set(),
    recentlySeen: new Set(),
    doNotDisturb: false,
    findUserElsewhere: () => null,
    findDetails: () => null,
    ...more,
  });
}

export function withAlerts(more: Partial<Config["alerts"]>, config: Config = defaultConfig): Config {
  return { ...config, alerts: { ...config.alerts, ...more } };
}

/** Its turn ended that long ago. */
export function stopped(project: string, since: number, more: Partial<Session> = {}): Session {
  return done(project, since, { stopped: ago(since), lastResponse: "All tests pass.", ...more });
}

export function failed(project: string, since: number, more: Partial<Session> = {}): Session {
  const turn = { ...ago(since), running: false, byHook: true, error: "API Error: overloaded" };
  return stopped(project, since, { turn, ...more });
}

/** The alerts that many ms after the last event of the timeline. */
export function computeAlertsAfter(
  timeline: Timeline,
  ms: number,
  more: Partial<AlertsInput> = {},
): ComputedAlerts {
  const window = timeline.events.reduce<EventWindow | undefined>(
    (known, event) => reduce(known, event),
    undefined,
  );
  const last = timeline.events.at(-1);
  if (!window || !last) throw new Error("no events yet");
  const then = { at: last.at + ms, t: last.t + ms, minuteOfDay: 0 };
  return computeTestAlerts([window.session], { now: then, startedAt: last.at - 24 * 60 * minute, ...more });
}

export const listTitles = ({ show }: ComputedAlerts): string[] => show.map(({ title }) => title);
export const listReasons = ({ suppressed: held }: ComputedAlerts): string[] =>
  held.map(({ reason: why }) => why);
