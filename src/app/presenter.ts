import { clicked } from "../alerts/click.ts";
import { createUserMessage } from "../alerts/message.ts";
import { type AlertReconciler, createAlertReconciler, parseRemembered } from "../alerts/reconcile.ts";
import { createPaneVisibility, noPaneVisible, type PaneVisibility } from "../alerts/visibility.ts";
import type { Config } from "../core/config/config.ts";
import {
  applyPreference,
  dismissAlerts,
  type Preferences,
  parsePreferences,
  prunePreferences,
} from "../core/config/preferences.ts";
import { computeQuietHours, type LocalTime } from "../core/config/quiet.ts";
import type { UserAction } from "../core/config/user-action.ts";
import type { Notifier, OpenNotifier, OpenTray, Terminals, Tray } from "../core/ports.ts";
import type { FindAskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOf } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { type Alerts, computeAlerts } from "../core/view/alerts/alerts.ts";
import { createMenu, type MenuFacts } from "../core/view/menu/menu.ts";
import type { Alert, TrayView } from "../core/view/view.ts";
import type { Saver } from "../storage/saver.ts";
import { findNextMorning, formatLocalTime, minuteOfDay } from "../system/clock.ts";
import { createPresenterReport, type PresenterReport } from "./presenter-report.ts";

/** Wishes, and which alerts were told: what the next start must know. */
type Kept = Readonly<Record<string, unknown>>;

export interface PresenterOptions {
  readonly clock: () => ClockReading;
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly config: () => Config;
  readonly asked: FindAskDetails;
  readonly facts: () => Pick<MenuFacts, "hooksInstalled" | "version" | "problems">;
  /** The person's own folder. */
  readonly home: string;
  readonly terminals: Pick<Terminals, "isLooking">;
  /** What was kept before, and how to have it kept: `value` is asked when the time comes. */
  readonly before: Kept;
  readonly keep: (value: () => Kept) => Saver;
  readonly onAction: (action: UserAction) => void;
  /** Why an alert is not shown, once for each reason. */
  readonly onHeld: (key: string, why: string) => void;
  readonly onShown?: (alert: Alert) => void;
  /** How long a look at a pane counts, for tests. */
  readonly lingerMs?: number;
  readonly onProblem: (text: string) => void;
}

export interface Presenter {
  /** Something changed: what is shown follows. */
  refresh(): void;
  /** Puts icon and alerts on the desktop, if there is one. */
  open(ways: { tray: OpenTray; notifier: OpenNotifier; folder: string }): Promise<void>;
  setPreference(action: UserAction): void;
  preferences(): Preferences;
  about(): Promise<PresenterReport>;
  /** A word to the person that no session says: how a click ended. */
  showMessage(title: string, body: string): void;
  stop(): Promise<void>;
}

/** After a change the state settles: 0.3 s, and 1 s where the agent's file contradicts its hooks. */
const settleAtMs = [350, 1_050] as const;
/** Often enough that nobody notices; and some times as long as an update takes, if not just one of them took long. */
const betweenMs = 20;
const restFactor = 5;
/** Whether the person still looks at the pane of an ask that is held back for it. */
const lookAgainMs = 1_000;
/** Whether their desktop still wants silence; and how long it may take to say so. */
const askAgainMs = 15_000;
const askMs = 200;
const openingMs = 500;
const maxTimerMs = 60 * 60_000;

