/**
 * What users see of the state: menu, alerts, groups, sessions, and the texts in them. Each is a pure function of sessions,
 * preferences, settings and time.
 *
 * This file has the data that desktop adapters show. They know nothing else.
 */
import type { LeftClick } from "../config/config.ts";
import type { UserAction } from "../config/user-action.ts";
import type { AlertKind, Urgency } from "./alerts/kinds.ts";

export interface MenuEntry {
  readonly kind: "entry";
  /** Stays the same as long as the entry means the same, even if its label or position changes. */
  readonly id: string;
  readonly label: string;
  /** null if it is only a text, or only opens its children. */
  readonly action: UserAction | null;
  readonly checked?: boolean;
  /** It approves what the entries above it show. If any of them cannot be shown, it must not be shown either. */
  readonly needsAll?: true;
  readonly children?: readonly MenuItem[];
}

export type MenuItem = MenuEntry | { readonly kind: "separator"; readonly id: string };

export interface TrayIcon {
  /** "failed": a session failed, and none is blocked. */
  readonly phase: "calm" | "working" | "failed" | "blocked";
  /** How many sessions are blocked. */
  readonly count: number;
}

export interface TrayView {
  readonly icon: TrayIcon;
  /** "beckon: 2 need you, 3 working" */
  readonly title: string;
  /** The first sessions, one per line. */
  readonly tooltip: string;
  readonly items: readonly MenuItem[];
  readonly leftClick: LeftClick;
}

/** What a tray shows until it gets its first view. */
export const emptyView: TrayView = {
  icon: { phase: "calm", count: 0 },
  title: "beckon",
  tooltip: "",
  items: [],
  leftClick: "menu",
};

export interface AlertButton {
  /** Different for every ask. */
  readonly id: string;
  readonly label: string;
  readonly action: UserAction;
  /** It approves what the body shows, so it needs a place that shows the whole body. */
  readonly needsAll: boolean;
}

/** An alert that should be shown now. */
export interface Alert {
  /** Identifies the alert: one per ask. */
  readonly key: string;
  readonly session: string;
  readonly kind: AlertKind;
  readonly urgency: Urgency;
  readonly sound: boolean;
  readonly title: string;
  /** Plain text, a few short lines. */
  readonly body: string;
  /** Wall time. */
  readonly since: number;
  /** The keys of the alerts that this one stands for. Dismissing it dismisses them. */
  readonly covers?: readonly string[];
  /** The body is exact, with its blanks and empty lines, and must be shown unchanged. */
  readonly isExact?: true;
  /** At most three, besides the click that every alert has: go to the terminal. */
  readonly buttons?: readonly AlertButton[];
}

export const maxLabelColumns = 80;

/** Joins the parts so that different parts never give the same id. */
export function createEntryId(...parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");
}

/** Puts a separator between sections. `scope` is part of the separators' ids; it is unique to this menu. */
export function joinSections(sections: readonly (readonly MenuItem[])[], scope: string): MenuItem[] {
  const filled = sections.filter((section) => section.length > 0);
  return filled.flatMap((section, index) => {
    if (index === 0) return section;
    const id = createEntryId("separator", scope, section[0]?.id ?? "");
    return [{ kind: "separator" as const, id }, ...section];
  });
}
