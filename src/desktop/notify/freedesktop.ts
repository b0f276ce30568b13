/** Alerts by the desktop's notification server (org.freedesktop.Notifications), over D-Bus. */

import { Variant } from "@jellybrick/dbus-next";
import type { Notifier, NotifierOptions } from "../../core/interfaces/index.ts";
import { escapeMarkup } from "../../core/text/markup.ts";
import { selectButtons } from "../../core/view/alerts/text.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import { dropUnset, type Env } from "../../system/folders.ts";
import { waitAtMost } from "../../system/schedule.ts";
import { themedIcon, writeAppIcon } from "../app-icon.ts";
import { createKeyedQueue } from "../coalesce.ts";
import { findBusAddress } from "../dbus.ts";
import {
  appName,
  clickLabel,
  expireTimeoutOf,
  formatBody,
  formatTitle,
  hasTerminal,
  isQuiet,
  minVisibleLines,
  soundName,
} from "./alert-text.ts";
import { type NotificationServer, readDoNotDisturb, watchServers } from "./server.ts";
import { createSoundPlayer } from "./sound.ts";

/** Why a notification was closed, by the numbers of https://specifications.freedesktop.org/notification-spec/latest/ar01s09.html */
const closeReasons: Readonly<Record<number, "expired" | "user">> = {
  1: "expired",
  2: "user",
  // Closed by a call that was not ours: a program of the user did it, and would do it again.
  3: "user",
};
/** A server that the bus has to start first takes some seconds. */
const answerTimeoutMs = 5_000;
/** Part of the two seconds in which beckon quits. */
const stopTimeoutMs = 1_000;
const retryMs = 10_000;
const reportTimeoutMs = 1_500;
const silenceMaxAgeMs = 1_000;
/** A server that hung shows the notification later, and only its answer has the id that closes it. */
const lateAnswerMs = 10 * 60_000;
/** A bus allows 128 pending calls by default. */
const maxConcurrent = 16;
/** The signals of all programs arrive here, so they can be many while a server hangs. */
const maxEarlyCloses = 1_000;
const handlePattern = /^([0-9a-f]{1,64} :[\w.-]{1,250}) ([1-9]\d{0,9})$/;

/** Where an alert is on the screen. */
interface Shown {
  /** The server's id, or 0 if it is not on the screen. */
  id: number;
  /** The run of the server that gave the id. */
  run: string;
  /** The user closed it while an update was being sent. */
  isDismissed: boolean;
}

