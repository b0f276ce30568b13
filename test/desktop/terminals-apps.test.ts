import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TerminalTarget } from "../../src/core/terminals/terminal.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";

const limitMs = 60_000;
const softwareRendering = { LIBGL_ALWAYS_SOFTWARE: "1" };

let desktop: VirtualDesktop;
let harness: TerminalHarness;
let opened: Bun.Subprocess[] = [];

beforeAll(async () => {
  desktop = await startDesktop();
  harness = createTerminalHarness(desktop);
}, limitMs);
afterAll(() => desktop?.stop());
afterEach(async () => {
  for (const child of opened) child.kill();
  await Promise.all(opened.map(({ exited }) => exited));
  opened = [];
});

function open(...argv: string[]): void {
  opened.push(desktop.spawn(argv, softwareRendering));
}

/** Focuses each in turn, and expects that then only that one is visible. */
async function expectExactFocus(
  targets: Readonly<Record<string, TerminalTarget>>,
  by: string,
): Promise<void> {
  const none = Object.fromEntries(Object.keys(targets).map((name) => [name, false]));
  for (const [name, target] of Object.entries(targets)) {
    expect({ name, ...(await harness.terminals.focus(target)) }).toEqual({
      name,
      result: "exact",
      by,
      why: null,
    });
    expect(await harness.visibility(targets)).toEqual({ ...none, [name]: true });
  }
}

describe("Alacritty", () => {
  testWith(...desktopNeeds, "alacritty")(
    "the window is shown, also one of several of the same process",
    async () => {
      const socket = join(desktop.home, "alacritty.sock");
      open("alacritty", "--socket", socket, "-T", "a-one", "-e", ...harness.agentCommand("a-one"));
      await harness.waitForWindow("a-one");
      await desktop.run(
        "alacritty",
        "msg",
        "--socket",
        socket,
        "create-window",
        "-T",
        "a-two",
        "-e",
        ...harness.agentCommand("a-two"),
      );
      await harness.waitForWindow("a-two");
      open("alacritty", "-T", "a-three", "-e", ...harness.agentCommand("a-three"));
      await harness.waitForWindow("a-three");
      const targets = {
        one: await harness.locate("a-one"),
        two: await harness.locate("a-two"),
        three: await harness.locate("a-three"),
      };
      await expectExactFocus(targets, "Alacritty, X11");
      await harness.terminals.focus(targets.two);
      expect(await harness.activeTitle()).toBe("a-two");
    },
    limitMs,
  );
});

describe("kitty", () => {
  const withKitty = testWith(...desktopNeeds, "kitty");

  withKitty(
    "the pane is shown, in its tab and window, with remote control",
    async () => {
      const address = `unix:${desktop.home}/kitty.sock`;
      const remote = ["-o", "allow_remote_control=socket-only", "--listen-on", address];
      // A title given with -T would be that of all its windows.
      open("kitty", "--config", "NONE", ...remote, ...harness.agentCommand("k-one"));
      await harness.waitForWindow("agent.sh");
      const kitty = (...args: string[]) => desktop.run("kitty", "@", "--to", address, ...args);
      await kitty("launch", "--type=os-window", "--title", "k-two", ...harness.agentCommand("k-two"));
      await kitty("launch", "--type=tab", "--title", "k-tab", ...harness.agentCommand("k-tab"));
      await kitty("launch", "--type=window", "--title", "k-split", ...harness.agentCommand("k-split"));
      await expectExactFocus(
        {
          one: await harness.locate("k-one"),
          two: await harness.locate("k-two"),
          tab: await harness.locate("k-tab"),
          split: await harness.locate("k-split"),
        },
        "kitty, X11",
      );
      await harness.terminals.focus(await harness.locate("k-two"));
      await harness.waitForWindow("k-two");
    },
    limitMs,
  );

  withKitty(
    "the pane is shown with remote control over a socket without a file",
    async () => {
      const remote = [
        "-o",
        "allow_remote_control=socket-only",
        "--listen-on",
        `unix:@beckon-test-${process.pid}`,
      ];
      open("kitty", "--config", "NONE", ...remote, "-T", "k-file", ...harness.agentCommand("k-file"));
      await harness.waitForWindow("k-file");
      await expectExactFocus({ file: await harness.locate("k-file") }, "kitty, X11");
    },
    limitMs,
  );

  withKitty(
    "only the window is shown without remote control, and beckon says how to turn it on",
    async () => {
      open("kitty", "--config", "NONE", "-T", "k-three", ...harness.agentCommand("k-three"));
      await harness.waitForWindow("k-three");
      open("kitty", "--config", "NONE", "-T", "k-four", ...harness.agentCommand("k-four"));
      await harness.waitForWindow("k-four");
      const outcome = await harness.terminals.focus(await harness.locate("k-three"));
      expect(outcome.result).toBe("window");
      expect(outcome.why).toContain("kitty.conf");
      expect(await harness.activeTitle()).toBe("k-three");
      const visibility = await harness.visibility({
        three: await harness.locate("k-three"),
        four: await harness.locate("k-four"),
      });
      expect(visibility).toEqual({ three: null, four: false });
    },
    limitMs,
  );
});

