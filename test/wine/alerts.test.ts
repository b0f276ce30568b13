/** Alerts and windows of the Windows build, on a desktop. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import type { Alert } from "../../src/core/view/view.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { type Desktop, exe, openDesktop } from "./desktop.ts";
import { buildBeckon, hasWine, mouseNeeds, wineNeeds } from "./world.ts";

const test = testWith(...wineNeeds, ...mouseNeeds);
let desktop: Desktop;

beforeAll(async () => {
  if (!hasWine) return;
  desktop = await openDesktop();
  await desktop.show({ icon: { phase: "blocked", count: 1 }, title: "beckon", tooltip: "beckon", items: [] });
}, 120_000);
afterAll(() => desktop?.world.destroy(), 30_000);

const alert: Alert = {
  key: "claude:1 ask",
  session: "claude:1",
  kind: "blocked",
  urgency: "critical",
  sound: true,
  title: "shop needs you",
  body: "Bash: npm run deploy\nmain, Windows Terminal",
  since: 0,
};
const other: Alert = { ...alert, key: "claude:2 idle", kind: "idle", urgency: "low", title: "docs is done" };
/** Above the taskbar's icon. */
const balloonArea = "650,440,250,140";
const NIN_BALLOONUSERCLICK = 0x405;
const NIN_BALLOONTIMEOUT = 0x404;

describe("an alert on Windows", () => {
  test("without toasts is a balloon at the icon, until it is closed", async () => {
    const { world } = desktop;
    const before = await world.picture(balloonArea);
    expect(await desktop.ask<string | null>("alert", alert)).toBeNull();
    await desktop.hears({
      problem: "no toasts: PowerShell gave no answer. Alerts are shown as balloons.",
    });
    // Wine waits 2 s before it shows one.
    await until(async () => (await world.picture(balloonArea)) !== before, 6_000);
    await world.picture(null, "wine-balloon");
    await desktop.ask("close", alert.key);
    await until(async () => (await world.picture(balloonArea)) === before, 6_000);
  });

  test("that is clicked is the one that was shown; the next one follows it", async () => {
    await desktop.ask("alert", alert);
    await desktop.ask("alert", other);
    await desktop.ask("tray-event", NIN_BALLOONUSERCLICK);
    await desktop.hears({ clicked: alert.key });
    await until(async () => {
      // Until the second balloon is the icon's, there is none that could end.
      await desktop.ask("tray-event", NIN_BALLOONTIMEOUT);
      return desktop.said().some((line) => line.closed === other.key && line.by === "expired");
    }, 5_000);
    expect(desktop.said().filter((line) => line.clicked)).toEqual([{ clicked: alert.key }]);
  });

  test("is not held back while nobody asked for silence", async () => {
    expect(await desktop.ask<boolean | null>("silenced")).toBe(false);
  });
});

describe("the link in a toast", () => {
  const id = "0123456789abcdeffedcba9876543210";

  // Wine neither follows HKCU\Software\Classes nor has a conhost without a window: what Windows would start is started here.
  test("is registered to start us, and reaches the app that runs", async () => {
    const { world } = desktop;
    const key = "HKCU\\Software\\Classes\\beckon";
    const { stdout } = await world.run("reg", ["query", key, "/s"]);
    const program = world.windowsPath(`${world.folder}/${exe}`);
    expect(stdout).toContain(`"C:\\windows\\System32\\conhost.exe" --headless "${program}" click "%1"`);
    expect(stdout).toContain("URL Protocol");
    expect((await world.run(exe, ["click", `beckon:${id}`])).code).toBe(0);
    await desktop.hears({ toast: id });
  });

  for (const [what, args] of [
    ["a link that is not ours", ["http://example.org/"]],
    ["more than a link", [`beckon:${id}`, "--install"]],
    ["an id of another shape", ["beckon:../../x"]],
    ["nothing", []],
  ] as const) {
    test(`is not taken for one: ${what}`, async () => {
      expect((await desktop.world.run(exe, ["click", ...args])).code).toBe(1);
    });
  }

  test("leaves nothing in the registry when it is taken out", async () => {
    await desktop.ask("unregister");
    for (const key of ["beckon", "AppUserModelId\\beckon"]) {
      const found = await desktop.world.run("reg", ["query", `HKCU\\Software\\Classes\\${key}`]);
      expect(found.stdout).toContain("Unable to find");
    }
  });
});

describe("going to a window on Windows", () => {
  interface Seen {
    readonly id: string;
    readonly pid: number;
    readonly title: string;
    readonly active: boolean;
  }
  const windows = () => desktop.ask<Seen[]>("windows");
  const open = async (title: string, ...args: string[]): Promise<Seen> => {
    desktop.world.spawn("notepad", args);
    let found: Seen | undefined;
    await until(async () => {
      found = (await windows()).find((window) => window.title === title);
      return found?.active;
    }, 10_000);
    if (!found) throw new Error(`no window ${title}`);
    return found;
  };

  test("brings the window of a process to the front, and says so only if it did", async () => {
    const file = `${desktop.world.folder}/notes.txt`;
    await Bun.write(file, "");
    const first = await open("Untitled - Notepad");
    const second = await open("notes.txt - Notepad", desktop.world.windowsPath(file));
    expect((await windows()).map(({ title }) => title)).toEqual([first.title, second.title]);
    expect(await desktop.ask<string>("raise", first.pid)).toBe("raised");
    expect((await windows()).find(({ active }) => active)?.pid).toBe(first.pid);
    expect(await desktop.ask<boolean>("activate", second.id)).toBe(true);
    expect((await windows()).find(({ active }) => active)?.pid).toBe(second.pid);
    expect(await desktop.ask<string>("raise", desktop.pid())).toBe("none");
    expect(await desktop.ask<boolean>("activate", "1; calc")).toBe(false);
  });

  test("`beckon focus` goes to the one that the session runs in", async () => {
    const { world } = desktop;
    const beckon = buildBeckon(world);
    const port = String(20_000 + Math.floor(Math.random() * 20_000));
    world.spawn(beckon, [], { BECKON_PORT: port });
    const back = (await windows()).find(({ active }) => !active);
    const event = { session_id: "one", hook_event_name: "UserPromptSubmit", cwd: "C:\\code", prompt: "go" };
    await world.run(beckon, ["hook", "claude"], JSON.stringify(event), { CLAUDE_PID: String(back?.pid) });
    await until(async () => (await world.run(beckon, ["focus", "one"])).code === 0, 10_000);
    expect((await windows()).find(({ active }) => active)?.pid).toBe(back?.pid ?? 0);
  });

  test("knows who started whom", async () => {
    const [self] = await desktop.ask<{ pid: number; name: string; program: string }[]>(
      "lineage",
      desktop.pid(),
    );
    expect(self).toMatchObject({ pid: desktop.pid(), name: "desktop" });
    expect(self?.program).toEndWith("\\desktop.exe");
    expect(await desktop.ask<unknown[]>("lineage", 999_999)).toEqual([]);
  });
});
