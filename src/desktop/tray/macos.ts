/** The tray on macOS: an item in the menu bar, drawn by the osascript helper. */

import type { UserAction } from "../../core/config/user-action.ts";
import type { OpenTray, Tray, TrayOptions } from "../../core/interfaces/index.ts";
import { truncateEnd } from "../../core/text/text.ts";
import type { MenuItem, TrayView } from "../../core/view/view.ts";
import { joinMacHelper, type MacSettings, macSettings } from "../macos/index.ts";
import type { FromHelper, MacMenuRow, MacMenuSeparator, ViewMessage } from "../macos/protocol.ts";
import { readTemplatePng } from "./icons.ts";

/** core/view cuts the menu to fit; these limits only keep a line of the protocol short. */
const maxLabel = 200;
const maxLabelLength = 80 * 16;
const maxRows = 500;
const missing =
  "the helper (osascript) does not stay up. beckon goes on without it and tries again; `beckon status` shows the same.";

export const openMacTray: OpenTray = (options) => openMacTrayWith(options, macSettings);

export async function openMacTrayWith(options: TrayOptions, settings: MacSettings): Promise<Tray> {
  let view: TrayView | null = null;
  let isMissing = false;
  /** The actions of each view whose menu can still be open: batch → id → action. */
  let actions = new Map<number, ReadonlyMap<string, UserAction>>();
  let sentBatch = 0;
  let openedBatch = 0;

  const helper = joinMacHelper(options.folder, settings, {
    onReady() {
      isMissing = false;
      actions = new Map();
      show();
    },
    onMessage,
    onProblem: options.onProblem,
    onGivenUp() {
      isMissing = true;
      options.onProblem(`no icon in the menu bar: ${missing}`);
    },
  });

  function show(): void {
    const shown = view;
    if (shown === null) return;
    helper.put("view", (batch) => {
      const viewActions = new Map<string, UserAction>();
      const name = options.isDemo ? "beckon-demo" : "beckon";
      const message = { ...createViewMessage(shown, batch, viewActions), name };
      actions.set(batch, viewActions);
      sentBatch = batch;
      return message;
    });
  }

  function onMessage(message: FromHelper): void {
    if (message.type === "opened") openedBatch = message.batch;
    if (message.type === "opened" || message.type === "pong") forgetOlderViews(message.batch);
    if (message.type !== "action") return;
    const action = actions.get(message.batch)?.get(message.id);
    if (action !== undefined) options.onAction(action);
  }

  /** Messages are answered in order: of the views before this batch, only the open one can still be clicked. */
  function forgetOlderViews(batch: number): void {
    const newest = Math.max(...[...actions.keys()].filter((known) => known <= batch), 0);
    for (const known of actions.keys()) {
      if (known < newest && known !== openedBatch && known !== sentBatch) actions.delete(known);
    }
  }

  return {
    show(wanted) {
      view = wanted;
      show();
    },
    report: async () => ({ way: "menu bar", host: null, missing: isMissing ? missing : null }),
    async stop() {
      view = null;
      helper.put("view", () => ({ type: "hide" }));
      await helper.stop();
    },
  };
}

function createViewMessage(
  view: TrayView,
  batch: number,
  actions: Map<string, UserAction>,
): Omit<ViewMessage, "name"> {
  return {
    type: "view",
    batch,
    // The menu bar shows the number beside the icon, in its own font.
    icon: readTemplatePng({ phase: view.icon.phase, count: 0 }).toString("base64"),
    count: view.icon.count,
    title: truncateEnd(view.title, maxLabel),
    tooltip: view.tooltip
      .split("\n", 10)
      .map((line) => truncateEnd(line, maxLabel))
      .join("\n"),
    rows: createRows(view.items, actions),
  };
}

/** Fills `actions` with the action of each row. */
function createRows(
  items: readonly MenuItem[],
  actions: Map<string, UserAction>,
): (MacMenuRow | MacMenuSeparator)[] {
  return items.slice(0, maxRows).map((item) => {
    if (item.kind === "separator") return { separator: true };
    const { id, label, action, checked, children = [] } = item;
    if (action !== null) actions.set(id, action);
    return {
      // A label that fits keeps its spaces: it may be the exact text of what is asked.
      label: label.length <= maxLabelLength ? label : truncateEnd(label, maxLabel),
      ...(action === null ? {} : { id }),
      ...(checked ? { checked } : {}),
      ...(children.length === 0 ? {} : { rows: createRows(children, actions) }),
    };
  });
}
