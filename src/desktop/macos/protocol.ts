/** What beckon and its osascript child say to each other: one JSON object a line, in ASCII (script/wire.jxa.js is the other end). */

export const protocolVersion = 1;
/** Of what the child says; what it is told may be 16 times as long (script/wire.jxa.js). */
export const maxLineLength = 64 * 1024;

/** Without an id it only tells, or opens its rows. */
export interface MacMenuRow {
  readonly label: string;
  readonly id?: string;
  readonly checked?: true;
  readonly rows?: readonly (MacMenuRow | MenuLine)[];
}
export interface MenuLine {
  readonly line: true;
}

export interface ViewMessage {
  readonly do: "view";
  /** Which view it is: comes back with what the person chose in it. */
  readonly batch: number;
  /** A PNG, as base64. */
  readonly icon: string;
  readonly count: number;
  readonly title: string;
  readonly tooltip: string;
  readonly rows: readonly (MacMenuRow | MenuLine)[];
}

export interface PanelMessage {
  readonly do: "panel";
  readonly key: string;
  readonly title: string;
  readonly body: string;
  /** Word for word, and so with as many lines as it has. */
  readonly isExact: boolean;
  /** `needsAll`: only where all of the body can be read. */
  readonly buttons: readonly { readonly id: string; readonly label: string; readonly needsAll: boolean }[];
  readonly icon: string;
  readonly isUrgent: boolean;
  readonly sound: boolean;
  /** null: until it is closed. */
  readonly staysMs: number | null;
  /** It was on the screen before the child was started anew: no sound. */
  readonly isAgain: boolean;
}

export type ToChild =
  | ViewMessage
  | { readonly do: "hide" }
  | PanelMessage
  | { readonly do: "close"; readonly key: string }
  /** The end of a batch: its pong says that all before it is done. */
  | { readonly do: "ping"; readonly batch: number };

export type FromChild =
  | { readonly is: "ready"; readonly version: number; readonly system: string }
  | { readonly is: "pong"; readonly batch: number }
  /** The menu was opened, as it stood in that view. */
  | { readonly is: "opened"; readonly batch: number }
  | { readonly is: "action"; readonly batch: number; readonly id: string }
  /** `button`: by its id; null: on the panel itself. */
  | { readonly is: "clicked"; readonly key: string; readonly button: string | null }
  | { readonly is: "closed"; readonly key: string; readonly by: "user" | "expired" }
  | { readonly is: "error"; readonly text: string };

const beyondAscii = /[\u007f-\uffff]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

export const encode = (message: ToChild): string =>
  `${JSON.stringify(message).replace(beyondAscii, escaped)}\n`;

/** null: not a line of this protocol. */
export function decode(line: string): FromChild | null {
  if (line.length > maxLineLength) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { is, ...rest } = value as Readonly<Record<string, unknown>>;
  const { version, system, batch, id, key, by, text, button = null } = rest;
  if (is === "ready" && isCount(version) && isText(system)) return { is, version, system };
  if (is === "pong" && isCount(batch)) return { is, batch };
  if (is === "opened" && isCount(batch)) return { is, batch };
  if (is === "action" && isCount(batch) && isText(id)) return { is, batch, id };
  if (is === "clicked" && isText(key) && (button === null || isText(button))) return { is, key, button };
  if (is === "closed" && isText(key) && (by === "user" || by === "expired")) return { is, key, by };
  if (is === "error" && isText(text)) return { is, text };
  return null;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
