/** What a server of org.freedesktop.Notifications is asked to show for an alert. */
import { Variant } from "@jellybrick/dbus-next";
import { escapeMarkup } from "../../core/text/markup.ts";
import { selectButtons } from "../../core/view/alerts/text.ts";
import type { Alert } from "../../core/view/view.ts";
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
import type { NotificationServer } from "./server.ts";

/** A server that hung shows the notification later, and only its answer has the id that closes it. */
const lateAnswerMs = 10 * 60_000;

interface Hint {
  readonly signature: "y" | "s" | "b";
  readonly value: number | string | boolean;
}

export interface Notification {
  readonly icon: string;
  readonly title: string;
  readonly body: string;
  /** Pairs of a key and its label. */
  readonly actions: readonly string[];
  readonly hints: Readonly<Record<string, Hint>>;
  readonly expireMs: number;
}

/** Actions that mean a click on the notification itself. */
export const clickActions: readonly string[] = ["default", "focus"];
const urgencies = { low: 0, normal: 1, urgent: 2 } as const satisfies Record<Alert["urgency"], number>;

/** Resolves with the id of the notification. `replaces` is the id of the one that it replaces; 0 if it is new. */
export async function notify(
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

/** `hasSounded`: this alert has made its sound before. */
export function createNotification(
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
  const isOneLine = /^gnome-shell$/i.test(program) && alert.urgency !== "urgent";
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
