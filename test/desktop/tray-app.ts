/** Runs fixtures/tray-program.ts on a desktop, and reads the menu that it exports. */
import { join } from "node:path";
import { Variant } from "@jellybrick/dbus-next";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { MenuEntry, MenuItem, TrayView } from "../../src/core/view/view.ts";
import { type Bus, connectBus } from "../../src/desktop/dbus.ts";
import { waitUntil } from "../wait-until.ts";
import type { VirtualDesktop } from "./desktop-harness.ts";
import { findMiddle, readPixels } from "./pixels.ts";

const program = join(import.meta.dir, "../fixtures/tray-program.ts");

interface Message {
  readonly action?: UserAction;
  readonly problem?: string;
  readonly open?: boolean;
  readonly shown?: number;
  readonly memory?: number;
}

export type TrayApp = Awaited<ReturnType<typeof startTrayApp>>;

export async function startTrayApp(
  desktop: VirtualDesktop,
  options: { readonly command?: readonly string[]; readonly env?: Record<string, string> } = {},
) {
  const command = options.command ?? [process.execPath, program];
  const child = Bun.spawn(
    ["setpriv", "--pdeathsig", "KILL", "--", ...command, join(desktop.home, "folder")],
    {
      env: { ...desktop.env, ...options.env },
      cwd: desktop.home,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const messages: Message[] = [];
  void (async () => {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) messages.push(JSON.parse(line));
    }
  })();
  const send = (command: unknown): void => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    child.stdin.flush();
  };
  const next = async <K extends keyof Message>(kind: K, ms = 15_000): Promise<NonNullable<Message[K]>> => {
    const isKind = (message: Message) => message[kind] !== undefined;
    await waitUntil(() => messages.some(isKind), ms);
    const [message] = messages.splice(messages.findIndex(isKind), 1);
    return message?.[kind] as NonNullable<Message[K]>;
  };
  await waitUntil(() => messages.some(({ open }) => open !== undefined) || child.exitCode !== null, 15_000);

  return {
    pid: child.pid,
    messages,
    /** Waits for the next message of this kind and removes it. */
    next,
    isOpen: messages.find(({ open }) => open !== undefined)?.open ?? false,
    problems: () => messages.flatMap(({ problem }) => problem ?? []),
    show: (view: TrayView) => send({ view }),
    showMany: (views: readonly TrayView[], times: number) => send({ views, times }),
    /** The memory of the program after garbage collection. */
    async memory(): Promise<number> {
      send({ memory: true });
      return next("memory");
    },
    /** Quits it cleanly. */
    async quit(): Promise<number> {
      child.stdin.end();
      return child.exited;
    },
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

export const entry = (id: string, label: string, more: Partial<MenuEntry> = {}): MenuEntry => ({
  kind: "entry",
  id,
  label,
  action: { do: "focus", session: id },
  ...more,
});
export const separator = (id: string): MenuItem => ({ kind: "separator", id });

export const view = (
  icon: TrayView["icon"],
  items: readonly MenuItem[],
  more: Partial<TrayView> = {},
): TrayView => ({
  icon,
  title: "beckon",
  tooltip: "",
  items,
  leftClick: "menu",
  ...more,
});

export const panelArea = { x: 0, y: 0, width: 1280, height: 32 };

/** Nothing else on the screen has the red of the blocked icon. */
export const findBlockedIcon = async (desktop: VirtualDesktop, area = panelArea) =>
  findMiddle(await readPixels(desktop, area), ([red, green, blue]) => red > 180 && green < 110 && blue < 80);

export const connectToBus = (desktop: VirtualDesktop): Promise<Bus> =>
  connectBus({ address: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? "", onEnd: () => {} });

/** The items that the panel has: `:1.7/StatusNotifierItem`. */
export async function readRegisteredItems(bus: Bus): Promise<string[]> {
  const [value] = await bus.call({
    destination: "org.kde.StatusNotifierWatcher",
    path: "/StatusNotifierWatcher",
    interface: "org.freedesktop.DBus.Properties",
    member: "Get",
    signature: "ss",
    body: ["org.kde.StatusNotifierWatcher", "RegisteredStatusNotifierItems"],
  });
  return (value as { value: string[] }).value;
}

type Layout = [number, Record<string, { value: unknown }>, { value: Layout }[]];

/** The labels of the whole menu as the panel gets it, children indented. `name` is that of the item, if it is known. */
export async function readMenuLabels(bus: Bus, name?: string): Promise<string[]> {
  const item = name ?? (await readRegisteredItems(bus))[0] ?? "";
  const [, root] = await bus.call({
    // On GNOME there is an @ before the path.
    destination: item.split(/@?\//)[0] ?? "",
    path: "/StatusNotifierItem/Menu",
    interface: "com.canonical.dbusmenu",
    member: "GetLayout",
    signature: "iias",
    body: [0, -1, []],
  });
  const labels = ([, , children]: Layout, depth: number): string[] =>
    children.flatMap(({ value }) => [
      " ".repeat(depth) + String(value[1].label?.value ?? value[1].type?.value),
      ...labels(value, depth + 1),
    ]);
  return labels(root as Layout, 0);
}

/** Sends what a panel sends when the user chooses this entry. */
export async function chooseMenuEntry(bus: Bus, label: string): Promise<void> {
  const [item = ""] = await readRegisteredItems(bus);
  const menu = {
    destination: item.split(/@?\//)[0] ?? "",
    path: "/StatusNotifierItem/Menu",
    interface: "com.canonical.dbusmenu",
  };
  const layout = { member: "GetLayout", signature: "iias", body: [0, -1, []] };
  const [, root] = await bus.call({ ...menu, ...layout });
  const idOf = ([id, properties, children]: Layout): number | undefined =>
    properties.label?.value === label
      ? id
      : children.map(({ value }) => idOf(value)).find((id) => id !== undefined);
  const body = [idOf(root as Layout), "clicked", new Variant("s", ""), 0];
  await bus.call({ ...menu, member: "Event", signature: "isvu", body });
}
