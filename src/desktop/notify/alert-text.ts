/** The text of an alert, for every notifier that shows a title and some lines. */

import { truncateEnd } from "../../core/text/text.ts";
import type { Alert } from "../../core/view/view.ts";

export const appName = "beckon";
export const clickLabel = "Go to terminal";
/** A sound of the freedesktop sound theme, which every desktop has. */
export const soundName = "message-new-instant";
/** Every notification server shows at least this many lines of a body. */
export const minVisibleLines = 4;

/** GNOME cuts a title to one line itself; other servers wrap it. */
const titleWidth = 80;
const bodyWidth = 160;
const maxBodyLines = 6;

/** false for a message of beckon itself, which belongs to no session. */
export const hasTerminal = ({ session }: Alert): boolean => session !== "";

export function formatTitle(alert: Alert): string {
  // Some servers refuse a notification without a title.
  return truncateEnd(alert.title, titleWidth) || appName;
}

export function formatBody(alert: Alert, { width = bodyWidth, maxLines = maxBodyLines } = {}): string {
  if (alert.isExact) return alert.body;
  return alert.body
    .split(/\r\n|[\n\r\u2028\u2029]/, maxLines * 4)
    .map((line) => truncateEnd(line, width))
    .filter((line) => line !== "")
    .slice(0, maxLines)
    .join("\n");
}

export function isQuiet(alert: Alert): boolean {
  return alert.urgency === "low";
}

/** 0: until it is closed. -1: the server decides. */
export function expireTimeoutOf(alert: Alert): number {
  return alert.kind === "blocked" ? 0 : -1;
}
