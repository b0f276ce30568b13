/** The tray's menu as Windows builds it: numbered rows with flags. */

import type { UserAction } from "../../core/config/user-action.ts";
import type { MenuItem } from "../../core/view/view.ts";

export interface NativeRow {
  readonly flags: number;
  readonly label: string;
  /** What TrackPopupMenuEx returns for it; 0: it cannot be chosen. */
  readonly command: number;
  readonly children: readonly NativeRow[];
}

export interface NativeMenu {
  readonly rows: readonly NativeRow[];
  /** The action of command n is at n - 1. */
  readonly actions: readonly UserAction[];
}

export const MF_GRAYED = 0x1;
export const MF_CHECKED = 0x8;
export const MF_POPUP = 0x10;
export const MF_SEPARATOR = 0x800;

const separator: NativeRow = { flags: MF_SEPARATOR, label: "", command: 0, children: [] };

export function nativeMenu(items: readonly MenuItem[]): NativeMenu {
  const actions: UserAction[] = [];

  const row = (item: MenuItem): NativeRow => {
    if (item.kind === "separator") return separator;
    const children = (item.children ?? []).map(row);
    const command = item.action === null ? 0 : actions.push(item.action);
    const label = labelOf(item.label);
    const checked = item.checked ? MF_CHECKED : 0;
    if (children.length === 0) {
      return { flags: checked | (command === 0 ? MF_GRAYED : 0), label, command, children };
    }
    // Windows cannot click what opens a submenu: its own action comes first inside.
    const own = { flags: 0, label, command, children: [] };
    const inside = command === 0 ? children : [own, separator, ...children];
    return { flags: checked | MF_POPUP, label, command: 0, children: inside };
  };

  return { rows: items.map(row), actions };
}

/** `&` would underline the next letter, a tab would move the rest to the right edge. */
function labelOf(label: string): string {
  return label.replace(/\p{Cc}+/gu, " ").replaceAll("&", "&&");
}
