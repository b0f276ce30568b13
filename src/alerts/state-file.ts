/** The file that keeps the user's preferences and the alerts already shown, so that a restart repeats none. */
import { type Preferences, parsePreferences } from "../core/config/preferences.ts";
import type { JsonRecord } from "../core/json.ts";

/** Version 0.1 saved them as `wishes`. */
export function readPreferences(state: JsonRecord): Preferences {
  return parsePreferences(state.preferences ?? state.wishes);
}