/** null if there is no session bus. */
export async function openFreedesktopNotifier(
  options: NotifierOptions,
  env: Env = process.env,
): Promise<Notifier | null> {
  const address = findBusAddress(env);
  if (address === null) return null;
  const shown = new Map<string, Shown>();
  const keysById = new Map<number, string>();
  /** Alerts that could not be shown, or were lost with the server: reported when there is a server again. */
  const missing = new Set<string>();
  /** Alerts that have made their sound: a new server shows them without one. */
  const sounded = new Set<string>();
  /** Notifications that were closed before the answer with their id was read: id → reason. */
  const earlyCloses = new Map<number, number>();
  const queue = createKeyedQueue<Alert | "close">(maxConcurrent, (key, task) =>
    task === "close" ? take(key) : put(key, task),
  );
  const sound = createSoundPlayer(env);
  const icon = writeAppIcon(options.folder) ?? themedIcon;
  let pendingCalls = 0;
  let lastProblem = "";
  let isStopped = false;
  let silence: { readonly at: number; readonly value: Promise<boolean | null> } | null = null;

  const servers = await watchServers(address, {
    onClosed,
    onAction(id, action) {
      const key = keysById.get(id);
      if (key !== undefined) options.onClick(key, clickActions.includes(action) ? null : action);
    },
    onGone() {
      // An alert that is being sent finds out by itself.
      for (const key of keysById.values()) if (queue.get(key) === undefined) missing.add(key);
      shown.clear();
      keysById.clear();
      earlyCloses.clear();
      silence = null;
    },
    onBack() {
      lastProblem = "";
      reportMissing();
    },
    isNeeded: () => missing.size > 0,
  });
  const { current, run: currentRun } = servers;
  // Asked now, so that the first alert does not wait for the answer.
  if (currentRun() !== null) void current().catch(() => {});

  function onClosed(id: number, reason: number): void {
    const key = keysById.get(id);
    if (key === undefined) {
      if (pendingCalls > 0 && earlyCloses.size < maxEarlyCloses) earlyCloses.set(id, reason);
      return;
    }
    keysById.delete(id);
    sounded.delete(key);
    const task = queue.get(key);
    const notification = shown.get(key);
    if (notification !== undefined && task !== undefined) {
      Object.assign(notification, { id: 0, isDismissed: true });
    } else shown.delete(key);
    if (task !== "close") options.onClosed(key, closeReasons[reason] ?? "expired");
  }

  async function put(key: string, alert: Alert): Promise<void> {
    const before = shown.get(key) ?? { id: 0, run: "", isDismissed: false };
    if (before.isDismissed) return void shown.delete(key);
    missing.delete(key);
    pendingCalls += 1;
    try {
      const server = await current();
      const replaces = before.run === server.run ? before.id : 0;
      const hasSounded = replaces !== 0 || sounded.has(key);
      const id = await notify(server, replaces, createNotification(alert, server, { icon, hasSounded }));
      if (alert.sound && !hasSounded && !server.capabilities.has("sound")) void playUnlessSilenced();
      sounded.add(key);
      keysById.delete(before.id);
      keysById.set(id, key);
      shown.set(key, { id, run: server.run, isDismissed: before.isDismissed });
      lastProblem = "";
    } catch (error) {
      keysById.delete(before.id);
      shown.delete(key);
      missing.add(key);
      reportProblem(`an alert could not be shown: ${(error as Error).message}`);
      // A server runs, so no onBack will come: it refused the alert, or replaced the one that failed.
      if (currentRun() !== null) setTimeout(reportMissing, retryMs).unref();
    }
    pendingCalls -= 1;
    await handleEarlyClose(key);
  }

  /** Handles what happened to the notification between the server's answer and our reading of it. */
  async function handleEarlyClose(key: string): Promise<void> {
    const notification = shown.get(key);
    const reason = earlyCloses.get(notification?.id ?? 0);
    if (pendingCalls === 0) earlyCloses.clear();
    if (notification === undefined) return;
    if (reason !== undefined) {
      onClosed(notification.id, reason);
      shown.delete(key);
    } else if (notification.isDismissed) await take(key);
  }

  async function notify(
    server: NotificationServer,
    replaces: number,
    notification: Notification,
  ): Promise<number> {
    const { title, body, actions, expireMs } = notification;
    const hints = Object.fromEntries(
      Object.entries(notification.hints).map(([name, { signature, value }]) => [
        name,
        new Variant(signature, value),
      ]),
    );
    const args = [appName, replaces, notification.icon, title, body, actions, hints, expireMs];
    return Number(await server.call("Notify", "susssasa{sv}i", args, lateAnswerMs));
  }

  async function take(key: string): Promise<void> {
    const notification = shown.get(key);
    missing.delete(key);
    sounded.delete(key);
    if (notification === undefined) return;
    shown.delete(key);
    keysById.delete(notification.id);
    await closeOn(notification.run, notification.id);
  }

  /** Closes only on the server that gave the id: on another one it is the id of another program's notification. */
  async function closeOn(run: string, id: number): Promise<void> {
    const server = await current().catch(() => null);
    if (server?.run !== run || id === 0) return;
    // An error means that it is closed already.
    await server.call("CloseNotification", "u", [id]).catch(() => {});
  }

  function reportMissing(): void {
    if (isStopped) return;
    const keys = [...missing];
    missing.clear();
    for (const key of keys) options.onClosed(key, "unknown");
  }

  function reportProblem(text: string): void {
    if (text !== lastProblem) options.onProblem(text);
    lastProblem = text;
  }

  function isSilenced(): Promise<boolean | null> {
    const now = performance.now();
    if (silence === null || now - silence.at > silenceMaxAgeMs) {
      const value = current().then(
        (server) => readDoNotDisturb(server, (argv, more) => exec(argv, { ...more, env: dropUnset(env) })),
        () => null,
      );
      silence = { at: now, value };
    }
    return silence.value;
  }

  async function playUnlessSilenced(): Promise<void> {
    if ((await isSilenced()) !== true) sound.play();
  }

  return {
    async show(alert, handle) {
      const { key } = alert;
      if (isStopped) return null;
      const [, run, id] = handlePattern.exec(handle ?? "") ?? [];
      if (run !== undefined && !shown.has(key)) shown.set(key, { id: Number(id), run, isDismissed: false });
      await waitAtMost(answerTimeoutMs, queue.set(key, alert));
      const notification = shown.get(key);
      return notification === undefined || notification.id === 0
        ? null
        : `${notification.run} ${notification.id}`;
    },
    async close(key) {
      if (shown.has(key) || missing.has(key) || queue.get(key) !== undefined) {
        await waitAtMost(answerTimeoutMs, queue.set(key, "close"));
      }
    },
    async forget(handle) {
      const [, run, id] = handlePattern.exec(handle) ?? [];
      if (run !== undefined) await closeOn(run, Number(id));
    },
    isSilenced,
    async report() {
      const server = await waitAtMost(reportTimeoutMs, current()).catch((error: Error) => error.message);
      const noAnswer = "the desktop's notification service does not answer";
      return {
        way: "D-Bus",
        namesAlerts: true,
        ...(typeof server === "object"
          ? {
              server: `${server.program} ${server.version}`.trim(),
              abilities: [...server.capabilities],
              missing: null,
            }
          : { server: null, abilities: null, missing: server ?? noAnswer }),
      };
    },
    async stop() {
      isStopped = true;
      missing.clear();
      const closing = [...shown.keys(), ...queue.keys()].map((key) => queue.set(key, "close"));
      await waitAtMost(stopTimeoutMs, Promise.all(closing));
      sound.stop();
      servers.stop();
    },
  };
}

