/** The tray's menu as Windows builds it: rows with flags and a command number. */

import type { UserAction } from "../../core/config/user-action.ts";
import type { MenuItem } from "../../core/view/view.ts";

export interface NativeRow {
  readonly flags: number;
  readonly label: string;
  /** What TrackPopupMenuEx returns for this row; 0 if it cannot be chosen. */
  readonly command: number;
  readonly children: readonly NativeRow[];
}

export interface NativeMenu {
  readonly rows: readonly NativeRow[];
  /** The action of command n has index n - 1. */
  readonly actions: readonly UserAction[];
}

export const MF_GRAYED = 0x1;
export const MF_CHECKED = 0x8;
export const MF_POPUP = 0x10;
export const MF_SEPARATOR = 0x800;

const separator: NativeRow = { flags: MF_SEPARATOR, label: "", command: 0, children: [] };

export function createNativeMenu(items: readonly MenuItem[]): NativeMenu {
  const actions: UserAction[] = [];

  const createRow = (item: MenuItem): NativeRow => {
    if (item.kind === "separator") return separator;
    const children = (item.children ?? []).map(createRow);
    const command = item.action === null ? 0 : actions.push(item.action);
    const label = escapeLabel(item.label);
    const checked = item.checked ? MF_CHECKED : 0;
    if (children.length === 0) {
      return { flags: checked | (command === 0 ? MF_GRAYED : 0), label, command, children };
    }
    // A row that opens a submenu cannot be clicked on Windows, so its own action is the first row of the submenu.
    const own = { flags: 0, label, command, children: [] };
    const rows = command === 0 ? children : [own, separator, ...children];
    return { flags: checked | MF_POPUP, label, command: 0, children: rows };
  };

  return { rows: items.map(createRow), actions };
}

/** `&` would underline the next letter, and a tab would move the rest to the right edge. */
function escapeLabel(label: string): string {
  return label.replace(/\p{Cc}+/gu, " ").replaceAll("&", "&&");
}
