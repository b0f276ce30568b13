/** Alerts on Windows: toasts by PowerShell; where that cannot show them, balloons at the tray's icon. */

import type { Notifier, OpenNotifier } from "../../core/ports.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import { createBalloons } from "../windows/balloons.ts";
import { writeRegistry } from "../windows/registry.ts";
import { isSilenced } from "../windows/silence.ts";
import { joinTaskbar } from "../windows/taskbar.ts";
import { isTag, newId, powershell, registration, tagOf, toastButtons, toastXml } from "../windows/toast.ts";
import { createToasts } from "../windows/toasts.ts";
import { alertIcon } from "./icon.ts";

export const openWindowsNotifier: OpenNotifier = async ({ onClick, onClosed, onProblem, folder }) => {
  /** Toast ids that a click may name, and whose they are: of an alert itself, or of one of its buttons. */
  const clickable = new Map<string, { readonly key: string; readonly button: string | null }>();
  /** The last wish of each: PowerShell takes its time, and an alert may be closed before it could not be shown. */
  const wanted = new Map<string, Alert>();
  const taskbar = await joinTaskbar({
    onProblem: () => {},
    onBalloon(key, what) {
      if (!balloons.has(key)) return;
      balloons.ended(key);
      wanted.delete(key);
      if (what === "clicked") onClick(key, null);
      else onClosed(key, "expired");
    },
    onToastClicked(id) {
      const clicked = clickable.get(id);
      if (clicked === undefined) return;
      // One click, one answer: the other buttons are over with it.
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
  /** null: alerts are shown as balloons. */
  let toasts = opened;

  function openToasts() {
    const { SystemRoot } = process.env;
    const command = powershell(SystemRoot);
    if (command === null || SystemRoot === undefined) return null;
    const fault = writeRegistry(registration(ourProgram(), SystemRoot, alertIcon(folder)));
    if (fault === null) return createToasts(command, exec);
    onProblem(`no toasts: ${fault}. Alerts are shown as balloons.`);
    return null;
  }

  async function showToast(alert: Alert): Promise<string | null> {
    forgetIds(alert.key);
    const { key } = alert;
    const id = newId();
    clickable.set(id, { key, button: null });
    const ids = toastButtons(alert).map((button) => {
      const own = newId();
      clickable.set(own, { key, button: button.id });
      return own;
    });
    const tag = tagOf(key);
    const fault = await toasts?.send({ tag, xml: toastXml(alert, id, ids) });
    if (fault === null) return tag;
    for (const one of [id, ...ids]) clickable.delete(one);
    if (toasts !== null) {
      toasts = null;
      onProblem(`no toasts: ${fault}. Alerts are shown as balloons.`);
    }
    return null;
  }

  function forgetIds(key: string): void {
    for (const [id, other] of clickable) if (other.key === key) clickable.delete(id);
  }

  const notifier: Notifier = {
    async show(alert) {
      wanted.set(alert.key, alert);
      const tag = toasts === null ? null : await showToast(alert);
      if (tag === null && wanted.get(alert.key) === alert) balloons.show(alert);
      return tag;
    },
    async close(key) {
      wanted.delete(key);
      forgetIds(key);
      balloons.close(key);
      await toasts?.send({ tag: tagOf(key), xml: null });
    },
    async forget(handle) {
      if (isTag(handle)) await toasts?.send({ tag: handle, xml: null });
    },
    isSilenced: async () => isSilenced(),
    async report() {
      const way = toasts === null ? "balloons" : "toasts";
      return { way, server: null, abilities: null, namesAlerts: false, missing: null };
    },
    async stop() {
      await opened?.stop();
      await taskbar?.leave();
    },
  };
  return notifier;
};

/** The binary itself; from source, Bun with the file it was started with. */
function ourProgram(): string[] {
  return Bun.main.includes("~BUN") ? [process.execPath] : [process.execPath, Bun.main];
}
