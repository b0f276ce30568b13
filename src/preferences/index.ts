/**
 * Preferences: what the user has set with a click (mute, snooze, dismiss, quiet), kept over restarts. Tray, alerts, channels, the
 * list and the API read them here. What they mean is in core/config/preferences.ts.
 */
import type { Config } from "../core/config/config.ts";
import {
  applyPreference,
  dismissAlerts,
  type Preferences,
  parsePreferences,
  prunePreferences,
} from "../core/config/preferences.ts";
import { findQuietMode, type Quiet } from "../core/config/quiet.ts";
import type { UserAction } from "../core/config/user-action.ts";
import type { Sink } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { findDeadPredecessors } from "../core/view/groups.ts";
import { findNextMorning, withLocalTime } from "../system/clock.ts";

export interface PreferenceKeeperOptions {
  readonly clock: () => ClockReading;
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly config: () => Config;
  /** What `createSaver` was given before the last stop. */
  readonly saved: unknown;
  /** Called when `value()` has changed and should be written soon. */
  readonly createSaver: (value: () => Preferences) => { schedule(): void; flush(): void };
  /** The user has set something, so what is shown may change. */
  readonly onSet: () => void;
}

export interface PreferenceKeeper extends Sink {
  current(): Preferences;
  set(action: UserAction): void;
  /** Marks alerts as dismissed that the user has closed, or has seen happen. */
  dismiss(alertKeys: readonly string[]): void;
  /** Drops what is over. `sessions` must be settled. */
  prune(now: number, sessions: readonly Session[]): void;
  /** null if alerts are shown. */
  quiet(): Quiet | null;
}

export function createPreferenceKeeper(options: PreferenceKeeperOptions): PreferenceKeeper {
  const { clock, config } = options;
  let current = parsePreferences(options.saved);
  const saver = options.createSaver(() => current);

  function change(next: Preferences): void {
    if (next === current) return;
    current = next;
    saver.schedule();
  }

  function set(action: UserAction): void {
    const now = clock();
    const sessions = options.sessions(now);
    const findSession = (key: string) => sessions.find((session) => sessionKeyOf(session) === key) ?? null;
    const time = { at: now.at, tomorrow: findNextMorning(now.at) };
    const pruned = prunePreferences(current, now.at, sessions);
    change(applyPreference(pruned, action, time, { session: findSession }));
    // On disk before the user sees that it was done: a kill must not undo it.
    saver.flush();
    options.onSet();
  }

  return {
    name: "preferences",
    current: () => current,
    set,
    dismiss: (alertKeys) => change(dismissAlerts(current, alertKeys)),
    prune: (now, sessions) => change(prunePreferences(current, now, sessions)),
    quiet: () => findQuietMode(current.quietUntil, config().quietHours, withLocalTime(clock())),
    /** The failure of a session that died is over once the user has started it again. */
    onChange({ session, event }) {
      if (event.change.kind !== "session-start") return;
      for (const dead of findDeadPredecessors(options.sessions(clock()), session))
        set({ do: "dismiss", session: sessionKeyOf(dead) });
    },
    stop: () => saver.flush(),
  };
}
