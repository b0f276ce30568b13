/** The notifiers that show alerts: what each should show, whether it is silenced, what clicks do, and what a restart must know. */
import { isTooSoon } from "../core/answers/policy.ts";
import type { UserAction } from "../core/config/user-action.ts";
import type { Notifier, NotifierEvents, Schedule } from "../core/interfaces/index.ts";
import { asRecord } from "../core/json.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOfAlert } from "../core/session/keys.ts";
import { shortenHome } from "../core/text/paths.ts";
import type { ComputedAlerts } from "../core/view/alerts/alerts.ts";
import type { Alert } from "../core/view/view.ts";
import type { PreferenceKeeper } from "../preferences/index.ts";
import { waitAtMost } from "../system/schedule.ts";
import {
  type AlertReconciler,
  createAlertReconciler,
  parseRemembered,
  type ShownAlert,
} from "./reconcile.ts";

export interface NotifierListOptions {
  readonly clock: () => ClockReading;
  readonly preferences: Pick<PreferenceKeeper, "dismiss">;
  /** The user's home folder, shown as `~`. */
  readonly home: string;
  /**
   * False while older events of the session (`agent:sessionId`) have not been read: its asks may be over, so its alerts are
   * neither shown nor closed.
   */
  readonly isCaughtUp: (session: string) => boolean;
  /** The shown alerts as `createSaver` was given them before the last stop. */
  readonly saved: unknown;
  /** Called when `value()` has changed and should be written soon. */
  readonly createSaver: (value: () => object) => { schedule(): void; flush(): void };
  /** Asks for a call of `show` soon. */
  readonly refresh: () => void;
  readonly onShown: (alert: Alert) => void;
  readonly onProblem: (text: string) => void;
  readonly schedule: Schedule;
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

export interface NotifierList {
  /** Resolves when the notifier is open, or cannot be opened. */
  add(options: AlertNotifierOptions): Promise<void>;
  isEmpty(): boolean;
  /** Sets what to show, and what a silenced notifier shows of it. */
  show(wanted: ComputedAlerts, wantedInSilence: ComputedAlerts): void;
  /** Shows a message that belongs to no session for a few seconds, such as why a click had no effect. */
  showMessage(title: string, body: string): void;
  checkSilence(): Promise<void>;
  /** How many of them are silenced. */
  silenced(): "none" | "some" | "all";
  onScreen(): readonly ShownAlert[];
  /** Keys of alerts whose text was shown less than this long ago. */
  listShownWithin(ms: number): readonly string[];
  stop(): Promise<void>;
}

interface OpenedNotifier {
  readonly name: string;
  readonly notifier: AlertNotifier;
  readonly reconciler: AlertReconciler;
  isSilenced: boolean;
}

/** How long a notifier may take to say whether it is silenced. */
const silenceAnswerMs = 200;
/** A notifier that is still being opened at stop is given this long. */
const openingMs = 500;
const messageShownMs = 10_000;
const messagePrefix = "message:";

export function createNotifierList(options: NotifierListOptions): NotifierList {
  const { clock, preferences, schedule, refresh } = options;
  const notifiers: OpenedNotifier[] = [];
  const opening = new Set<Promise<void>>();
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
      isUndecided: (key) => !key.startsWith(messagePrefix) && !options.isCaughtUp(sessionKeyOfAlert(key)),
      onChange: saver.schedule,
      now: () => clock().t,
      schedule,
    });
    remembered.delete(name);
    notifiers.push({ name, notifier, reconciler, isSilenced: false });
    refresh();
  }

  /** A notifier that does not answer in time is taken to want what it wanted last. */
  async function checkSilence(open: OpenedNotifier): Promise<void> {
    const answer = open.notifier.isSilenced().then((isSilenced) => {
      open.isSilenced = isSilenced === true;
    });
    await waitAtMost(silenceAnswerMs, answer, schedule);
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
    refresh();
    cancelMessage();
    cancelMessage = schedule(() => {
      message = null;
      refresh();
    }, messageShownMs);
  }

  return {
    add(notifierOptions) {
      const opened = openNotifier(notifierOptions).finally(() => opening.delete(opened));
      opening.add(opened);
      return opened;
    },
    isEmpty: () => notifiers.length === 0,
    show(wanted, wantedInSilence) {
      for (const { reconciler, isSilenced } of notifiers) {
        const { show, suppressed } = isSilenced ? wantedInSilence : wanted;
        const suppressedKeys = suppressed.map(({ key }) => key);
        reconciler.want(message ? [...show, message] : show, suppressedKeys);
      }
    },
    showMessage,
    checkSilence: async () => void (await Promise.all(notifiers.map(checkSilence))),
    silenced() {
      if (!notifiers.some(({ isSilenced }) => isSilenced)) return "none";
      return notifiers.every(({ isSilenced }) => isSilenced) ? "all" : "some";
    },
    onScreen: () => notifiers.flatMap(({ reconciler }) => reconciler.onScreen()),
    listShownWithin: (ms) =>
      notifiers.flatMap(({ reconciler }) =>
        reconciler.onScreen().flatMap(({ key }) => (reconciler.shownMs(key) < ms ? [key] : [])),
      ),
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
