/** The program fixtures/wine/desktop.ts on a Wine desktop: tests send it requests, and use mouse and screen like a user. */
import { join } from "node:path";
import type { TrayView } from "../../src/core/view/view.ts";
import type { OpenRow } from "../fixtures/wine/menus.ts";
import { waitUntil } from "../wait-until.ts";
import { compileForWindows, createWine, type Wine } from "./wine.ts";

/** Where Wine's taskbar shows the first icon. */
export const iconSpot = { x: 890, y: 590 };
export const iconArea = "880,580,20,20";
const emptyArea = { x: 300, y: 200 };
export const exe = "desktop.exe";
const waitMs = 20_000;

export type WineDesktop = Awaited<ReturnType<typeof startWineDesktop>>;

export async function startWineDesktop() {
  const wine = await createWine();
  await compileForWindows(join(import.meta.dir, "../fixtures/wine/desktop.ts"), join(wine.folder, exe));
  await waitForDesktop(wine);
  const withoutIcon = await wine.takePicture(iconArea);
  let program = await startProgram(wine);

  const desktop = {
    wine,
    withoutIcon,
    pid: () => program.pid,
    child: () => program.child,
    messages: () => program.messages,
    request: <T>(name: string, argument: unknown = null): Promise<T> => program.request<T>(name, argument),
    async restart(): Promise<void> {
      program = await startProgram(wine);
    },
    waitForMessage: (expected: Record<string, unknown>) =>
      waitUntil(() => program.messages.some((message) => Bun.deepMatch(expected, message)), waitMs),
    waitForProblem: (text: RegExp) =>
      waitUntil(
        () => program.messages.some(({ problem }) => typeof problem === "string" && text.test(problem)),
        waitMs,
      ),
    readMenus: () => program.request<OpenRow[][]>("menus"),
    takeIconPicture: () => wine.takePicture(iconArea),
    /** Waits until the icon has changed, and returns a picture of it. */
    async show(view: TrayView): Promise<string> {
      await wine.moveMouse(emptyArea);
      const before = await this.takeIconPicture();
      await program.request("view", view);
      return this.waitForOtherIcon(before);
    },
    async waitForOtherIcon(before: string): Promise<string> {
      let now = before;
      await waitUntil(async () => {
        now = await this.takeIconPicture();
        return now !== before;
      }, waitMs);
      return now;
    },
    clickIcon: (button: number): Promise<void> => wine.click(iconSpot, button),
    async openMenu(button: number, timeoutMs = waitMs): Promise<OpenRow[]> {
      await wine.click(iconSpot, button);
      return this.waitForMenus(1, timeoutMs);
    },
    /** Waits until this many are open, and returns the rows of the last one. */
    async waitForMenus(count: number, timeoutMs = waitMs): Promise<OpenRow[]> {
      let open: OpenRow[][] = [];
      await waitUntil(async () => {
        open = await this.readMenus();
        return open.length === count;
      }, timeoutMs);
      // The last one is the topmost window.
      return open[0] ?? [];
    },
    async closeMenus(): Promise<void> {
      if ((await this.readMenus()).length > 0) await wine.click(emptyArea);
      await this.waitForMenus(0);
    },
  };
  return desktop;
}

async function startProgram(wine: Wine) {
  const child = wine.spawn(exe, []);
  const messages: Record<string, unknown>[] = [];
  const readOutput = async (): Promise<void> => {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      messages.push(...lines.map((line) => JSON.parse(line)));
    }
  };
  void readOutput();
  await waitUntil(() => child.exitCode !== null || messages.some((message) => message.port), 30_000);
  const { port, pid } = messages.find((message) => message.port) ?? {};
  if (!port) throw new Error(await child.stderr.text());
  async function request<T>(name: string, argument: unknown = null): Promise<T> {
    const body = JSON.stringify(argument);
    const response = await fetch(`http://127.0.0.1:${port}/${name}`, { method: "POST", body });
    return ((await response.json()) as { result: T }).result;
  }
  return { child, messages, pid: Number(pid), request };
}

/** Waits until the desktop is drawn. It can close and open again while the first program starts. */
export async function waitForDesktop(wine: Wine): Promise<void> {
  await waitUntilStill(wine);
  await wine.run("reg", ["query", "HKCU\\Software\\Wine"]);
  await waitUntilStill(wine);
}

const stillMs = 500;

async function waitUntilStill(wine: Wine): Promise<void> {
  let last = wine.emptyScreen;
  let since = performance.now();
  await waitUntil(async () => {
    const now = await wine.takePicture(null);
    if (now !== last) since = performance.now();
    last = now;
    return now !== wine.emptyScreen && performance.now() - since > stillMs;
  }, 60_000);
}
