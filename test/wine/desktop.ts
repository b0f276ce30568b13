/** beckon's desktop on a Windows of its own, told what to show, and a person in front of it. */
import { join } from "node:path";
import type { TrayView } from "../../src/core/view/view.ts";
import type { SeenRow } from "../fixtures/wine/menus.ts";
import { until } from "../world.ts";
import { compileForWindows, createWineWorld, type WineWorld } from "./world.ts";

/** Where the taskbar of Wine's desktop shows the first icon. */
export const iconSpot = { x: 890, y: 590 };
export const iconArea = "880,580,20,20";
const elsewhere = { x: 300, y: 200 };
export const exe = "desktop.exe";

export type Desktop = Awaited<ReturnType<typeof openDesktop>>;

export async function openDesktop() {
  const world = await createWineWorld();
  await compileForWindows(join(import.meta.dir, "../fixtures/wine/desktop.ts"), join(world.folder, exe));
  await drawn(world);
  const withoutIcon = await world.picture(iconArea);
  let program = await start(world);

  const desktop = {
    world,
    withoutIcon,
    pid: () => program.pid,
    child: () => program.child,
    said: () => program.said,
    ask: <T>(name: string, given: unknown = null): Promise<T> => program.ask<T>(name, given),
    async startAgain(): Promise<void> {
      program = await start(world);
    },
    /** Waits for a line of the program's that says this. */
    hears: (line: Record<string, unknown>) =>
      until(() => program.said.some((other) => Bun.deepMatch(line, other)), 15_000),
    hearsProblem: (text: RegExp) =>
      until(
        () => program.said.some(({ problem }) => typeof problem === "string" && text.test(problem)),
        15_000,
      ),
    menus: () => program.ask<SeenRow[][]>("menus"),
    icon: () => world.picture(iconArea),
    /** Until the icon is another; the picture of it. */
    async show(view: TrayView): Promise<string> {
      await world.point(elsewhere);
      const before = await this.icon();
      await program.ask("view", view);
      return this.iconOtherThan(before);
    },
    async iconOtherThan(before: string): Promise<string> {
      let now = before;
      await until(async () => {
        now = await this.icon();
        return now !== before;
      }, 8_000);
      return now;
    },
    async openMenu(button: number): Promise<SeenRow[]> {
      await world.click(iconSpot, button);
      return this.menuNumber(1);
    },
    /** Waits until so many are open; the rows of the one opened last. */
    async menuNumber(count: number): Promise<SeenRow[]> {
      let open: SeenRow[][] = [];
      await until(async () => {
        open = await this.menus();
        return open.length === count;
      }, 5_000);
      // From the top down.
      return open[0] ?? [];
    },
    async closeMenus(): Promise<void> {
      if ((await this.menus()).length > 0) await world.click(elsewhere);
      await this.menuNumber(0);
    },
  };
  return desktop;
}

async function start(world: WineWorld) {
  const child = world.spawn(exe, []);
  const said: Record<string, unknown>[] = [];
  const listen = async (): Promise<void> => {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      said.push(...lines.map((line) => JSON.parse(line)));
    }
  };
  void listen();
  await until(() => child.exitCode !== null || said.some((line) => line.port), 20_000);
  const { port, pid } = said.find((line) => line.port) ?? {};
  if (!port) throw new Error(await child.stderr.text());
  /** What the program's order of that name returns. */
  async function ask<T>(name: string, given: unknown = null): Promise<T> {
    const body = JSON.stringify(given);
    const response = await fetch(`http://127.0.0.1:${port}/${name}`, { method: "POST", body });
    return ((await response.json()) as { result: T }).result;
  }
  return { child, said, pid: Number(pid), ask };
}

/** Until the desktop is there and nothing changes on it. It can go and come again while the first program starts. */
export async function drawn(world: WineWorld): Promise<void> {
  await still(world);
  await world.run("reg", ["query", "HKCU\\Software\\Wine"]);
  await still(world);
}

const stillMs = 500;

async function still(world: WineWorld): Promise<void> {
  let last = world.emptyScreen;
  let since = performance.now();
  await until(async () => {
    const now = await world.picture(null);
    if (now !== last) since = performance.now();
    last = now;
    return now !== world.emptyScreen && performance.now() - since > stillMs;
  }, 20_000);
}
