/** The tray by systray2's helper, where the system has no better way. */

import type { Tray, TrayOptions } from "../../core/interfaces/index.ts";
import { emptyView, type TrayIcon, type TrayView } from "../../core/view/view.ts";
import { ConnectionError, type KeptConnection, keepConnected } from "../../system/keep-connected.ts";
import { schedule } from "../../system/schedule.ts";
import { createThrottle } from "../coalesce.ts";
import {
  type Helper,
  type HelperAction,
  type HelperMenu,
  removeHelperIcons,
  startHelper,
  unpackHelper,
} from "./systray-helper.ts";
import { createSlots, findChangedSlots, type SlotMenu } from "./systray-slots.ts";

interface Running {
  readonly helper: Helper;
  shown: TrayView;
  slots: SlotMenu;
  isSending: boolean;
}

const updateEveryMs = 200;
const backoff = { firstMs: 1_000, maxMs: 60_000 };
/** A helper that ran this long was healthy: the next failure counts as the first. */
const healthyAfterMs = 60_000;

/** `readIcon`: the icon in the format that the helper takes on this system. */
export async function openSystray(
  { onAction, onProblem, folder }: TrayOptions,
  readIcon: (icon: TrayIcon) => Buffer,
): Promise<Tray | null> {
  let view = emptyView;
  let running: Running | null = null;

  function menuOf(shown: TrayView, { slots }: SlotMenu): HelperMenu {
    return {
      icon: readIcon(shown.icon).toString("base64"),
      title: "",
      tooltip: shown.title,
      isTemplateIcon: false,
      items: slots,
    };
  }

  function actionsTo(wanted: TrayView, { shown, slots }: Running): HelperAction[] {
    const after = createSlots(wanted.items, process.platform);
    const actions: HelperAction[] = findChangedSlots(slots.slots, after.slots).map((item) => ({
      type: "update-item",
      item,
      seq_id: -1,
    }));
    const { phase, count } = wanted.icon;
    if (shown.icon.phase !== phase || shown.icon.count !== count || shown.title !== wanted.title) {
      // The items are updated one by one.
      actions.push({ type: "update-menu", menu: { ...menuOf(wanted, after), items: [] } });
    }
    return actions;
  }

  async function start(path: string): Promise<Running> {
    const shown = view;
    const slots = createSlots(shown.items, process.platform);
    const onClick = (id: number): void => {
      const action = started.slots.actions.get(id);
      if (action) onAction(action);
    };
    const helper = await startHelper(path, menuOf(shown, slots), onClick);
    const started: Running = { helper, shown, slots, isSending: false };
    return started;
  }

  /** Sends the newest view when the helper has read the one before, so that nothing queues up. */
  async function update(to: Running): Promise<void> {
    if (to.isSending) return;
    to.isSending = true;
    while (to === running && to.shown !== view) {
      const actions = actionsTo(view, to);
      to.slots = createSlots(view.items, process.platform);
      to.shown = view;
      // If the helper is gone, keepRunning starts it again with the newest view.
      await to.helper.send(actions).catch(() => {});
    }
    to.isSending = false;
  }

  const updates = createThrottle((wanted: TrayView) => {
    view = wanted;
    if (running) void update(running);
  }, updateEveryMs);

  function keepRunning(path: string, first: Running): KeptConnection {
    let next: Running | null = first;
    return keepConnected({
      async connect({ signal, onConnected }) {
        const started = next ?? (await start(path));
        next = null;
        signal.addEventListener("abort", started.helper.kill);
        if (signal.aborted) started.helper.kill();
        onConnected();
        running = started;
        void update(started);
        const reason = await started.helper.exited;
        running = null;
        throw new ConnectionError(reason);
      },
      backoff,
      stableMs: healthyAfterMs,
      onFailure: ({ reason, retryMs }) =>
        onProblem(
          `systray2's helper ended (${reason}); beckon starts it again in ${(retryMs ?? 0) / 1000} s`,
        ),
      schedule,
    });
  }

  let path: string | null = null;
  let connection: KeptConnection;
  try {
    path = await unpackHelper(folder);
    if (path === null) {
      onProblem("no tray icon: systray2 has no helper for this machine. beckon goes on without it.");
      return null;
    }
    connection = keepRunning(path, await start(path));
  } catch (error) {
    if (path !== null) removeHelperIcons(path);
    onProblem(`no tray icon: systray2's helper did not start (${error}). beckon goes on without it.`);
    return null;
  }
  const helperPath = path;
  return {
    show: updates.set,
    async report() {
      const missing = running === null ? "systray2's helper is being started again" : null;
      return { way: "systray2", host: null, missing };
    },
    async stop() {
      updates.stop();
      await connection.stop();
      removeHelperIcons(helperPath);
    },
  };
}
