/** Alerts and windows of the Windows build, on a Wine desktop. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import type { Alert } from "../../src/core/view/view.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { exe, startWineDesktop, type WineDesktop } from "./desktop-harness.ts";
import { buildBeckon, hasWine, mouseNeeds, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds, ...mouseNeeds);
const waitMs = 20_000;
let desktop: WineDesktop;

beforeAll(async () => {
  if (!hasWine) return;
  desktop = await startWineDesktop();
  await desktop.show({
    icon: { phase: "blocked", count: 1 },
    title: "beckon",
    tooltip: "beckon",
    items: [],
    leftClick: "menu",
  });
}, 120_000);
afterAll(() => desktop?.wine.destroy(), 30_000);

const alert: Alert = {
  key: "claude:1 ask",
  session: "claude:1",
  kind: "blocked",
  urgency: "urgent",
  sound: true,
  title: "shop needs you",
  body: "Bash: npm run deploy\nmain, Windows Terminal",
  since: 0,
};
const other: Alert = { ...alert, key: "claude:2 idle", kind: "idle", urgency: "low", title: "docs is done" };
/** Above the tray icon. */
const balloonArea = "650,440,250,140";
const NIN_BALLOONUSERCLICK = 0x405;
const NIN_BALLOONTIMEOUT = 0x404;

describe("an alert on Windows", () => {
  test("is a balloon at the icon if there are no toasts, until it is closed", async () => {
    const { wine } = desktop;
    const before = await wine.takePicture(balloonArea);
    expect(await desktop.request<string | null>("alert", alert)).toBeNull();
    await desktop.waitForMessage({
      problem: "no toasts: PowerShell gave no answer. Alerts are shown as balloons.",
    });
    // Wine shows a balloon after 2 s.
    await waitUntil(async () => (await wine.takePicture(balloonArea)) !== before, waitMs);
    await wine.takePicture(null, "wine-balloon");
    await desktop.request("close", alert.key);
    await waitUntil(async () => (await wine.takePicture(balloonArea)) === before, waitMs);
  });

  test("that is clicked is reported, and the next one is shown", async () => {
    await desktop.request("alert", alert);
    await desktop.request("alert", other);
    await desktop.request("tray-event", NIN_BALLOONUSERCLICK);
    await desktop.waitForMessage({ clicked: alert.key });
    await waitUntil(async () => {
      // Before the second balloon is shown, this event has no effect.
      await desktop.request("tray-event", NIN_BALLOONTIMEOUT);
      return desktop.messages().some((message) => message.closed === other.key && message.by === "expired");
    }, waitMs);
    expect(desktop.messages().filter((message) => message.clicked)).toEqual([{ clicked: alert.key }]);
  });

  test("is not silenced by default", async () => {
    expect(await desktop.request<boolean | null>("silenced")).toBe(false);
  });
});

describe("the link in a toast", () => {
  const id = "0123456789abcdeffedcba9876543210";

  // Wine ignores HKCU\Software\Classes, so the test starts what Windows would start.
  test("is registered, and its click reaches the running app", async () => {
    const { wine } = desktop;
    const key = "HKCU\\Software\\Classes\\beckon";
    const { stdout } = await wine.run("reg", ["query", key, "/s"]);
    const program = wine.windowsPath(`${wine.folder}/${exe}`);
    expect(stdout).toContain(`"${program}" click "%1"`);
    expect(stdout).toContain("URL Protocol");
    expect((await wine.run(exe, ["click", `beckon:${id}`])).code).toBe(0);
    await desktop.waitForMessage({ toast: id });
  });

  for (const [name, args] of [
    ["another link", ["http://example.org/"]],
    ["a link and an option", [`beckon:${id}`, "--install"]],
    ["a malformed id", ["beckon:../../x"]],
    ["nothing", []],
  ] as const) {
    test(`is not accepted: ${name}`, async () => {
      expect((await desktop.wine.run(exe, ["click", ...args])).code).toBe(1);
    });
  }

  test("leaves nothing in the registry after uninstalling", async () => {
    await desktop.request("unregister");
    for (const key of ["beckon", "AppUserModelId\\beckon"]) {
      const query = await desktop.wine.run("reg", ["query", `HKCU\\Software\\Classes\\${key}`]);
      expect(query.stdout).toContain("Unable to find");
    }
  });
});

describe("focus on Windows", () => {
  interface OpenWindow {
    readonly id: string;
    readonly pid: number;
    readonly title: string;
    readonly active: boolean;
  }
  const windows = () => desktop.request<OpenWindow[]>("windows");
  const open = async (title: string, ...args: string[]): Promise<OpenWindow> => {
    desktop.wine.spawn("notepad", args);
    let opened: OpenWindow | undefined;
    await waitUntil(async () => {
      opened = (await windows()).find((window) => window.title === title);
      return opened?.active;
    }, waitMs);
    if (!opened) throw new Error(`no window ${title}`);
    return opened;
  };

  test("brings a window to the front, and reports whether it did", async () => {
    const file = `${desktop.wine.folder}/notes.txt`;
    await Bun.write(file, "");
    const first = await open("Untitled - Notepad");
    const second = await open("notes.txt - Notepad", desktop.wine.windowsPath(file));
    expect((await windows()).map(({ title }) => title)).toEqual([first.title, second.title]);
    expect(await desktop.request<boolean>("activate", first.id)).toBe(true);
    expect((await windows()).find(({ active }) => active)?.pid).toBe(first.pid);
    expect(await desktop.request<boolean>("activate", second.id)).toBe(true);
    expect((await windows()).find(({ active }) => active)?.pid).toBe(second.pid);
    expect(await desktop.request<boolean>("activate", "1; calc")).toBe(false);
  });

  test("`beckon focus` brings the session's window to the front", async () => {
    const { wine } = desktop;
    const beckon = buildBeckon(wine);
    const port = String(20_000 + Math.floor(Math.random() * 20_000));
    wine.spawn(beckon, [], { BECKON_PORT: port });
    const background = (await windows()).find(({ active }) => !active);
    const event = { session_id: "one", hook_event_name: "UserPromptSubmit", cwd: "C:\\code", prompt: "go" };
    const pid = { CLAUDE_PID: String(background?.pid) };
    await waitUntil(async () => {
      // A hook knows which machine it is on once the app has run there.
      await wine.run(beckon, ["hook", "claude"], JSON.stringify(event), pid);
      return (await wine.run(beckon, ["focus", "one"])).code === 0;
    }, waitMs);
    expect((await windows()).find(({ active }) => active)?.pid).toBe(background?.pid ?? 0);
  });

  test("finds the parents of a process", async () => {
    const [self] = await desktop.request<{ pid: number; name: string; program: string }[]>(
      "lineage",
      desktop.pid(),
    );
    expect(self).toMatchObject({ pid: desktop.pid(), name: "desktop" });
    expect(self?.program).toEndWith("\\desktop.exe");
    expect(await desktop.request<unknown[]>("lineage", 999_999)).toEqual([]);
  });
});
