/** Quiet mode for the API: whether alerts are off now, and POST /api/quiet, which turns them off and on. */
import type { Alerts } from "../alerts/index.ts";
import type { Config } from "../core/config/config.ts";
import type { Preferences } from "../core/config/preferences.ts";
import { findQuietMode, type Quiet } from "../core/config/quiet.ts";
import { quietModes } from "../core/config/user-action.ts";
import type { JsonRecord } from "../core/json.ts";
import type { ClockReading } from "../core/session/event.ts";
import { withLocalTime } from "../system/clock.ts";

export interface QuietDeps {
  readonly preferences: () => Preferences;
  readonly config: () => Config;
  readonly clock: () => ClockReading;
}

/** null if alerts are shown. */
export function readQuiet({ preferences, config, clock }: QuietDeps): Quiet | null {
  return findQuietMode(preferences().quietUntil, config().quietHours, withLocalTime(clock()));
}

/** Returns what holds now, or a text if the body is invalid. */
export function setQuiet(
  deps: QuietDeps & { readonly setPreference: Alerts["setPreference"] },
  body: JsonRecord,
): object | string {
  const mode = quietModes.find((known) => known === body.mode);
  if (mode === undefined) return 'mode must be "hour", "tomorrow", "on" or "off"';
  deps.setPreference({ do: "quiet", mode });
  const quiet = readQuiet(deps);
  return { ok: true, ...(quiet ? { quiet } : {}) };
}
