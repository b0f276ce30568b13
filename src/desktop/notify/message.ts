/** An alert in the words of org.freedesktop.Notifications: pure, so that what a desktop is told can be read in a test. */

import { truncateEnd } from "../../core/text/text.ts";
import { selectButtons } from "../../core/view/alerts/text.ts";
import type { Alert } from "../../core/view/view.ts";

export interface NotificationHint {
  readonly signature: "y" | "s" | "b";
  readonly value: number | string | boolean;
}

export interface Message {
  readonly icon: string;
  readonly title: string;
  readonly body: string;
  /** Pairs of a key and its label. */
  readonly actions: readonly string[];
  readonly hints: Readonly<Record<string, NotificationHint>>;
  /** 0: until it is closed; -1: as long as the desktop thinks right. */
  readonly expireMs: number;
}

export const appName = "beckon";
export const clickKeys: readonly string[] = ["default", "focus"];
export const clickLabel = "Go to terminal";
/** Of the freedesktop sound theme, which every desktop has. */
export const soundName = "message-new-instant";

/** A word of beckon's own is about no terminal. */
export const leadsSomewhere = ({ session }: Alert): boolean => session !== "";

/** GNOME shows one line of a title and cuts it itself; the others wrap it. */
const titleWidth = 80;
const bodyWidth = 160;
const bodyLines = 6;
const urgencies = { low: 0, normal: 1, critical: 2 } as const satisfies Record<Alert["urgency"], number>;

export function titleOf(alert: Alert): string {
  // A notification without a title is refused by some servers.
  return truncateEnd(alert.title, titleWidth) || appName;
}

export function bodyOf(alert: Alert): string {
  if (alert.isExact) return alert.body;
  return alert.body
    .split(/\r\n|[\n\r\u2028\u2029]/, bodyLines * 4)
    .map((line) => truncateEnd(line, bodyWidth))
    .filter((line) => line !== "")
    .slice(0, bodyLines)
    .join("\n");
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (sign) => entities[sign] ?? sign);
}

export function isQuiet(alert: Alert): boolean {
  return alert.urgency === "low";
}

export function expireMsOf(alert: Alert): number {
  return alert.kind === "blocked" ? 0 : -1;
}

/** GNOME Shell makes one line of what is not urgent, with nothing between its parts. */
function joined(alert: Alert, program: string): string {
  const isOneLine = /^gnome-shell$/i.test(program) && alert.urgency !== "critical";
  return isOneLine ? bodyOf(alert).replaceAll("\n", " · ") : bodyOf(alert);
}

/** How many rows of a body are there to be read; of a server nobody has looked at, no more than the smallest shows. */
const shownRows: readonly (readonly [RegExp, number])[] = [
  [/^xfce/i, 14],
  [/^gnome-shell$/i, 6],
];
export const leastRows = 4;
/** GNOME Shell leaves out the fourth. */
const maxButtons = 3;

/**
 * A click on the notification itself, and a button where the server draws none for that, as xfce4-notifyd does. That one
 * stands last: where it stood before there were others.
 */
function actionsOf(alert: Alert, program: string): readonly string[] {
  if (!leadsSomewhere(alert)) return [];
  const drawsNone = /^(gnome-shell|plasma|cinnamon|swaynotificationcenter)$/i.test(program);
  const rows = shownRows.find(([name]) => name.test(program))?.[1] ?? leastRows;
  const buttons = selectButtons(alert, rows);
  const looks = clickKeys.slice(0, drawsNone && buttons.length < maxButtons ? 2 : 1);
  return [...buttons.flatMap(({ id, label }) => [id, label]), ...looks.flatMap((key) => [key, clickLabel])];
}

/** `isHeard`: this very alert has made its sound before. */
export function messageOf(
  alert: Alert,
  { capabilities: can, program }: { readonly capabilities: ReadonlySet<string>; readonly program: string },
  { icon, isHeard }: { readonly icon: string; readonly isHeard: boolean },
): Message {
  const body = joined(alert, program);
  return {
    icon,
    title: titleOf(alert),
    body: can.has("body-markup") ? escapeMarkup(body) : body,
    actions: can.has("actions") ? actionsOf(alert, program) : [],
    hints: {
      urgency: { signature: "y", value: urgencies[alert.urgency] },
      category: { signature: "s", value: `x-beckon.${alert.kind}` },
      "desktop-entry": { signature: "s", value: appName },
      ...(isQuiet(alert) && { transient: { signature: "b", value: true } }),
      ...(alert.sound && !isHeard && can.has("sound")
        ? { "sound-name": { signature: "s", value: soundName } }
        : { "suppress-sound": { signature: "b", value: true } }),
    },
    expireMs: expireMsOf(alert),
  };
}
