/**
 * Alerts on Windows: toasts by PowerShell; by SnoreToast where PowerShell is restricted; balloons at the tray icon where there are
 * no toasts.
 */

import type { Notifier, OpenNotifier } from "../../core/interfaces/index.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import { findOwnCommand } from "../../system/is-compiled.ts";
import { writeAppIcon } from "../app-icon.ts";
import { createBalloons } from "../windows/balloons.ts";
import { writeRegistry } from "../windows/registry.ts";
import { joinTaskbar } from "../windows/taskbar.ts";
import {
  createRegistration,
  createToastId,
  createToasts,
  findPowershell,
  formatToast,
  isTag,
  selectToastButtons,
  tagOf,
} from "../windows/toasts.ts";
import { win32 } from "../windows/win32.ts";
import { openNodeNotifier } from "./node-notifier.ts";

export const openWindowsNotifier: OpenNotifier = async (options) => {
  const { onClick, onClosed, onProblem, folder } = options;
  /** Toast id → the alert and the button that a click on it means; null for the alert itself. */
  const clickable = new Map<string, { readonly key: string; readonly button: string | null }>();
  /** The alerts that should be shown: PowerShell is slow, and an alert may be closed before its toast fails. */
  const wanted = new Map<string, Alert>();
  const taskbar = await joinTaskbar({
    onProblem: () => {},
    onBalloon(key, event) {
      if (!balloons.has(key)) return;
      balloons.close(key);
      wanted.delete(key);
      if (event === "clicked") onClick(key, null);
      else onClosed(key, "expired");
    },
    onToastClicked(id) {
      const clicked = clickable.get(id);
      if (clicked === undefined) return;
      // One click is one answer: the other buttons must not work any more.
      forgetIds(clicked.key);
      onClick(clicked.key, clicked.button);
    },
  });
  const balloons = createBalloons(
    (balloon) => taskbar?.show({ balloon }),
    (key) => {
      wanted.delete(key);
      onClosed(key, "expired");
    },
  );
  const opened = openToasts();
  /** null if PowerShell shows no toasts. */
  let toasts = opened;
  /** null if SnoreToast is not used. */
  let snoreToast: Notifier | null = null;

  function openToasts() {
    const command = findPowershell(process.env.SystemRoot);
    if (command === null) return null;
    const failure = writeRegistry(createRegistration(findOwnCommand(), writeAppIcon(folder)));
    if (failure === null) return createToasts(command, exec);
    onProblem(`no toasts: ${failure}. Alerts are shown as balloons.`);
    return null;
  }

  async function showToast(alert: Alert): Promise<string | null> {
    forgetIds(alert.key);
    const { key } = alert;
    const alertId = createToastId();
    clickable.set(alertId, { key, button: null });
    const buttonIds = selectToastButtons(alert).map((button) => {
      const id = createToastId();
      clickable.set(id, { key, button: button.id });
      return id;
    });
    const tag = tagOf(key);
    const failure = await toasts?.send({ tag, xml: formatToast(alert, alertId, buttonIds) });
    if (failure === null) return tag;
    for (const id of [alertId, ...buttonIds]) clickable.delete(id);
    if (toasts !== null) await leavePowershell(toasts.isRestricted(), failure ?? "");
    return null;
  }

  async function leavePowershell(isRestricted: boolean, failure: string): Promise<void> {
    toasts = null;
    if (isRestricted) snoreToast = await openNodeNotifier({ ...options, onFailed }).catch(() => null);
    onProblem(
      snoreToast === null
        ? `no toasts: ${failure}. Alerts are shown as balloons.`
        : `no toasts by PowerShell: ${failure}. node-notifier shows them, without buttons.`,
    );
  }

  function onFailed(alert: Alert): void {
    if (snoreToast !== null) onProblem("no toasts: SnoreToast shows none. Alerts are shown as balloons.");
    snoreToast = null;
    if (wanted.get(alert.key) === alert) balloons.show(alert);
  }

  function forgetIds(key: string): void {
    for (const [id, target] of clickable) if (target.key === key) clickable.delete(id);
  }

  const notifier: Notifier = {
    async show(alert) {
      wanted.set(alert.key, alert);
      const tag = toasts === null ? null : await showToast(alert);
      if (tag !== null || wanted.get(alert.key) !== alert) return tag;
      if (snoreToast !== null) return snoreToast.show(alert);
      balloons.show(alert);
      return null;
    },
    async close(key) {
      wanted.delete(key);
      forgetIds(key);
      balloons.close(key);
      await snoreToast?.close(key);
      await toasts?.send({ tag: tagOf(key), xml: null });
    },
    async forget(handle) {
      await snoreToast?.forget(handle);
      if (isTag(handle)) await toasts?.send({ tag: handle, xml: null });
    },
    isSilenced: async () => readDoNotDisturb(),
    async report() {
      if (snoreToast !== null) return snoreToast.report();
      const way = toasts === null ? "balloons" : "toasts";
      return { way, server: null, abilities: null, namesAlerts: false, missing: null };
    },
    async stop() {
      await snoreToast?.stop();
      await opened?.stop();
      await taskbar?.leave();
    },
  };
  return notifier;
};

/** QUERY_USER_NOTIFICATION_STATE → whether the user wants silence. */
const notificationStates: Readonly<Record<number, boolean>> = {
  /** Locked, or the screen saver runs: the alert should be there when the user comes back. */
  1: false,
  /** A full-screen program. */
  2: true,
  /** A full-screen game. */
  3: true,
  /** Presentation mode. */
  4: true,
  5: false,
  /** The first hours after Windows was set up. */
  6: true,
  /** An app of the Store runs, which says nothing about the user. */
  7: false,
};

/** null if unknown. No program can read Focus assist, but toasts respect it. */
function readDoNotDisturb(): boolean | null {
  const state = Buffer.alloc(4);
  if (win32().SHQueryUserNotificationState(state) !== 0) return null;
  return notificationStates[state.readInt32LE(0)] ?? null;
}
