/**
 * Alerts: what to alert about, and when. This room decides (suppression, what the preferences say, what was shown before a
 * restart) and keeps the desktop's notifier showing that list. It works without a desktop: channels/ follows the same causes.
 */
import type { Config } from "../core/config/config.ts";
import { findMuteScope } from "../core/config/preferences.ts";
import type { ReadPresence, Schedule, Sink, StateView, Terminals } from "../core/interfaces/index.ts";
import type { FindAskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOfAlert } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { type AlertsInput, type ComputedAlerts, computeAlerts } from "../core/view/alerts/alerts.ts";
import { type Crossing, followCrossings, parseCrossings } from "../core/view/alerts/crossings.ts";
import { isUnattended } from "../core/view/unattended.ts";
import type { PreferenceKeeper } from "../preferences/index.ts";
import { withLocalTime } from "../system/clock.ts";
import { schedule as systemSchedule } from "../system/schedule.ts";
import { createAlertsInput } from "./input.ts";
import { type AlertNotifierOptions, createNotifierList, type NotifierListOptions } from "./notifiers.ts";
import type { ShownAlert } from "./reconcile.ts";
import {
  createPaneVisibility,
  noPaneVisible,
  type PaneVisibility,
  type PaneVisibilityOptions,
} from "./visibility.ts";

export interface AlertsOptions extends Omit<NotifierListOptions, "preferences" | "isCaughtUp" | "schedule"> {
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly config: () => Config;
  readonly preferences: Pick<PreferenceKeeper, "current" | "dismiss" | "prune">;
  readonly details: FindAskDetails;
  readonly terminals: Pick<Terminals, "isPaneVisible">;
  readonly look?: NonNullable<PaneVisibilityOptions["look"]>;
  readonly isPageFocused: () => boolean;
  readonly readPresence: ReadPresence;
  /** Resolves with where the user is, of their machines that show the same sessions. */
  readonly locateUser?: () => Promise<AlertsInput["findUserElsewhere"]>;
  readonly isCaughtUp?: NotifierListOptions["isCaughtUp"];
  /** What users call an agent. */
  readonly agentName: (agent: string) => string;
  /** The limits that were crossed, as `createCrossingSaver` was given them before the last stop. */
  readonly savedCrossings: unknown;
  readonly createCrossingSaver: (value: () => readonly Crossing[]) => { schedule(): void };
  /** Called once per alert and reason. */
  readonly onSuppressed: (key: string, reason: string) => void;
  readonly schedule?: Schedule;
  /** How long an alert stays suppressed after the user looked away from its pane; for tests. */
  readonly lingerMs?: number;
}

export interface AlertsReport {
  readonly shown: readonly ShownAlert[];
  /** Alert key → why it is not shown. */
  readonly suppressed: ReadonlyMap<string, string>;
}

export interface Alerts extends Sink {
  /** Resolves when the notifier is open, or cannot be opened. */
  addNotifier(options: AlertNotifierOptions): Promise<void>;
  /** Shows a message that belongs to no session for a few seconds, such as why a click had no effect. */
  showMessage(title: string, body: string): void;
  report(): AlertsReport;
  stop(): Promise<void>;
}

/** How often to check whether the user still looks at the pane of a suppressed alert. */
const visibilityCheckMs = 1_000;
/** How often to check whether a notifier is still silenced. */
const silenceCheckMs = 15_000;
/** How often to check whether the user has come here from another of their machines. */
const userCheckMs = 5_000;
/** An alert that was shown is not closed for being visible before this. */
const minShownMs = 3_000;

/** The user is here, as far as is known. */
const here: AlertsInput["findUserElsewhere"] = () => null;

