/** Alerts on macOS: panels drawn by the osascript helper. */
import { readFileSync } from "node:fs";
import blockedIcon from "../../../assets/macos/alert-blocked.png" with { type: "file" };
import calmIcon from "../../../assets/macos/alert-calm.png" with { type: "file" };
import type { Notifier, NotifierOptions, OpenNotifier } from "../../core/interfaces/index.ts";
import { truncateEnd } from "../../core/text/text.ts";
import type { Alert } from "../../core/view/view.ts";
import { joinMacHelper, type MacSettings, macSettings } from "../macos/index.ts";
import type { FromHelper, PanelMessage } from "../macos/protocol.ts";
import { formatBody } from "./alert-text.ts";

const maxTitle = 120;
const maxBodyLine = 200;
const bodyLines = 3;
/** Kept for a restarted helper. */
const maxPanels = 100;
const visibleMs = { urgent: null, normal: 20_000, low: 8_000 } as const satisfies Record<
  Alert["urgency"],
  number | null
>;

const missing =
  "the helper (osascript) does not stay up. beckon tries again; `beckon status` shows which sessions need you.";

export const openMacNotifier: OpenNotifier = (options) => openMacNotifierWith(options, macSettings);

export async function openMacNotifierWith(
  options: NotifierOptions,
  settings: MacSettings,
): Promise<Notifier> {
  const alerts = new Map<string, Alert>();
  /** The alerts that a helper has shown: a restarted helper shows them without a sound. */
  const shown = new Set<string>();
  let isMissing = false;

  const helper = joinMacHelper(options.folder, settings, {
    onReady() {
      isMissing = false;
      for (const alert of alerts.values()) put(alert);
    },
    onMessage,
    onProblem: options.onProblem,
    onGivenUp() {
      isMissing = true;
      options.onProblem(`alerts cannot be shown: ${missing}`);
    },
  });

  function put(alert: Alert): void {
    helper.put(`panel ${alert.key}`, () => {
      const isRepeated = shown.has(alert.key);
      shown.add(alert.key);
      return createPanelMessage(alert, isRepeated);
    });
  }

  /** Returns whether there was an alert with this key. */
  function remove(key: string): boolean {
    shown.delete(key);
    return alerts.delete(key);
  }

  function onMessage(message: FromHelper): void {
    if (message.type !== "clicked" && message.type !== "closed") return;
    // The user clicked while beckon was closing the alert.
    if (!remove(message.key)) return;
    if (message.type === "clicked") options.onClick(message.key, message.button);
    options.onClosed(message.key, message.type === "clicked" ? "user" : message.by);
  }

  function close(key: string): void {
    if (remove(key)) helper.put(`panel ${key}`, () => ({ type: "close", key }));
  }

  return {
    async show(alert) {
      remove(alert.key);
      alerts.set(alert.key, alert);
      const [oldest] = alerts.keys();
      if (alerts.size > maxPanels && oldest !== undefined) {
        close(oldest);
        options.onClosed(oldest, "expired");
      }
      put(alert);
      // Panels end with the helper, so there is nothing to close after a restart of beckon.
      return null;
    },
    async close(key) {
      close(key);
    },
    async forget() {},
    // Focus modes are in a database that only Full Disk Access can read: beckon does not ask for that.
    async isSilenced() {
      return null;
    },
    async report() {
      return {
        way: "beckon's own panels",
        server: null,
        abilities: null,
        namesAlerts: false,
        missing: isMissing ? missing : null,
      };
    },
    async stop() {
      for (const key of [...alerts.keys()]) close(key);
      await helper.stop();
    },
  };
}

const icons: Readonly<Record<Alert["kind"], string>> = {
  blocked: blockedIcon,
  failed: blockedIcon,
  idle: calmIcon,
  finished: calmIcon,
  untracked: calmIcon,
  limit: calmIcon,
};

function createPanelMessage(alert: Alert, isRepeated: boolean): PanelMessage {
  return {
    type: "panel",
    key: alert.key,
    title: truncateEnd(alert.title, maxTitle) || "beckon",
    body: formatBody(alert, { width: maxBodyLine, maxLines: bodyLines }),
    isExact: alert.isExact === true,
    buttons: (alert.buttons ?? []).map(({ id, label, needsAll }) => ({ id, label, needsAll })),
    icon: readFileSync(icons[alert.kind], "base64"),
    isUrgent: alert.urgency === "urgent",
    sound: alert.sound,
    visibleMs: visibleMs[alert.urgency],
    isRepeated,
  };
}
