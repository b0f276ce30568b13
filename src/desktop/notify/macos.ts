/** macOS: panels of beckon's own, drawn by the osascript child; node-notifier where that cannot be and its helper runs. */

import { readFileSync } from "node:fs";
import blockedIcon from "../../../assets/macos/alert-blocked.png" with { type: "file" };
import calmIcon from "../../../assets/macos/alert-calm.png" with { type: "file" };
import type { Notifier, NotifierOptions, OpenNotifier } from "../../core/ports.ts";
import { truncateEnd } from "../../core/text/text.ts";
import type { Alert } from "../../core/view/view.ts";
import { changeOver } from "../macos/change-over.ts";
import type { FromChild, PanelMessage } from "../macos/protocol.ts";
import { joinChild, type MacSettings, macSettings } from "../macos/shared.ts";

const maxTitle = 120;
const maxBodyLine = 200;
const bodyLines = 3;
/** Kept for a child that starts anew; more than that no person looks through. */
const maxPanels = 100;
const staysMs = { critical: null, normal: 20_000, low: 8_000 } as const satisfies Record<
  Alert["urgency"],
  number | null
>;

export const openMacNotifier: OpenNotifier = (options) =>
  openMacNotifierWith(options, macSettings, openOther);

const openOther: OpenNotifier = async (options) => {
  const { openNodeNotifier } = await import("./node-notifier.ts");
  return openNodeNotifier(options);
};

export async function openMacNotifierWith(
  options: NotifierOptions,
  settings: MacSettings,
  openOther: OpenNotifier,
): Promise<Notifier | null> {
  const alerts = new Map<string, Alert>();
  /** Of these, those that a child was told of: its successor shows them without a sound. */
  const shown = new Set<string>();
  let other: Notifier | null = null;
  let isStopped = false;

  const child = joinChild(options.folder, settings, {
    onReady() {
      for (const alert of alerts.values()) put(alert);
    },
    onMessage: hear,
    onProblem: options.onProblem,
    onLost: () =>
      void changeOver({
        name: "node-notifier",
        open: () => openOther(options),
        onProblem: options.onProblem,
        words: {
          used: "the helper (osascript) does not stay up: alerts are shown with node-notifier.",
          none:
            "alerts cannot be shown: the helper (osascript) does not stay up, and node-notifier's does not run here. " +
            "beckon tries again; `beckon status` shows who waits.",
        },
        isStopped: () => isStopped,
        use,
      }),
  });

  function put(alert: Alert): void {
    child.put(`panel ${alert.key}`, () => {
      const isAgain = shown.has(alert.key);
      shown.add(alert.key);
      return panelMessage(alert, isAgain);
    });
  }

  function drop(key: string): boolean {
    shown.delete(key);
    return alerts.delete(key);
  }

  function hear(message: FromChild): void {
    if (message.is !== "clicked" && message.is !== "closed") return;
    // A click that crossed our own close on its way.
    if (!drop(message.key)) return;
    if (message.is === "clicked") options.onClick(message.key, message.button);
    options.onClosed(message.key, message.is === "clicked" ? "user" : message.by);
  }

  async function use(opened: Notifier): Promise<void> {
    other = opened;
    const waiting = [...alerts.values()];
    alerts.clear();
    await child.stop();
    for (const alert of waiting) await opened.show(alert);
  }

  function close(key: string): void {
    if (drop(key)) child.put(`panel ${key}`, () => ({ do: "close", key }));
  }

  return {
    async show(alert, handle) {
      if (other !== null) return other.show(alert, handle);
      drop(alert.key);
      alerts.set(alert.key, alert);
      const [oldest] = alerts.keys();
      if (alerts.size > maxPanels && oldest !== undefined) {
        close(oldest);
        options.onClosed(oldest, "expired");
      }
      put(alert);
      // Panels end with the child that drew them, and so with this run of beckon.
      return null;
    },
    async close(key) {
      if (other === null) close(key);
      else await other.close(key);
    },
    async forget(handle) {
      await other?.forget(handle);
    },
    // Focus modes lie in a database that only Full Disk Access opens: beckon does not ask for that.
    async isSilenced() {
      return null;
    },
    async report() {
      const panels = { way: "panels of beckon's own", server: null, abilities: null, namesAlerts: false };
      return other === null ? { ...panels, missing: null } : other.report();
    },
    async stop() {
      isStopped = true;
      for (const key of [...alerts.keys()]) close(key);
      await Promise.all([other?.stop(), child.stop()]);
    },
  };
}

const icons: Readonly<Record<Alert["kind"], string>> = {
  blocked: blockedIcon,
  failed: blockedIcon,
  idle: calmIcon,
  finished: calmIcon,
};

function panelMessage(alert: Alert, isAgain: boolean): PanelMessage {
  return {
    do: "panel",
    key: alert.key,
    title: truncateEnd(alert.title, maxTitle) || "beckon",
    body: alert.isExact ? alert.body : shortBody(alert.body),
    isExact: alert.isExact === true,
    buttons: (alert.buttons ?? []).map(({ id, label, needsAll }) => ({ id, label, needsAll })),
    icon: readFileSync(icons[alert.kind], "base64"),
    isUrgent: alert.urgency === "critical",
    sound: alert.sound,
    staysMs: staysMs[alert.urgency],
    isAgain,
  };
}

function shortBody(body: string): string {
  return body
    .split("\n")
    .map((line) => truncateEnd(line, maxBodyLine))
    .filter((line) => line !== "")
    .slice(0, bodyLines)
    .join("\n");
}
