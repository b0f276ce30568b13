import { describe, expect, test } from "bun:test";
import type { UserAction } from "../../../src/core/config/user-action.ts";
import type { MenuItem } from "../../../src/core/view/view.ts";
import {
  createNativeMenu,
  MF_CHECKED,
  MF_GRAYED,
  MF_POPUP,
  MF_SEPARATOR,
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
  test("every entry with an action has a command number for it", () => {
    const { rows, actions } = createNativeMenu([
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

  test("the action of an entry with a submenu is the first row of the submenu", () => {
    const { rows, actions } = createNativeMenu([entry("shop", next, { children: [entry("Mute", about)] })]);
    const submenu = rows[0]?.children ?? [];
    expect(submenu.map(({ label }) => label)).toEqual(["shop", "", "Mute"]);
    expect(submenu.map(({ command }) => actions[command - 1])).toEqual([next, undefined, about]);
  });

  test("a label is shown as it is: no underlined letter, no second column, no second line", () => {
    const [row] = createNativeMenu([entry("R&D &amp\ta\nb", next)]).rows;
    expect(row?.label).toBe("R&&D &&amp a b");
  });
});
