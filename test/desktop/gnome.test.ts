/** The whole app on GNOME Shell, where the tray is an extension, used with a mouse. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TerminalTarget } from "../../src/core/terminals/terminal.ts";
import type { Bus } from "../../src/desktop/dbus.ts";
import { createClock } from "../../src/system/clock.ts";
import { hasAll, testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitForValue, waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { gnomeNeeds, readScreen, type ScreenText } from "./gnome-shell.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";
import { connectToBus, findBlockedIcon, readMenuLabels, readRegisteredItems } from "./tray-app.ts";

const needs = [...desktopNeeds, ...gnomeNeeds, "xterm"] as const;
const onGnome = testWith(...needs);
const limitMs = 120_000;
const soonMs = 20_000;

describe("on GNOME Shell", () => {
  let desktop: VirtualDesktop;
  let bus: Bus;
  let terminals: TerminalHarness;
  let state: string;
  let count = 0;

  const readState = (name: string) => readFileSync(join(state, name), "utf8").trim();
  const request = (path: string, init: RequestInit = {}) =>
    fetch(JSON.parse(readState("endpoint.json")).url + path, {
      ...init,
      headers: {
        "content-type": "application/json",
        authorization: readState("auth-header").replace("Authorization: ", ""),
      },
    });
  async function hook(session_id: string, target: TerminalTarget, hook_event_name: string, command: string) {
    const { pid, procStart, env } = target.place;
    const { host } = createClock()();
    const response = await request("/api/hook", {
      method: "POST",
      body: JSON.stringify({
        provider: "claude",
        _meta: { id: `e${++count}`, workspace_id: session_id, pid, procStart, host, env },
        payload: {
          session_id,
          cwd: `/home/ann/${session_id}`,
          hook_event_name,
          tool_name: "Bash",
          tool_input: { command },
          tool_use_id: `t-${command}`,
        },
      }),
    });
    expect(response.status).toBe(200);
  }
  const works = async (session: string, terminal: string, command: string) =>
    hook(session, await terminals.locate(terminal), "PreToolUse", command);
  async function asks(session: string, terminal: string, command: string): Promise<void> {
    await works(session, terminal, command);
    await hook(session, await terminals.locate(terminal), "PermissionRequest", command);
  }
  const answered = async (session: string, terminal: string, command: string) =>
    hook(session, await terminals.locate(terminal), "PostToolUse", command);

  /** Waits for a text on the screen. */
  async function find(
    pattern: RegExp,
    matches: (text: ScreenText) => boolean = () => true,
  ): Promise<ScreenText> {
    let match: ScreenText | undefined;
    await waitUntil(async () => {
      match = (await readScreen(bus)).find((text) => pattern.test(text.text) && matches(text));
      return match !== undefined;
    }, soonMs);
    if (!match) throw new Error(`no text on the screen matches ${pattern}`);
    return match;
  }
  const isGone = async (pattern: RegExp) => !(await readScreen(bus)).some(({ text }) => pattern.test(text));
  const clickOn = ({ x, y, width, height }: ScreenText) =>
    desktop.click(Math.round(x + width / 2), Math.round(y + height / 2));
  /** Returns false if the menu did not open: a click on an icon that is being redrawn can miss it. */
  async function openMenu(): Promise<boolean> {
    const icon = await findBlockedIcon(desktop);
    if (icon === null) return false;
    await desktop.click(icon.x, icon.y);
    const isOpen = async () => !(await isGone(/^Next waiting$/));
    return waitUntil(isOpen, soonMs / 3).then(
      () => true,
      () => false,
    );
  }
  const lookAt = async (name: string) =>
    expect(await terminals.terminals.focus(await terminals.locate(name))).toMatchObject({ result: "exact" });
  const isAt = (title: string) => waitUntil(async () => (await terminals.activeTitle()) === title, soonMs);

  beforeAll(async () => {
    if (!hasAll(needs)) return;
    desktop = await startDesktop({ gnome: true });
    bus = await connectToBus(desktop);
    terminals = createTerminalHarness(desktop);
    state = join(desktop.home, "state");
    for (const [title, at] of [
      ["alone", "+20+400"],
      ["elsewhere", "+640+400"],
    ] as const) {
      desktop.spawn([
        "xterm",
        "-geometry",
        `60x14${at}`,
        "-T",
        title,
        "-e",
        ...terminals.agentCommand(title),
      ]);
      await terminals.waitForWindow(title);
    }
    await desktop.startBeckon([binary], {
      BECKON_HOME: state,
      CLAUDE_CONFIG_DIR: join(desktop.home, "claude"),
    });
  }, limitMs);
  afterAll(async () => {
    bus?.close();
    await desktop?.stop();
  });

  onGnome(
    "an ask turns the icon red and shows a notification, and a click on that goes to the terminal",
    async () => {
      await asks("webshop", "alone", "npm run build");
      await waitUntil(() => findBlockedIcon(desktop), soonMs);
      expect(await readRegisteredItems(bus)).toEqual([
        expect.stringMatching(/^:1\.\d+@\/StatusNotifierItem$/),
      ]);
      const notification = await find(/^webshop wants to use Bash$/);
      expect((await find(/npm run build/)).text).toMatch(/^npm run build\nsince \d\d:\d\d$/);
      await desktop.screenshot("gnome-ask");
      await clickOn(notification);
      await isAt("alone");
      await answered("webshop", "alone", "npm run build");
      await waitUntil(() => isGone(/webshop wants/), soonMs);
      await waitUntil(async () => (await findBlockedIcon(desktop)) === null, soonMs);
    },
    limitMs,
  );

  onGnome(
    "the notification disappears when the ask is answered in the terminal",
    async () => {
      await lookAt("elsewhere");
      await asks("docs", "alone", "git push");
      await find(/^docs wants to use Bash$/);
      await answered("docs", "alone", "git push");
      await waitUntil(() => isGone(/docs wants/), soonMs);
    },
    limitMs,
  );

  onGnome(
    "a click on the icon opens the menu with every session, and a click on an entry goes to its terminal",
    async () => {
      await lookAt("elsewhere");
      for (const session of ["docs", "infra", "webshop"]) await works(session, "alone", "make");
      await waitUntil(async () => (await readMenuLabels(bus)).includes("Working (3)"), soonMs);
      await asks("infra", "alone", "terraform apply");
      await waitUntil(async () => (await readMenuLabels(bus)).includes("Needs you (1)"), soonMs);
      await asks("docs", "alone", "git tag v2");
      await waitUntil(async () => (await readMenuLabels(bus)).includes("Needs you (2)"), soonMs);
      await waitUntil(openMenu, 2 * soonMs);
      const head = await find(/^Needs you \(2\)$/);
      const inMenu = ({ x }: ScreenText) => x >= head.x;
      const readRows = async () => {
        const texts = (await readScreen(bus)).filter(inMenu).toSorted((a, b) => a.y - b.y);
        // A minute may have passed.
        return texts.map(({ text }) => text.replace("1 min", "now").replace(/^About .*/, "About"));
      };
      const expected = [
        "Needs you (2)",
        "● infra · now · Bash: terraform apply",
        "● docs · now · Bash: git tag v2",
        "Next waiting",
        "Working (1)",
        "◐ webshop · now · Bash",
        "Quiet",
        "Open dashboard",
        "Settings…",
        "About",
        "Quit",
      ];
      await waitForValue(readRows, (rows) => Bun.deepEquals(rows, expected), soonMs);
      await desktop.screenshot("gnome-menu");
      await clickOn(await find(/^● infra/));
      const go = await find(/^Go to terminal$/, inMenu);
      await desktop.screenshot("gnome-submenu");
      await clickOn(go);
      await isAt("alone");
      await answered("infra", "alone", "terraform apply");
      await answered("docs", "alone", "git tag v2");
    },
    limitMs,
  );

  onGnome(
    "while do not disturb is on in GNOME, no notification is shown",
    async () => {
      const setBanners = (on: boolean) =>
        desktop.run("gsettings", "set", "org.gnome.desktop.notifications", "show-banners", String(on));
      const readReport = async () => (await (await request("/api/doctor")).json()) as { isSilenced: unknown };
      const readLog = () => desktop.run("env", `BECKON_HOME=${state}`, binary, "log", "--json");
      await lookAt("elsewhere");
      await setBanners(false);
      await waitUntil(async () => (await readReport()).isSilenced === true, soonMs);
      await asks("notes", "alone", "make all");
      await waitUntil(
        async () => (await readLog()).includes("your desktop is set to do not disturb"),
        soonMs,
      );
      expect(await isGone(/notes wants/)).toBe(true);
      await setBanners(true);
      await waitUntil(async () => !(await isGone(/^notes wants to use Bash$/)), 60_000);
    },
    limitMs,
  );
});
