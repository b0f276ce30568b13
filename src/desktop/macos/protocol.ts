/** The messages between beckon and its helper on macOS: one JSON object per line, in ASCII. script/messages.jxa.js is the other end. */
import { escapeUnit } from "../../core/text/json-text.ts";

export const protocolVersion = 1;
/** Limit for lines from the helper. Lines to it may be 16 times as long (script/messages.jxa.js). */
export const maxLineLength = 64 * 1024;

/** Without an id the row cannot be chosen: it is a heading, or opens a submenu. */
export interface MacMenuRow {
  readonly label: string;
  readonly id?: string;
  readonly checked?: true;
  readonly rows?: readonly (MacMenuRow | MacMenuSeparator)[];
}
export interface MacMenuSeparator {
  readonly separator: true;
}

export interface ViewMessage {
  readonly type: "view";
  /** Under this name macOS remembers the icon's position. */
  readonly name: string;
  /** Identifies this view: an action says in which view the user chose it. */
  readonly batch: number;
  /** A PNG, as base64. */
  readonly icon: string;
  readonly count: number;
  readonly title: string;
  readonly tooltip: string;
  readonly rows: readonly (MacMenuRow | MacMenuSeparator)[];
}

export interface PanelMessage {
  readonly type: "panel";
  readonly key: string;
  readonly title: string;
  readonly body: string;
  /** The body is the exact text of what is asked, so it gets as many lines as it has. */
  readonly isExact: boolean;
  /** `needsAll`: offered only if the whole body is visible. */
  readonly buttons: readonly { readonly id: string; readonly label: string; readonly needsAll: boolean }[];
  readonly icon: string;
  readonly isUrgent: boolean;
  readonly sound: boolean;
  /** null: until it is closed. */
  readonly visibleMs: number | null;
  /** It was on the screen before the helper was restarted: no sound. */
  readonly isRepeated: boolean;
}

export type ToHelper =
  | ViewMessage
  | { readonly type: "hide" }
  | PanelMessage
  | { readonly type: "close"; readonly key: string }
  /** The end of a batch. Its pong means that everything before it was handled. */
  | { readonly type: "ping"; readonly batch: number };

export type FromHelper =
  | { readonly type: "ready"; readonly version: number; readonly system: string }
  | { readonly type: "pong"; readonly batch: number }
  /** The menu was opened, with the rows of that view. */
  | { readonly type: "opened"; readonly batch: number }
  | { readonly type: "action"; readonly batch: number; readonly id: string }
  /** `button` is the id of a button, or null for a click on the panel itself. */
  | { readonly type: "clicked"; readonly key: string; readonly button: string | null }
  | { readonly type: "closed"; readonly key: string; readonly by: "user" | "expired" }
  | { readonly type: "error"; readonly text: string };

const nonAscii = /[\u007f-\uffff]/g;

export const encodeMessage = (message: ToHelper): string =>
  `${JSON.stringify(message).replace(nonAscii, escapeUnit)}\n`;

/** Returns null for a line that is not a message of this protocol. */
export function decodeMessage(line: string): FromHelper | null {
  if (line.length > maxLineLength) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { type, ...rest } = value as Readonly<Record<string, unknown>>;
  const { version, system, batch, id, key, by, text, button = null } = rest;
  if (type === "ready" && isCount(version) && isText(system)) return { type, version, system };
  if (type === "pong" && isCount(batch)) return { type, batch };
  if (type === "opened" && isCount(batch)) return { type, batch };
  if (type === "action" && isCount(batch) && isText(id)) return { type, batch, id };
  if (type === "clicked" && isText(key) && (button === null || isText(button))) return { type, key, button };
  if (type === "closed" && isText(key) && (by === "user" || by === "expired")) return { type, key, by };
  if (type === "error" && isText(text)) return { type, text };
  return null;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
