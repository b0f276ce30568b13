/**
 * Alerts: what to alert about, and when. This room decides (suppression, what the preferences say, what was shown before a
 * restart) and keeps the desktop's notifier showing that list. It works without a desktop: channels/ follows the same causes.
 */

import { isTooSoon } from "../core/answers/policy.ts";
import type { Config } from "../core/config/config.ts";
import type { UserAction } from "../core/config/user-action.ts";
import type {
  Notifier,
  NotifierEvents,
  ReadPresence,
  Schedule,
  Sink,
  StateView,
  Terminals,
} from "../core/interfaces/index.ts";
import { asRecord } from "../core/json.ts";
import type { FindAskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOfAlert } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { shortenHome } from "../core/text/paths.ts";
import { type ComputedAlerts, computeAlerts } from "../core/view/alerts/alerts.ts";
import type { Alert } from "../core/view/view.ts";
import type { PreferenceKeeper } from "../preferences/index.ts";
import { withLocalTime } from "../system/clock.ts";
import { schedule as systemSchedule, waitAtMost } from "../system/schedule.ts";
import { createAlertsInput } from "./input.ts";
import {
  type AlertReconciler,
  createAlertReconciler,
  parseRemembered,
  type ShownAlert,
} from "./reconcile.ts";
import { createPaneVisibility, noPaneVisible, type PaneVisibility } from "./visibility.ts";

export interface AlertsOptions {
  readonly clock: () => ClockReading;
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly config: () => Config;
  readonly preferences: Pick<PreferenceKeeper, "current" | "dismiss" | "prune">;
  readonly details: FindAskDetails;
  /** The user's home folder, shown as `~`. */
  readonly home: string;
  readonly terminals: Pick<Terminals, "isPaneVisible">;
  readonly readPresence: ReadPresence;
  /**
   * False while older events of the session (`agent:sessionId`) have not been read: its asks may be over, so its alerts are
   * neither shown nor closed.
   */
  readonly isCaughtUp?: (session: string) => boolean;
  /** The shown alerts as `createSaver` was given them before the last stop. */
  readonly saved: unknown;
  /** Called when `value()` has changed and should be written soon. */
  readonly createSaver: (value: () => object) => { schedule(): void; flush(): void };
  /** Asks for a call of `render` soon. */
  readonly refresh: () => void;
  readonly onShown: (alert: Alert) => void;
  /** Called once per alert and reason. */
  readonly onSuppressed: (key: string, reason: string) => void;
  readonly onProblem: (text: string) => void;
  readonly schedule?: Schedule;
  /** How long an alert stays suppressed after the user looked away from its pane; for tests. */
  readonly lingerMs?: number;
}

export interface AlertNotifierOptions {
  /** Under this name the notifier's shown alerts are remembered across restarts. */
  readonly name: string;
  /** Resolves with null if alerts cannot be shown. */
  readonly open: (events: NotifierEvents) => Promise<AlertNotifier | null>;
  /** What a click on an alert or one of its buttons does. */
  readonly onAction: (action: UserAction) => void;
}

type AlertNotifier = Omit<Notifier, "report">;

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

interface OpenedNotifier {
  readonly name: string;
  readonly notifier: AlertNotifier;
  readonly reconciler: AlertReconciler;
  isSilenced: boolean;
}

/** How often to check whether the user still looks at the pane of a suppressed alert. */
const visibilityCheckMs = 1_000;
/** How often to check whether a notifier is still silenced, and how long its answer may take. */
const silenceCheckMs = 15_000;
const silenceAnswerMs = 200;
/** A notifier that is still being opened at stop is given this long. */
const openingMs = 500;
const messageShownMs = 10_000;
/** An alert that was shown is not closed for being visible before this. */
const minShownMs = 3_000;
const messagePrefix = "message:";

