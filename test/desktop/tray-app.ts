/** fixtures/tray-program.ts, started on a desktop, and the views it is given. */
import { join } from "node:path";
import { Variant } from "@jellybrick/dbus-next";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { MenuEntry, MenuItem, TrayView } from "../../src/core/view/view.ts";
import { type Bus, connectBus } from "../../src/desktop/dbus.ts";
import { until } from "../world.ts";
import { middleOf, pixels } from "./pixels.ts";
import type { Desktop } from "./world.ts";

const program = join(import.meta.dir, "../fixtures/tray-program.ts");

interface Told {
  readonly action?: UserAction;
  readonly problem?: string;
  readonly open?: boolean;
  readonly shown?: number;
  readonly memory?: number;
}

export type TrayApp = Awaited<ReturnType<typeof startTrayApp>>;

export async function startTrayApp(
  desktop: Desktop,
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
  const told: Told[] = [];
  void (async () => {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) told.push(JSON.parse(line));
    }
  })();
  const tell = (order: unknown): void => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    child.stdin.flush();
  };
  const next = async <K extends keyof Told>(kind: K, ms = 5_000): Promise<NonNullable<Told[K]>> => {
    const isIt = (one: Told) => one[kind] !== undefined;
    await until(() => told.some(isIt), ms);
    const [found] = told.splice(told.findIndex(isIt), 1);
    return found?.[kind] as NonNullable<Told[K]>;
  };
  await until(() => told.some(({ open }) => open !== undefined) || child.exitCode !== null, 15_000);

  return {
    pid: child.pid,
    told,
    next,
    isOpen: told.find(({ open }) => open !== undefined)?.open ?? false,
    problems: () => told.flatMap(({ problem }) => problem ?? []),
    show: (view: TrayView) => tell({ view }),
    showMany: (views: readonly TrayView[], times: number) => tell({ views, times }),
    /** Of the program, once it has let go what it can. */
    async memory(): Promise<number> {
      tell({ memory: true });
      return next("memory");
    },
    /** As a person quits it. */
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
  ...more,
});

export const panelArea = { x: 0, y: 0, width: 1280, height: 32 };

/** The blocked icon is the only thing in this red on the screen. */
export const findBlockedIcon = async (desktop: Desktop, area = panelArea) =>
  middleOf(await pixels(desktop, area), ([red, green, blue]) => red > 180 && green < 110 && blue < 80);

export const busOf = (desktop: Desktop): Promise<Bus> =>
  connectBus({ address: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? "", onEnd: () => {} });

/** `:1.7/StatusNotifierItem`, as the panel has them. */
export async function registeredItems(bus: Bus): Promise<string[]> {
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

/** The labels of the whole menu as it goes to the panel, children further in. */
export async function menuLabels(bus: Bus): Promise<string[]> {
  const [item = ""] = await registeredItems(bus);
  const [, root] = await bus.call({
    // GNOME has an @ before the path.
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

/** As a panel tells it that the person chose this entry. */
export async function choose(bus: Bus, label: string): Promise<void> {
  const [item = ""] = await registeredItems(bus);
  const menu = {
    destination: item.split("/")[0] ?? "",
    path: "/StatusNotifierItem/Menu",
    interface: "com.canonical.dbusmenu",
  };
  const layout = { member: "GetLayout", signature: "iias", body: [0, -1, []] };
  const [, root] = await bus.call({ ...menu, ...layout });
  const idOf = ([id, properties, children]: Layout): number | undefined =>
    properties.label?.value === label
      ? id
      : children.map(({ value }) => idOf(value)).find((found) => found !== undefined);
  const body = [idOf(root as Layout), "clicked", new Variant("s", ""), 0];
  await bus.call({ ...menu, member: "Event", signature: "isvu", body });
}
