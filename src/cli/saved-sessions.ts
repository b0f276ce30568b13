/** The sessions that a stopped beckon left on disk. Loaded only then: the schemas would cost every other call 5 ms. */
import { existsSync } from "node:fs";
import { parsePreferences } from "../core/config/preferences.ts";
import { readNumber } from "../core/json.ts";
import { formatAge } from "../core/view/figures.ts";
import { createSessionView, type SessionView } from "../core/view/session-view.ts";
import { decodeState } from "../state/saved-state.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { describeDroppedEvents, readDroppedEvents } from "../storage/full-spool.ts";
import { loadJsonState } from "../storage/json-state.ts";
import type { Paths } from "../storage/paths.ts";
import { loadSnapshot } from "../storage/snapshot.ts";
import { createClock, formatLocalTime } from "../system/clock.ts";

export interface SavedSessions {
  readonly sessions: readonly SessionView[];
  /** Why the list may be old or incomplete. */
  readonly warnings: readonly string[];
}

export function readSavedSessions(paths: Paths): SavedSessions {
  const now = createClock()();
  const { value, problem } = loadSnapshot(paths, { readOnly: true });
  const alertState = loadJsonState(paths.alertState, { readOnly: true });
  const context = {
    preferences: parsePreferences(alertState.value.preferences),
    config: readConfigFile(paths.config).config,
    formatTime: formatLocalTime,
  };
  const saved = value ? decodeState(value, now).sessions : [];
  const sessions = saved.map((session) => createSessionView(session, now, context));
  const savedAt = readNumber(value?.savedAt);
  const warnings: string[] = [];
  if (problem) warnings.push(`${problem}.`);
  if (alertState.problem !== null) warnings.push(`${alertState.problem}.`);
  const dropped = readDroppedEvents(paths);
  if (dropped) warnings.push(describeDroppedEvents(dropped));
  if (existsSync(paths.spool)) warnings.push("It will read newer events when it starts.");
  if (savedAt !== null && sessions.length > 0)
    warnings.push(`This is what it knew ${formatAge(now.at - savedAt)} ago:`);
  return { sessions, warnings };
}
