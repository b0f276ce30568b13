/** macOS: an item in the menu bar, drawn by the osascript child; systray2 where that cannot be and its helper runs. */

import type { UserAction } from "../../core/config/user-action.ts";
import type { OpenTray, Tray, TrayOptions } from "../../core/ports.ts";
import { truncateEnd } from "../../core/text/text.ts";
import type { MenuItem, TrayView } from "../../core/view/view.ts";
import { changeOver } from "../macos/change-over.ts";
import type { FromChild, MacMenuRow, MenuLine, ViewMessage } from "../macos/protocol.ts";
import { joinChild, type MacSettings, macSettings } from "../macos/shared.ts";
import { readTemplatePng } from "./icons/macos.ts";

/** The menu is cut to fit before; this only keeps a line of the protocol in bounds. */
const maxLabel = 200;
const maxLabelLength = 80 * 16;
const maxRows = 500;

export const openMacTray: OpenTray = (options) => openMacTrayWith(options, macSettings, openOther);

const openOther: OpenTray = async (options) => {
  const { openSystray } = await import("./systray.ts");
  return openSystray(options, readTemplatePng);
};

export async function openMacTrayWith(
  options: TrayOptions,
  settings: MacSettings,
  openOther: OpenTray,
): Promise<Tray | null> {
  let view: TrayView | null = null;
  let other: Tray | null = null;
  let isStopped = false;
  /** What the entries of a view did, as long as its menu can be open. */
  let actions = new Map<number, ReadonlyMap<string, UserAction>>();
  let sent = 0;
  let openedFrom = 0;

  const child = joinChild(options.folder, settings, {
    onReady() {
      actions = new Map();
      show();
    },
    onMessage: hear,
    onProblem: options.onProblem,
    onLost: () =>
      void changeOver({
        name: "systray2",
        open: () => openOther(options),
        onProblem: options.onProblem,
        words: {
          used: "the menu-bar helper (osascript) does not stay up: the icon is shown with systray2.",
          none:
            "no icon in the menu bar: the helper (osascript) does not stay up, and systray2 does not run here. " +
            "beckon goes on without one, tries again, and `beckon status` shows the same.",
        },
        isStopped: () => isStopped,
        use,
      }),
  });

  function show(): void {
    const shown = view;
    if (shown === null) return;
    child.put("view", (batch) => {
      const chosen = new Map<string, UserAction>();
      const message = viewMessage(shown, batch, chosen);
      actions.set(batch, chosen);
      sent = batch;
      return message;
    });
  }

  function hear(message: FromChild): void {
    if (message.is === "opened") openedFrom = message.batch;
    if (message.is === "opened" || message.is === "pong") forgetOlder(message.batch);
    if (message.is !== "action") return;
    const action = actions.get(message.batch)?.get(message.id);
    if (action !== undefined) options.onAction(action);
  }

  /** Sent in order and answered in order: before this batch, only the view that is open can still be clicked in. */
  function forgetOlder(batch: number): void {
    const newest = Math.max(...[...actions.keys()].filter((known) => known <= batch), 0);
    for (const known of actions.keys()) {
      if (known < newest && known !== openedFrom && known !== sent) actions.delete(known);
    }
  }

  function use(opened: Tray): void {
    other = opened;
    if (view !== null) opened.show(view);
    void child.stop();
  }

  return {
    show(next) {
      view = next;
      if (other === null) show();
      else other.show(next);
    },
    report: async () => other?.report() ?? { way: "menu bar", host: null, missing: null },
    async stop() {
      isStopped = true;
      view = null;
      child.put("view", () => ({ do: "hide" }));
      await Promise.all([other?.stop(), child.stop()]);
    },
  };
}

function viewMessage(view: TrayView, batch: number, chosen: Map<string, UserAction>): ViewMessage {
  return {
    do: "view",
    batch,
    // The number stands beside it, in the menu bar's own type.
    icon: readTemplatePng({ phase: view.icon.phase, count: 0 }).toString("base64"),
    count: view.icon.count,
    title: truncateEnd(view.title, maxLabel),
    tooltip: view.tooltip
      .split("\n", 10)
      .map((line) => truncateEnd(line, maxLabel))
      .join("\n"),
    rows: rowsOf(view.items, chosen),
  };
}

function rowsOf(items: readonly MenuItem[], chosen: Map<string, UserAction>): (MacMenuRow | MenuLine)[] {
  return items.slice(0, maxRows).map((item) => {
    if (item.kind === "separator") return { line: true };
    const { id, label, action, checked, children = [] } = item;
    if (action !== null) chosen.set(id, action);
    return {
      // What fits stays as it is, blanks too: it may be the exact text of what is asked.
      label: label.length <= maxLabelLength ? label : truncateEnd(label, maxLabel),
      ...(action === null ? {} : { id }),
      ...(checked ? { checked } : {}),
      ...(children.length === 0 ? {} : { rows: rowsOf(children, chosen) }),
    };
  });
}
