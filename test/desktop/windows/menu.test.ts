import { describe, expect, test } from "bun:test";
import type { UserAction } from "../../../src/core/config/user-action.ts";
import type { MenuItem } from "../../../src/core/view/view.ts";
import {
  MF_CHECKED,
  MF_GRAYED,
  MF_POPUP,
  MF_SEPARATOR,
  nativeMenu,
} from "../../../src/desktop/windows/menu.ts";

const entry = (label: string, action: UserAction | null, more: object = {}): MenuItem => ({
  kind: "entry",
  id: label,
  label,
  action,
  ...more,
});
const next: UserAction = { do: "next" };
const quit: UserAction = { do: "quit" };
const about: UserAction = { do: "about" };

describe("the menu as Windows builds it", () => {
  test("every entry that does something has a number, and that number its action", () => {
    const { rows, actions } = nativeMenu([
      entry("Needs you", null),
      entry("shop", null, { children: [entry("Go", next), entry("Mute", about, { checked: true })] }),
      { kind: "separator", id: "-" },
      entry("Quit", quit),
    ]);
    expect(actions).toEqual([next, about, quit]);
    expect(rows).toEqual([
      { flags: MF_GRAYED, label: "Needs you", command: 0, children: [] },
      {
        flags: MF_POPUP,
        label: "shop",
        command: 0,
        children: [
          { flags: 0, label: "Go", command: 1, children: [] },
          { flags: MF_CHECKED, label: "Mute", command: 2, children: [] },
        ],
      },
      { flags: MF_SEPARATOR, label: "", command: 0, children: [] },
      { flags: 0, label: "Quit", command: 3, children: [] },
    ]);
  });

  test("an entry that opens others and does something itself can still be clicked, inside", () => {
    const { rows, actions } = nativeMenu([entry("shop", next, { children: [entry("Mute", about)] })]);
    const inside = rows[0]?.children ?? [];
    expect(inside.map(({ label }) => label)).toEqual(["shop", "", "Mute"]);
    expect(inside.map(({ command }) => actions[command - 1])).toEqual([next, undefined, about]);
  });

  test("a text is shown as it is: no underlined letter, no column of its own, no second line", () => {
    const [row] = nativeMenu([entry("R&D &amp\ta\nb", next)]).rows;
    expect(row?.label).toBe("R&&D &&amp a b");
  });
});