export function createAlerts(options: AlertsOptions): Alerts {
  const { clock, config, preferences, schedule = systemSchedule, isCaughtUp = () => true } = options;
  const { locateUser = async () => here } = options;
  const findVisiblePanes = createPaneVisibility({
    ...options,
    presentMs: () => config().alerts.presentSeconds * 1_000,
  });
  const notifiers = createNotifierList({ ...options, isCaughtUp, schedule });
  const suppressed = new Map<string, string>();
  const createInput = createAlertsInput({
    ...options,
    preferences: preferences.current,
    findDetails: options.details,
  });
  let crossings = parseCrossings(options.savedCrossings);
  const crossingSaver = options.createCrossingSaver(() => crossings);
  let isStopped = false;

  function updateCrossings({ sessions, now }: StateView): void {
    const current = config();
    const next = followCrossings(crossings, {
      sessions,
      now,
      shares: current.alerts,
      mayAlert: (session) =>
        !isUnattended(session, current) && findMuteScope(session, preferences.current(), current) === null,
    });
    if (next === crossings) return;
    crossings = next;
    crossingSaver.schedule();
  }

  function compute(
    { sessions, now }: StateView,
    visibility: PaneVisibility,
    doNotDisturb: boolean,
    findUserElsewhere = here,
  ): ComputedAlerts {
    const known = sessions.filter((session) => isCaughtUp(sessionKeyOf(session)));
    const situation = {
      visibleSessions: visibility.looking,
      recentlySeen: visibility.known,
      doNotDisturb,
      findUserElsewhere,
      limits: { crossings, agentName: options.agentName },
    };
    return computeAlerts(createInput({ sessions: known, now }, situation));
  }

  async function render(view: StateView): Promise<number | null> {
    if (isStopped) return null;
    preferences.prune(view.now.at, view.sessions);
    if (notifiers.isEmpty()) return null;
    updateCrossings(view);
    const candidates = compute(view, noPaneVisible, false);
    if (candidates.show.length === 0) {
      notifiers.show(candidates, candidates);
      reportSuppressed(candidates.suppressed);
      return candidates.nextChange;
    }
    const keys = candidates.show.flatMap(({ key, covers }) => covers ?? [key]);
    const [visibility, findUserElsewhere] = await Promise.all([
      findVisible(keys, view.sessions),
      locateUser(),
      notifiers.checkSilence(),
    ]);
    if (isStopped) return null;
    // An ask that was answered meanwhile must not be shown.
    const current = createStateView();
    const { now } = current;
    const visible = withoutFreshAlerts(visibility);
    const wanted = compute(current, visible, false, findUserElsewhere);
    const silenced = notifiers.silenced();
    const wantedInSilence = silenced === "none" ? wanted : compute(current, visible, true, findUserElsewhere);
    preferences.dismiss(wanted.seen);
    notifiers.show(wanted, wantedInSilence);
    reportSuppressed(silenced === "all" ? wantedInSilence.suppressed : wanted.suppressed);
    const checks = [
      ...(visible.known.size > 0 ? [now.at + visibilityCheckMs] : []),
      ...(silenced !== "none" ? [now.at + silenceCheckMs] : []),
      ...(current.sessions.some((session) => findUserElsewhere(session) !== null)
        ? [now.at + userCheckMs]
        : []),
      ...(wanted.nextChange === null ? [] : [wanted.nextChange]),
    ];
    return checks.length === 0 ? null : Math.min(...checks);
  }

  function createStateView(): StateView {
    const now = clock();
    return { sessions: options.sessions(now), now: withLocalTime(now) };
  }

  /**
   * Alerts that were shown a moment ago stay, even if their pane turns out to be visible: the window system answered too late,
   * and an alert that appears and disappears is worse than one that is not needed.
   */
  function withoutFreshAlerts({ looking, known }: PaneVisibility): PaneVisibility {
    const fresh = notifiers.listShownWithin(minShownMs);
    if (fresh.length === 0) return { looking, known };
    const freshSessions = new Set(fresh.map(sessionKeyOfAlert));
    return {
      looking: new Set([...looking].filter((session) => !freshSessions.has(session))),
      known: new Set([...known].filter((key) => !fresh.includes(key))),
    };
  }

  function findVisible(keys: readonly string[], sessions: readonly Session[]) {
    return config().alerts.whileLooking ? noPaneVisible : findVisiblePanes(keys, sessions);
  }

  function reportSuppressed(hidden: ComputedAlerts["suppressed"]): void {
    for (const { key, reason, isPause } of hidden) {
      if (suppressed.get(key) !== reason && !isPause) options.onSuppressed(key, reason);
      suppressed.set(key, reason);
    }
    const keys = new Set(hidden.map(({ key }) => key));
    for (const key of suppressed.keys()) if (!keys.has(key)) suppressed.delete(key);
  }

  return {
    name: "alerts",
    render,
    addNotifier: notifiers.add,
    showMessage: notifiers.showMessage,
    report: () => ({ shown: notifiers.onScreen(), suppressed }),
    stop() {
      isStopped = true;
      return notifiers.stop();
    },
  };
}
