/** POST /api/quiet: turns alerts off and on. */
import { quietModes } from "../core/config/user-action.ts";
import type { JsonRecord } from "../core/json.ts";
import type { PreferenceKeeper } from "../preferences/index.ts";

/** Returns what holds now, or a text if the body is invalid. */
export function setQuiet(
  preferences: Pick<PreferenceKeeper, "set" | "quiet">,
  body: JsonRecord,
): object | string {
  const mode = quietModes.find((known) => known === body.mode);
  if (mode === undefined) return 'mode must be "hour", "tomorrow", "on" or "off"';
  preferences.set({ do: "quiet", mode });
  const quiet = preferences.quiet();
  return { ok: true, ...(quiet ? { quiet } : {}) };
}
