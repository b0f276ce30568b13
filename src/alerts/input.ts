/** What alerts are computed from, for the desktop and for channels: both must agree on which alerts there are. */
import type { Config } from "../core/config/config.ts";
import type { Preferences } from "../core/config/preferences.ts";
import type { StateView } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { AlertsInput } from "../core/view/alerts/alerts.ts";
import { formatLocalTime } from "../system/clock.ts";

export interface AlertsInputOptions extends Pick<AlertsInput, "findDetails" | "home"> {
  readonly clock: () => ClockReading;
  readonly config: () => Config;
  readonly preferences: () => Preferences;
}

/** What is known about the user's desktop. Nothing by default. */
export type DesktopSituation = Pick<
  AlertsInput,
  "visibleSessions" | "recentlySeen" | "doNotDisturb" | "findUserElsewhere" | "limits"
>;

const nothingKnown: DesktopSituation = {
  visibleSessions: new Set(),
  recentlySeen: new Set(),
  doNotDisturb: false,
  findUserElsewhere: () => null,
};

export function createAlertsInput({ clock, config, preferences, findDetails, home }: AlertsInputOptions) {
  const startedAt = clock().at;
  return ({ sessions, now }: StateView, situation = nothingKnown): AlertsInput => ({
    sessions,
    now,
    ...situation,
    preferences: preferences(),
    config: config(),
    formatTime: (at) => formatLocalTime(at, now.at),
    startedAt,
    findDetails,
    home,
  });
}
