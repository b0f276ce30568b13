/** The whole of beckon on GNOME Shell, where the tray is an extension and clicks are real. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TerminalTarget } from "../../src/core/ports.ts";
import type { Bus } from "../../src/desktop/dbus.ts";
import { createClock } from "../../src/system/clock.ts";
import { hasAll, testWith } from "../needs.ts";
import { until } from "../world.ts";
import { gnomeNeeds, read, type Written } from "./gnome-shell.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";
import { busOf, findBlockedIcon, menuLabels, registeredItems } from "./tray-app.ts";
import { type Desktop, desktopNeeds, startDesktop } from "./world.ts";

const binary = join(import.meta.dir, "../../dist/beckon");
const needs = [...desktopNeeds, ...gnomeNeeds, "xterm"] as const;
const onGnome = testWith(...needs);
const limitMs = 60_000;
const soonMs = 10_000;

describe("on GNOME Shell", () => {
  let desktop: Desktop;
  let bus: Bus;
  let terminals: TerminalHarness;
  let state: string;
  let count = 0;

  const file = (name: string) => readFileSync(join(state, name), "utf8").trim();
  async function hook(session_id: string, target: TerminalTarget, hook_event_name: string, command: string) {
    const { pid, procStart, env } = target.place;
    const { host } = createClock()();
    const response = await fetch(`${JSON.parse(file("endpoint.json")).url}/api/hook`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: file("auth-header").replace("Authorization: ", ""),
      },
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

  /** What is on the screen that reads like this; waits for it. */
  async function find(text: RegExp, isIt: (written: Written) => boolean = () => true): Promise<Written> {
    let found: Written | undefined;
    await until(async () => {
      found = (await read(bus)).find((written) => text.test(written.text) && isIt(written));
      return found !== undefined;
    }, soonMs);
    if (!found) throw new Error(`nothing on the screen reads like ${text}`);
    return found;
  }
  const isGone = async (text: RegExp) => !(await read(bus)).some((written) => text.test(written.text));
  const clickOn = ({ x, y, width, height }: Written) =>
    desktop.click(Math.round(x + width / 2), Math.round(y + height / 2));
  /** A click on an icon that is just being drawn anew may miss it. */
  async function openMenu(): Promise<boolean> {
    const icon = await findBlockedIcon(desktop);
    if (icon === null) return false;
    await desktop.click(icon.x, icon.y);
    const isOpen = async () => !(await isGone(/^Next waiting$/));
    return until(isOpen, soonMs / 3).then(
      () => true,
      () => false,
    );
  }
  const lookAt = async (name: string) =>
    expect(await terminals.terminals.focus(await terminals.locate(name))).toMatchObject({ result: "exact" });
  const isAt = (title: string) => until(async () => (await terminals.activeTitle()) === title, soonMs);

  beforeAll(async () => {
    if (!hasAll(needs)) return;
    desktop = await startDesktop({ gnome: true });
    bus = await busOf(desktop);
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
    const app = desktop.spawn([binary], {
      BECKON_HOME: state,
      BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
      CLAUDE_CONFIG_DIR: join(desktop.home, "claude"),
    });
    await until(() => app.exitCode !== null || existsSync(join(state, "endpoint.json")), soonMs);
    if (app.exitCode !== null) throw new Error(await app.stderr.text());
  }, limitMs);
  afterAll(async () => {
    bus?.close();
    await desktop?.stop();
  });

  onGnome(
    "an ask turns the icon in the top bar red, and a notification says who wants what; a click on it goes there",
    async () => {
      await asks("webshop", "alone", "npm run build");
      await until(() => findBlockedIcon(desktop), soonMs);
      expect(await registeredItems(bus)).toEqual([expect.stringMatching(/^:1\.\d+@\/StatusNotifierItem$/)]);
      const note = await find(/^webshop wants to use Bash$/);
      expect((await find(/npm run build/)).text).toMatch(/^npm run build\nsince \d\d:\d\d$/);
      await desktop.screenshot("gnome-ask");
      await clickOn(note);
      await isAt("alone");
      await answered("webshop", "alone", "npm run build");
      await until(() => isGone(/webshop wants/), soonMs);
      await until(async () => (await findBlockedIcon(desktop)) === null, soonMs);
    },
    limitMs,
  );

  onGnome(
    "the notification is taken back when the ask is answered in the terminal",
    async () => {
      await lookAt("elsewhere");
      await asks("docs", "alone", "git push");
      await find(/^docs wants to use Bash$/);
      await answered("docs", "alone", "git push");
      await until(() => isGone(/docs wants/), soonMs);
    },
    limitMs,
  );

  onGnome(
    "a click on the icon opens the menu with every session, and one on an entry goes there",
    async () => {
      await lookAt("elsewhere");
      for (const session of ["docs", "infra", "webshop"]) await works(session, "alone", "make");
      await until(async () => (await menuLabels(bus)).includes("Working (3)"), soonMs);
      await asks("infra", "alone", "terraform apply");
      await until(async () => (await menuLabels(bus)).includes("Needs you (1)"), soonMs);
      await asks("docs", "alone", "git tag v2");
      await until(async () => (await menuLabels(bus)).includes("Needs you (2)"), soonMs);
      await until(openMenu, 2 * soonMs);
      const head = await find(/^Needs you \(2\)$/);
      const inMenu = ({ x }: Written) => x >= head.x;
      const lines = async () => {
        const written = (await read(bus)).filter(inMenu).toSorted((a, b) => a.y - b.y);
        // A full minute may have passed.
        return written.map(({ text }) => text.replace("1 min", "now").replace(/^About .*/, "About"));
      };
      const wanted = [
        "Needs you (2)",
        "● infra · now · Bash: terraform apply",
        "● docs · now · Bash: git tag v2",
        "Next waiting",
        "Working (1)",
        "◐ webshop · now · Bash",
        "Quiet",
        "Settings…",
        "About",
        "Quit",
      ];
      await until(async () => Bun.deepEquals(await lines(), wanted), soonMs).catch(() => {});
      expect(await lines()).toEqual(wanted);
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
    "with GNOME's do not disturb nothing pops up until it is turned off",
    async () => {
      const banners = (on: boolean) =>
        desktop.run("gsettings", "set", "org.gnome.desktop.notifications", "show-banners", String(on));
      const log = () => readFileSync(join(state, "beckon.log"), "utf8");
      await lookAt("elsewhere");
      await banners(false);
      // What the desktop said of it last counts for a second.
      await Bun.sleep(1_200);
      await asks("notes", "alone", "make all");
      await until(() => log().includes("your desktop is set to do not disturb"), soonMs);
      expect(await isGone(/notes wants/)).toBe(true);
      await banners(true);
      await until(async () => !(await isGone(/^notes wants to use Bash$/)), 30_000);
    },
    limitMs,
  );
});
