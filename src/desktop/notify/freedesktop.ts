/** Alerts by the desktop's notification server (org.freedesktop.Notifications), over D-Bus. */

import type { Notifier, NotifierOptions, NotifierReport } from "../../core/interfaces/index.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import { dropUnset, type Env } from "../../system/folders.ts";
import { waitAtMost } from "../../system/schedule.ts";
import { themedIcon, writeAppIcon } from "../app-icon.ts";
import { createKeyedQueue } from "../coalesce.ts";
import { findBusAddress } from "../dbus.ts";
import { clickActions, createNotification, notify } from "./notification.ts";
import { type NotificationServer, readDoNotDisturb, watchServers } from "./server.ts";
import { createShownNotifications, type NotificationId, parseHandle } from "./shown-notifications.ts";
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
/** A bus allows 128 pending calls by default. */
const maxConcurrent = 16;

/** null if there is no session bus. */
export async function openFreedesktopNotifier(
  options: NotifierOptions,
  env: Env = process.env,
): Promise<Notifier | null> {
  const address = findBusAddress(env);
  if (address === null) return null;
  /** Alerts that could not be shown, or were lost with the server: reported when there is a server again. */
  const missing = new Set<string>();
  /** Alerts that have made their sound: a new server shows them without one. */
  const sounded = new Set<string>();
  const queue = createKeyedQueue<Alert | "close">(maxConcurrent, (key, task) =>
    task === "close" ? take(key) : put(key, task),
  );
  const shown = createShownNotifications({
    isBusy: (key) => queue.get(key) !== undefined,
    onClosed(key, reason) {
      sounded.delete(key);
      if (queue.get(key) !== "close") options.onClosed(key, closeReasons[reason] ?? "expired");
    },
  });
  const sound = createSoundPlayer(env);
  const icon = writeAppIcon(options.folder) ?? themedIcon;
  let lastProblem = "";
  let isStopped = false;
  let silence: { readonly at: number; readonly value: Promise<boolean | null> } | null = null;

  const servers = await watchServers(address, {
    onClosed: shown.close,
    onAction(id, action) {
      const key = shown.findKey(id);
      if (key !== undefined) options.onClick(key, clickActions.includes(action) ? null : action);
    },
    onGone() {
      // An alert that is being sent finds out by itself.
      for (const key of shown.clear()) if (queue.get(key) === undefined) missing.add(key);
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

  async function put(key: string, alert: Alert): Promise<void> {
    if (shown.get(key)?.isDismissed) return void shown.remove(key);
    missing.delete(key);
    try {
      await shown.record(key, async (before) => {
        const server = await current();
        const replaces = before.run === server.run ? before.id : 0;
        const hasSounded = replaces !== 0 || sounded.has(key);
        const id = await notify(server, replaces, createNotification(alert, server, { icon, hasSounded }));
        if (alert.sound && !hasSounded && !server.capabilities.has("sound")) void playUnlessSilenced();
        sounded.add(key);
        return { id, run: server.run };
      });
      lastProblem = "";
    } catch (error) {
      missing.add(key);
      reportProblem(`an alert could not be shown: ${(error as Error).message}`);
      // A server runs, so no onBack will come: it refused the alert, or replaced the one that failed.
      if (currentRun() !== null) setTimeout(reportMissing, retryMs).unref();
    }
    if (shown.get(key)?.isDismissed) await take(key);
  }

  async function take(key: string): Promise<void> {
    missing.delete(key);
    sounded.delete(key);
    const notification = shown.remove(key);
    if (notification !== undefined) await closeOn(notification);
  }

  /** Closes only on the server that gave the id: on another one it is the id of another program's notification. */
  async function closeOn({ run, id }: NotificationId): Promise<void> {
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
      if (handle) shown.adopt(key, handle);
      await waitAtMost(answerTimeoutMs, queue.set(key, alert));
      return shown.handleOf(key);
    },
    async close(key) {
      if (shown.get(key) || missing.has(key) || queue.get(key) !== undefined) {
        await waitAtMost(answerTimeoutMs, queue.set(key, "close"));
      }
    },
    async forget(handle) {
      const notification = parseHandle(handle);
      if (notification !== null) await closeOn(notification);
    },
    isSilenced,
    async report() {
      const server = await waitAtMost(reportTimeoutMs, current()).catch((error: Error) => error.message);
      return describeServer(server ?? "the desktop's notification service does not answer");
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

/** `server` is a text if it is missing: why. */
function describeServer(server: NotificationServer | string): NotifierReport {
  const way = { way: "D-Bus", namesAlerts: true };
  if (typeof server === "string") return { ...way, server: null, abilities: null, missing: server };
  const { program, version, capabilities } = server;
  return { ...way, server: `${program} ${version}`.trim(), abilities: [...capabilities], missing: null };
}