export function createPresenter(options: PresenterOptions): Presenter {
  const { clock } = options;
  const looks = createPaneVisibility(options);
  const note = createUserMessage({ home: options.home, now: () => clock().at, onChange: poke });
  const upSince = clock().at;
  let wishes = parsePreferences(options.before.wishes);
  let tray: Tray | null = null;
  let notifier: Notifier | null = null;
  let alerter: AlertReconciler | null = null;
  let silenced = false;
  let shown: TrayView | null = null;
  let changedAt = clock().t;
  let updatedAt = Number.NEGATIVE_INFINITY;
  let restMs = betweenMs;
  let lastTookMs = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let timerAt = Number.POSITIVE_INFINITY;
  let isUpdating = false;
  let isStopped = false;
  let opening: Promise<void> = Promise.resolve();
  /** By alert: why it is not shown, as last told. */
  const held = new Map<string, string>();
  /** On start everything settles before anything shows. */
  const settledT = clock().t + settleAtMs[1];

  const saver = options.keep(() => {
    return { version: 1, wishes, alerts: alerter?.remembered() ?? options.before.alerts ?? [] };
  });

  /** At `t` of the clock that nobody can set. */
  function updateAt(t: number): void {
    if (isStopped || t >= timerAt) return;
    if (timer) clearTimeout(timer);
    timerAt = t;
    timer = setTimeout(
      () => {
        timer = null;
        timerAt = Number.POSITIVE_INFINITY;
        update().catch((error) => options.onProblem(`tray and alerts could not follow: ${error}`));
      },
      Math.min(Math.max(0, t - clock().t), maxTimerMs),
    );
  }

  async function update(): Promise<void> {
    // Who comes while one is under way is heard by its end.
    if (isUpdating || isStopped) return;
    isUpdating = true;
    const startedAt = clock().t;
    try {
      const here = clock();
      const now = { ...here, minuteOfDay: minuteOfDay(here.at) };
      const sessions = options.sessions(now);
      change(prunePreferences(wishes, now.at, sessions));
      const trayNext = showTray(sessions, now);
      const tookMs = clock().t - startedAt;
      restMs = Math.max(betweenMs, Math.min(tookMs, lastTookMs) * restFactor);
      lastTookMs = tookMs;
      const next = [trayNext, await showAlerts(sessions, now)];
      updatedAt = clock().t;
      const soonest = Math.min(...next.map((at) => at ?? Number.POSITIVE_INFINITY));
      if (Number.isFinite(soonest)) updateAt(updatedAt + Math.max(restMs, soonest - clock().at));
      for (const ms of settleAtMs) if (changedAt + ms > updatedAt) updateAt(changedAt + ms);
    } finally {
      isUpdating = false;
    }
    if (changedAt >= startedAt) updateAt(updatedAt + restMs);
  }

  /** Wall time at which it changes by itself. */
  function showTray(sessions: readonly Session[], now: ClockReading & LocalTime): number | null {
    if (!tray) return null;
    const config = options.config();
    const hours = computeQuietHours(config.quietHours, now);
    const facts: MenuFacts = {
      ...options.facts(),
      home: options.home,
      dashboard: false,
      formatTime: clockAt(now),
      quietHoursEnd: hours?.isOn ? hours.changesAt : null,
    };
    const view = createMenu({
      sessions,
      preferences: wishes,
      config,
      now,
      facts,
      findDetails: options.asked,
    });
    tray.show(view);
    shown = view;
    return view.nextChange;
  }

  async function showAlerts(
    sessions: readonly Session[],
    now: ClockReading & LocalTime,
  ): Promise<number | null> {
    if (!alerter) return null;
    const { asked, home } = options;
    const given = {
      preferences: wishes,
      config: options.config(),
      startedAt: upSince,
      findDetails: asked,
      home,
    };
    const input = { ...given, sessions, now, formatTime: clockAt(now) };
    const wanted = computeAlerts({
      ...input,
      visibleSessions: new Set(),
      recentlySeen: new Set(),
      doNotDisturb: false,
    });
    const notes = note.alerts();
    if (wanted.show.length === 0) {
      tellHeld(wanted.suppressed);
      alerter.want(notes, keysOf(wanted.suppressed));
      return wanted.nextChange;
    }
    const keys = wanted.show.flatMap(({ key, covers }) => covers ?? [key]);
    const [{ looking, known }] = await Promise.all([look(keys, sessions), askSilenced()]);
    const found = computeAlerts({
      ...input,
      preferences: wishes,
      visibleSessions: looking,
      recentlySeen: known,
      doNotDisturb: silenced,
    });
    if (isStopped) return null;
    change(dismissAlerts(wishes, found.seen));
    tellHeld(found.suppressed);
    alerter.want([...found.show, ...notes], keysOf(found.suppressed));
    const again = known.size > 0 ? lookAgainMs : silenced ? askAgainMs : Number.POSITIVE_INFINITY;
    const next = Math.min(found.nextChange ?? Number.POSITIVE_INFINITY, now.at + again);
    return Number.isFinite(next) ? next : null;
  }

  async function look(keys: readonly string[], sessions: readonly Session[]): Promise<PaneVisibility> {
    return options.config().alerts.whileLooking ? noPaneVisible : looks(keys, sessions);
  }

  /** A desktop that does not answer in time is taken to want what it wanted last. */
  async function askSilenced(): Promise<void> {
    const asked = notifier?.isSilenced().then((is) => {
      silenced = is === true;
    });
    await Promise.race([asked, Bun.sleep(askMs)]);
  }

  function tellHeld(now: Alerts["suppressed"]): void {
    for (const { key, reason: why } of now) {
      if (held.get(key) !== why) options.onHeld(key, why);
      held.set(key, why);
    }
    const keys = new Set(now.map(({ key }) => key));
    for (const key of held.keys()) if (!keys.has(key)) held.delete(key);
  }

  function change(next: Preferences): void {
    if (next === wishes) return;
    wishes = next;
    saver.schedule();
  }

  function poke(): void {
    // Without a desktop there is nothing to follow.
    if (!tray && !alerter) return;
    const now = clock().t;
    changedAt = now;
    updateAt(Math.max(now, updatedAt + restMs, settledT));
  }

  async function putTray(open: OpenTray, folder: string): Promise<void> {
    const { onProblem, onAction } = options;
    const opened = await open({ folder, onProblem, onAction });
    if (isStopped) await opened?.stop();
    else tray = opened;
    poke();
  }

  async function openNotifier(open: OpenNotifier, folder: string): Promise<void> {
    const opened = await open({
      folder,
      onProblem: options.onProblem,
      onClick(key, button) {
        const alert = alerter?.get(key);
        if (alert && note.alerts().includes(alert)) return;
        const action = alert && clicked(alert, button, alerter?.shownMs(key) ?? 0);
        if (action) options.onAction(action);
        else if (button !== null) note.say("Nothing was answered", "What this button was about is over.");
      },
      onClosed(key, by) {
        note.closed(key);
        const alert = alerter?.get(key);
        alerter?.closed(key, by);
        // Not shown again either after the person has looked there and away.
        if (by === "person") change(dismissAlerts(wishes, alert?.covers ?? [key]));
      },
    });
    if (isStopped) await opened?.stop();
    if (!opened || isStopped) return;
    notifier = opened;
    const remembered = parseRemembered(options.before.alerts);
    const { onProblem, onShown = () => {} } = options;
    alerter = createAlertReconciler(notifier, { remembered, onProblem, onShown, onChange: saver.schedule });
    poke();
  }

  return {
    refresh: poke,
    open({ tray: openTray, notifier: open, folder }) {
      opening = Promise.all([putTray(openTray, folder), openNotifier(open, folder)]).then(() => {});
      return opening;
    },
    setPreference(action) {
      const now = clock();
      const sessions = options.sessions(now);
      const session = (key: string) => sessions.find((one) => sessionKeyOf(one) === key) ?? null;
      const time = { at: now.at, tomorrow: findNextMorning(now.at) };
      change(applyPreference(prunePreferences(wishes, now.at, sessions), action, time, { session }));
      poke();
    },
    preferences: () => wishes,
    about: () => createPresenterReport({ tray, view: shown, notifier, alerter, held, wishes }),
    showMessage: note.say,
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      saver.flush();
      alerter?.stop();
      // What is being opened stops itself as soon as it is there.
      await Promise.race([opening, Bun.sleep(openingMs)]);
      await Promise.all([tray?.stop(), notifier?.stop()]);
    },
  };
}

/** For people, as of now. */
function clockAt(now: ClockReading): (at: number) => string {
  return (at) => formatLocalTime(at, now.at);
}

function keysOf(held: Alerts["suppressed"]): string[] {
  return held.map(({ key }) => key);
}