export function createAlerts(options: AlertsOptions): Alerts {
  const { clock, config, preferences, schedule = systemSchedule, isCaughtUp = () => true } = options;
  const findVisiblePanes = createPaneVisibility({
    ...options,
    presentMs: () => config().alerts.presentSeconds * 1_000,
  });
  const notifiers: OpenedNotifier[] = [];
  const opening = new Set<Promise<void>>();
  const suppressed = new Map<string, string>();
  const createInput = createAlertsInput({
    ...options,
    preferences: preferences.current,
    findDetails: options.details,
  });
  let message: Alert | null = null;
  let messageCount = 0;
  let cancelMessage = () => {};
  let isStopped = false;
  /** Alerts that each notifier showed before the restart, until it is open. */
  const remembered = new Map<string, unknown>(Object.entries(asRecord(options.saved)));

  const saver = options.createSaver(() => {
    const shown: Record<string, unknown> = Object.fromEntries(remembered);
    for (const { name, reconciler } of notifiers) shown[name] = reconciler.remembered();
    return shown;
  });

  function compute(
    { sessions, now }: StateView,
    visibility: PaneVisibility,
    doNotDisturb: boolean,
  ): ComputedAlerts {
    const known = sessions.filter((session) => isCaughtUp(sessionKeyOf(session)));
    const situation = {
      visibleSessions: visibility.looking,
      recentlySeen: visibility.known,
      doNotDisturb,
    };
    return computeAlerts(createInput({ sessions: known, now }, situation));
  }

  async function render(view: StateView): Promise<number | null> {
    if (isStopped) return null;
    preferences.prune(view.now.at, view.sessions);
    if (notifiers.length === 0) return null;
    const candidates = compute(view, noPaneVisible, false);
    if (candidates.show.length === 0) {
      showIn(notifiers, candidates);
      reportSuppressed(candidates.suppressed);
      return candidates.nextChange;
    }
    const keys = candidates.show.flatMap(({ key, covers }) => covers ?? [key]);
    const [visibility] = await Promise.all([
      findVisible(keys, view.sessions),
      ...notifiers.map(checkSilence),
    ]);
    if (isStopped) return null;
    // An ask that was answered meanwhile must not be shown.
    const current = createStateView();
    const { now } = current;
    const visible = withoutFreshAlerts(visibility);
    const wanted = compute(current, visible, false);
    const isAnySilenced = notifiers.some(({ isSilenced }) => isSilenced);
    const wantedInSilence = isAnySilenced ? compute(current, visible, true) : wanted;
    preferences.dismiss(wanted.seen);
    showIn(
      notifiers.filter(({ isSilenced }) => !isSilenced),
      wanted,
    );
    showIn(
      notifiers.filter(({ isSilenced }) => isSilenced),
      wantedInSilence,
    );
    reportSuppressed(
      notifiers.every(({ isSilenced }) => isSilenced) ? wantedInSilence.suppressed : wanted.suppressed,
    );
    const checks = [
      ...(visible.known.size > 0 ? [now.at + visibilityCheckMs] : []),
      ...(isAnySilenced ? [now.at + silenceCheckMs] : []),
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
    const fresh = notifiers.flatMap(({ reconciler }) =>
      reconciler.onScreen().flatMap(({ key }) => (reconciler.shownMs(key) < minShownMs ? [key] : [])),
    );
    if (fresh.length === 0) return { looking, known };
    const freshSessions = new Set(fresh.map(sessionKeyOfAlert));
    return {
      looking: new Set([...looking].filter((session) => !freshSessions.has(session))),
      known: new Set([...known].filter((key) => !fresh.includes(key))),
    };
  }

  function showIn(targets: readonly OpenedNotifier[], { show, suppressed: hidden }: ComputedAlerts): void {
    const alerts = message ? [...show, message] : show;
    const suppressedKeys = hidden.map(({ key }) => key);
    for (const { reconciler } of targets) reconciler.want(alerts, suppressedKeys);
  }

  function findVisible(keys: readonly string[], sessions: readonly Session[]) {
    return config().alerts.whileLooking ? noPaneVisible : findVisiblePanes(keys, sessions);
  }

  /** A notifier that does not answer in time is taken to want what it wanted last. */
  async function checkSilence(open: OpenedNotifier): Promise<void> {
    const answer = open.notifier.isSilenced().then((isSilenced) => {
      open.isSilenced = isSilenced === true;
    });
    await waitAtMost(silenceAnswerMs, answer, schedule);
  }

  function reportSuppressed(hidden: ComputedAlerts["suppressed"]): void {
    for (const { key, reason, isPause } of hidden) {
      if (suppressed.get(key) !== reason && !isPause) options.onSuppressed(key, reason);
      suppressed.set(key, reason);
    }
    const keys = new Set(hidden.map(({ key }) => key));
    for (const key of suppressed.keys()) if (!keys.has(key)) suppressed.delete(key);
  }

  async function openNotifier({ name, open, onAction }: AlertNotifierOptions): Promise<void> {
    let reconciler: AlertReconciler | null = null;
    const notifier = await open({
      onProblem: options.onProblem,
      onClick(key, button) {
        if (key.startsWith(messagePrefix)) return;
        const alert = reconciler?.get(key);
        const action = alert ? actionOfClick(alert, button, reconciler?.shownMs(key) ?? 0) : null;
        if (action) onAction(action);
        else if (button !== null) showMessage("Nothing was answered", "What this button was for is over.");
      },
      onClosed(key, by) {
        if (message?.key === key) message = null;
        const alert = reconciler?.get(key);
        reconciler?.closed(key, by);
        // Otherwise it would be shown again after the user looked at its pane and away.
        if (by === "user") preferences.dismiss(alert?.covers ?? [key]);
      },
    });
    if (!notifier) return;
    if (isStopped) return notifier.stop();
    reconciler = createAlertReconciler(notifier, {
      remembered: parseRemembered(remembered.get(name)),
      onProblem: options.onProblem,
      onShown: options.onShown,
      isUndecided: (key) => !key.startsWith(messagePrefix) && !isCaughtUp(sessionKeyOfAlert(key)),
      onChange: saver.schedule,
      now: () => clock().t,
      schedule,
    });
    remembered.delete(name);
    notifiers.push({ name, notifier, reconciler, isSilenced: false });
    options.refresh();
  }

  function showMessage(title: string, body: string): void {
    const key = `${messagePrefix}${++messageCount}`;
    message = {
      key,
      session: "",
      kind: "idle",
      urgency: "low",
      sound: false,
      title,
      body: shortenHome(body, options.home),
      since: clock().at,
    };
    options.refresh();
    cancelMessage();
    cancelMessage = schedule(() => {
      message = null;
      options.refresh();
    }, messageShownMs);
  }

  return {
    name: "alerts",
    render,
    addNotifier(notifierOptions) {
      const opened = openNotifier(notifierOptions).finally(() => opening.delete(opened));
      opening.add(opened);
      return opened;
    },
    showMessage,
    report: () => ({ shown: notifiers.flatMap(({ reconciler }) => reconciler.onScreen()), suppressed }),
    async stop() {
      isStopped = true;
      cancelMessage();
      saver.flush();
      for (const { reconciler } of notifiers) reconciler.stop();
      // A notifier that is still being opened stops itself as soon as it is open.
      await waitAtMost(openingMs, Promise.allSettled(opening), schedule);
      await Promise.all(notifiers.map(({ notifier }) => notifier.stop()));
    },
  };
}

/** null if the button belongs to an ask that is over. */
function actionOfClick(
  { session, buttons = [] }: Alert,
  buttonId: string | null,
  shownMs: number,
): UserAction | null {
  const focus: UserAction = { do: "focus", session };
  if (buttonId === null) return focus;
  const button = buttons.find(({ id }) => id === buttonId);
  if (button === undefined) return null;
  const { action } = button;
  if (action.do !== "answer") return action;
  // Text and buttons can change under the pointer.
  const step = { ...action.step, shownMs };
  return isTooSoon(step) ? focus : { ...action, step };
}
