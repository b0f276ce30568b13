/** What a person sees of the state, as data: adapters show it, and know nothing else. */
import type { UserAction } from "../config/user-action.ts";

export interface MenuEntry {
  readonly kind: "entry";
  /** Stays the same while the entry means the same, whatever its words and place. */
  readonly id: string;
  readonly label: string;
  /** null: it only tells, or only opens its children. */
  readonly action: UserAction | null;
  readonly checked?: boolean;
  /** It says yes to what its siblings tell: without any of them it must not be there either. */
  readonly needsAll?: true;
  readonly children?: readonly MenuItem[];
}

export type MenuItem = MenuEntry | { readonly kind: "separator"; readonly id: string };

export interface TrayIcon {
  readonly phase: "calm" | "working" | "blocked";
  /** How many sessions are blocked. */
  readonly count: number;
}

export interface TrayView {
  readonly icon: TrayIcon;
  /** "beckon: 2 need you, 3 working" */
  readonly title: string;
  /** For a tooltip: the first few sessions, one a line. */
  readonly tooltip: string;
  readonly items: readonly MenuItem[];
}

export type AlertKind = "blocked" | "failed" | "idle" | "finished";

export interface AlertButton {
  /** Not the same for another ask. */
  readonly id: string;
  readonly label: string;
  readonly action: UserAction;
  /** It says yes to what the body tells: only where all of the body can be read. */
  readonly needsAll: boolean;
}

/** An alert that should be on the screen. */
export interface Alert {
  /** Once per ask: as long as it stays the same, it is the same alert. */
  readonly key: string;
  readonly session: string;
  readonly kind: AlertKind;
  readonly urgency: "critical" | "normal" | "low";
  readonly sound: boolean;
  readonly title: string;
  /** Plain text, a few short lines. */
  readonly body: string;
  /** Wall time. */
  readonly since: number;
  /** Several in one: the keys of those it stands for. Who sends it away sends them away. */
  readonly covers?: readonly string[];
  /** The body is word for word, blanks and empty lines too: it is shown as it is. */
  readonly isExact?: true;
  /** Beside going there, which every alert can do. At most three. */
  readonly buttons?: readonly AlertButton[];
}

/** In columns. */
export const maxLabelColumns = 80;

/** Unlike a join alone, never the same for different parts. */
export function createEntryId(...parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");
}