interface Hint {
  readonly signature: "y" | "s" | "b";
  readonly value: number | string | boolean;
}

interface Notification {
  readonly icon: string;
  readonly title: string;
  readonly body: string;
  /** Pairs of a key and its label. */
  readonly actions: readonly string[];
  readonly hints: Readonly<Record<string, Hint>>;
  readonly expireMs: number;
}

/** Actions that mean a click on the notification itself. */
const clickActions: readonly string[] = ["default", "focus"];
const urgencies = { low: 0, normal: 1, critical: 2 } as const satisfies Record<Alert["urgency"], number>;

/** `hasSounded`: this alert has made its sound before. */
function createNotification(
  alert: Alert,
  { capabilities, program }: Pick<NotificationServer, "capabilities" | "program">,
  { icon, hasSounded }: { readonly icon: string; readonly hasSounded: boolean },
): Notification {
  const body = formatServerBody(alert, program);
  return {
    icon,
    title: formatTitle(alert),
    body: capabilities.has("body-markup") ? escapeMarkup(body) : body,
    actions: capabilities.has("actions") ? createActions(alert, program) : [],
    hints: {
      urgency: { signature: "y", value: urgencies[alert.urgency] },
      category: { signature: "s", value: `x-beckon.${alert.kind}` },
      "desktop-entry": { signature: "s", value: appName },
      ...(isQuiet(alert) && { transient: { signature: "b", value: true } }),
      ...(alert.sound && !hasSounded && capabilities.has("sound")
        ? { "sound-name": { signature: "s", value: soundName } }
        : { "suppress-sound": { signature: "b", value: true } }),
    },
    expireMs: expireTimeoutOf(alert),
  };
}

/** GNOME Shell joins the lines of an alert that is not urgent, without a separator. */
function formatServerBody(alert: Alert, program: string): string {
  const isOneLine = /^gnome-shell$/i.test(program) && alert.urgency !== "critical";
  return isOneLine ? formatBody(alert).replaceAll("\n", " · ") : formatBody(alert);
}

/** How many lines of a body each server shows. */
const visibleLines: readonly (readonly [RegExp, number])[] = [
  [/^xfce/i, 14],
  [/^gnome-shell$/i, 6],
];
/** GNOME Shell does not show a fourth one: MAX_NOTIFICATION_BUTTONS in its messageTray.js. */
const maxButtons = 3;

/**
 * The buttons that answer, then "default" for a click on the notification itself. Servers like xfce4-notifyd draw a button
 * for "default"; for those that do not, "focus" adds one.
 */
function createActions(alert: Alert, program: string): readonly string[] {
  if (!hasTerminal(alert)) return [];
  const drawsNoDefault = /^(gnome-shell|plasma|cinnamon|swaynotificationcenter)$/i.test(program);
  const lines = visibleLines.find(([name]) => name.test(program))?.[1] ?? minVisibleLines;
  const buttons = selectButtons(alert, lines);
  const clicks = clickActions.slice(0, drawsNoDefault && buttons.length < maxButtons ? 2 : 1);
  return [...buttons.flatMap(({ id, label }) => [id, label]), ...clicks.flatMap((key) => [key, clickLabel])];
}