describe("Konsole", () => {
  testWith(...desktopNeeds, "konsole")(
    "the tab is shown, in one of two windows of one process that look the same",
    async () => {
      const tabs = join(desktop.home, "tabs");
      const command = (name: string) => `title: ${name};; command: ${harness.agentCommand(name).join(" ")}`;
      writeFileSync(tabs, ["c-one", "c-two", "c-three"].map(command).join("\n"));
      open("konsole", "--nofork", "--tabs-from-file", tabs);
      const one = await harness.locate("c-one");
      const dbus = (path: string, method: string, ...args: string[]) =>
        desktop.run(
          ...[
            "gdbus",
            "call",
            "--session",
            "--dest",
            one.place.env.KONSOLE_DBUS_SERVICE ?? "",
            "--object-path",
            path,
          ],
          ...["--method", `org.kde.${method}`, ...args],
        );
      await dbus("/konsole/MainWindow_1", "KMainWindow.activateAction", "new-window");
      const session = /\d+/.exec(await dbus("/Windows/2", "konsole.Window.currentSession"))?.[0];
      await dbus(
        `/Sessions/${session}`,
        "konsole.Session.runCommand",
        `exec ${harness.agentCommand("c-four").join(" ")}`,
      );
      const targets = {
        one,
        two: await harness.locate("c-two"),
        three: await harness.locate("c-three"),
        four: await harness.locate("c-four"),
      };
      await expectExactFocus(targets, "Konsole, X11");
      for (const [name, window] of [
        ["four", 2],
        ["two", 1],
      ] as const) {
        await harness.terminals.focus(targets[name]);
        const id = await dbus(`/konsole/MainWindow_${window}`, "KMainWindow.winId");
        expect(id).toContain(` ${await desktop.run("xdotool", "getactivewindow")},`);
      }
    },
    limitMs,
  );
});

describe("GNOME Terminal", () => {
  const server = ["/usr/libexec/gnome-terminal-server", "/usr/lib/gnome-terminal/gnome-terminal-server"].find(
    (path) => existsSync(path),
  );

  testWith(...desktopNeeds, "gnome-terminal")(
    "the window with the session's title is shown, among those of one server",
    async () => {
      open(server ?? "");
      await waitUntil(() => desktop.hasOwner("org.gnome.Terminal"), limitMs);
      for (const name of ["g-one", "g-two", "g-three"]) {
        await desktop.run(
          "gnome-terminal",
          "--window",
          "--title",
          `* ${name}`,
          "--",
          ...harness.agentCommand(name),
        );
        await harness.waitForWindow(name);
      }
      const target = (name: string) => harness.locate(name, { title: name });
      for (const name of ["g-two", "g-one"]) {
        const outcome = await harness.terminals.focus(await target(name));
        expect(outcome).toMatchObject({ result: "window", by: "GNOME Terminal, X11" });
        expect(await harness.activeTitle()).toBe(`* ${name}`);
      }
      const visibility = await harness.visibility({ one: await target("g-one"), two: await target("g-two") });
      expect(visibility).toEqual({ one: null, two: false });
      const outcome = await harness.terminals.focus(await harness.locate("g-three"));
      expect(outcome).toMatchObject({ result: "window", by: "GNOME Terminal, X11" });
    },
    limitMs,
  );
});

describe("screen", () => {
  testWith(...desktopNeeds, "xterm", "screen")(
    "the screen window is shown in its terminal; beckon says how to attach one if none is attached",
    async () => {
      const folder = join(desktop.home, "screen");
      mkdirSync(folder, { mode: 0o700 });
      const env = { SCREENDIR: folder };
      const screens = createTerminalHarness(desktop, env);
      opened.push(
        desktop.spawn(
          ["screen", "-D", "-m", "-S", "sc", "-c", "/dev/null", ...harness.agentCommand("s-one")],
          env,
        ),
      );
      const one = await harness.locate("s-one");
      const screen = (...args: string[]) =>
        desktop.run("env", `SCREENDIR=${folder}`, "screen", "-S", "sc", ...args);
      await screen("-X", "screen", ...harness.agentCommand("s-two"));
      const two = await harness.locate("s-two");
      const detached = await screens.terminals.focus(two);
      expect(detached).toMatchObject({ result: "impossible", by: "screen" });
      expect(detached.why).toMatch(
        /no terminal is attached to the screen session \d+\.sc: run `screen -r \d+\.sc` in one/,
      );

      opened.push(desktop.spawn(["xterm", "-T", "s-shown", "-e", "screen", "-x", "sc"], env));
      await harness.waitForWindow("s-shown");
      open("xterm", "-T", "s-other", "-e", ...harness.agentCommand("s-other"));
      await harness.waitForWindow("s-other");
      const elsewhere = await harness.locate("s-other");
      for (const [target, other] of [
        [one, two],
        [two, one],
      ] as const) {
        expect(await screens.terminals.focus(target)).toEqual({
          result: "exact",
          by: "screen, xterm, X11",
          why: null,
        });
        expect(await harness.activeTitle()).toBe("s-shown");
        expect(await screens.visibility({ target, other })).toEqual({ target: null, other: null });
        await harness.terminals.focus(elsewhere);
        expect(await screens.visibility({ target, other })).toEqual({ target: false, other: false });
      }
    },
    limitMs,
  );
});
