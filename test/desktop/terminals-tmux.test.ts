import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createTerminals } from "../../src/desktop/terminals/index.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";

const withTmux = testWith(...desktopNeeds, "xterm", "tmux");
const limitMs = 60_000;
const exact = { result: "exact", by: "tmux, xterm, X11", why: null } as const;

describe("tmux", () => {
  let desktop: VirtualDesktop;
  let harness: TerminalHarness;
  let socket: string;
  let count = 0;
  let opened: Bun.Subprocess[] = [];

  const tmux = (...args: string[]) => desktop.run("tmux", "-S", socket, "-f", "/dev/null", ...args);
  const shellLine = (argv: readonly string[]) => argv.join(" ");
  /** The window and pane that the session shows. */
  const shownPane = (session: string) =>
    tmux("display-message", "-p", "-t", `=${session}:`, "#{window_name} #{pane_id}");
  const paneOf = async (name: string) => (await harness.locate(name)).place.env.TMUX_PANE ?? "";

  /** In the foreground, so that it ends with the desktop. */
  async function startServer(path: string): Promise<void> {
    opened.push(desktop.spawn(["tmux", "-S", path, "-f", "/dev/null", "-D"]));
    await waitUntil(() => existsSync(path), limitMs);
  }
  async function open(title: string, ...command: string[]): Promise<void> {
    opened.push(desktop.spawn(["xterm", "-T", title, "-e", ...command]));
    await harness.waitForWindow(title);
  }
  async function attach(title: string, session: string): Promise<void> {
    await open(title, "tmux", "-S", socket, "attach", "-t", `=${session}`);
    await waitUntil(async () => (await tmux("list-clients", "-t", `=${session}`)) !== "", limitMs);
  }

  beforeAll(async () => {
    desktop = await startDesktop();
    harness = createTerminalHarness(desktop);
  }, limitMs);
  afterAll(() => desktop?.stop());

  beforeEach(async () => {
    socket = join(desktop.home, `tmux-${++count}`);
    await startServer(socket);
    await tmux(
      "new-session",
      "-d",
      "-s",
      "main",
      "-n",
      "first",
      shellLine(harness.agentCommand(`left${count}`)),
    );
    await tmux("split-window", "-t", "main:first", shellLine(harness.agentCommand(`right${count}`)));
    await tmux("new-window", "-t", "main", "-n", "second", shellLine(harness.agentCommand(`far${count}`)));
  });
  afterEach(async () => {
    for (const child of opened) child.kill();
    await Promise.all(opened.map(({ exited }) => exited));
    opened = [];
  });
  const locate = (name: string) => harness.locate(`${name}${count}`);

  withTmux(
    "the pane is shown, in its window, in the terminal that shows it, among others",
    async () => {
      await attach("t-main", "main");
      await open("t-other", ...harness.agentCommand(`other${count}`));
      const targets = { left: await locate("left"), right: await locate("right"), far: await locate("far") };
      const none = { left: false, right: false, far: false };
      expect(await harness.visibility(targets)).toEqual(none);
      for (const name of ["right", "far", "left"] as const) {
        expect(await harness.terminals.focus(targets[name])).toEqual(exact);
        expect(await harness.activeTitle()).toBe("t-main");
        expect(await shownPane("main")).toEndWith(` ${await paneOf(`${name}${count}`)}`);
        expect(await harness.visibility(targets)).toEqual({ ...none, [name]: true });
        await harness.terminals.focus(await locate("other"));
        expect(await harness.visibility(targets)).toEqual(none);
      }
    },
    limitMs,
  );

  withTmux(
    "a pane is shown although another one is zoomed over it",
    async () => {
      await attach("t-zoom", "main");
      await tmux("select-window", "-t", "main:first");
      await tmux("resize-pane", "-Z", "-t", await paneOf(`left${count}`));
      expect(await harness.terminals.focus(await locate("right"))).toEqual(exact);
      expect(await shownPane("main")).toEndWith(` ${await paneOf(`right${count}`)}`);
    },
    limitMs,
  );

  withTmux(
    "the terminal is switched to another session of the same server",
    async () => {
      await tmux("new-session", "-d", "-s", "side", shellLine(harness.agentCommand(`side${count}`)));
      await attach("t-switch", "main");
      const side = await locate("side");
      expect(await harness.terminals.isPaneVisible(side)).toBe(false);
      expect(await harness.terminals.focus(side)).toEqual(exact);
      expect(await tmux("list-clients", "-F", "#{session_name}")).toBe("side");
      expect(await harness.terminals.isPaneVisible(side)).toBe(true);
    },
    limitMs,
  );

  withTmux(
    "among several terminals, the one that shows this session is used, and the others keep their sessions",
    async () => {
      await tmux("new-session", "-d", "-s", "side", shellLine(harness.agentCommand(`side${count}`)));
      await attach("t-side", "side");
      await attach("t-both", "main");
      expect(await harness.terminals.focus(await locate("side"))).toEqual(exact);
      expect(await harness.activeTitle()).toBe("t-side");
      expect((await tmux("list-clients", "-F", "#{session_name}")).split("\n").sort()).toEqual([
        "main",
        "side",
      ]);
      expect(await harness.terminals.focus(await locate("far"))).toEqual(exact);
      expect(await harness.activeTitle()).toBe("t-both");
    },
    limitMs,
  );

  withTmux("beckon says how to attach a terminal if none is attached", async () => {
    const outcome = await harness.terminals.focus(await locate("far"));
    expect(outcome.result).toBe("impossible");
    expect(outcome.why).toBe(
      `no terminal is attached to the tmux session main: run \`tmux -S ${socket} attach -t main\` in one`,
    );
    expect(await harness.terminals.isPaneVisible(await locate("far"))).toBe(false);
  });

  withTmux(
    "both panes are selected if tmux runs in a pane of tmux",
    async () => {
      const outer = join(desktop.home, `outer-${count}`);
      const inOuter = (...args: string[]) => desktop.run("tmux", "-S", outer, "-f", "/dev/null", ...args);
      await startServer(outer);
      await inOuter("new-session", "-d", "-s", "out", `TMUX= exec tmux -S ${socket} attach -t =main`);
      await inOuter("new-window", "-t", "out", shellLine(harness.agentCommand(`elsewhere${count}`)));
      await open("t-nested", "tmux", "-S", outer, "attach", "-t", "=out");
      await waitUntil(async () => (await tmux("list-clients")) !== "", limitMs);
      await waitUntil(async () => (await inOuter("list-clients")) !== "", limitMs);
      const left = await locate("left");
      expect(await harness.terminals.isPaneVisible(left)).toBe(false);
      const outcome = await harness.terminals.focus(left);
      expect(outcome).toEqual({ ...exact, by: "tmux, tmux, xterm, X11" });
      expect(await inOuter("display-message", "-p", "-t", "=out:", "#{window_index}")).toBe("0");
      expect(await shownPane("main")).toEndWith(` ${left.place.env.TMUX_PANE}`);
      expect(await harness.visibility({ left, far: await locate("far") })).toEqual({
        left: true,
        far: false,
      });
    },
    limitMs,
  );

  withTmux(
    "an alert does not wait for a server that hangs, and a click says what is wrong",
    async () => {
      const target = await locate("far");
      const server = opened[0]?.pid ?? 0;
      process.kill(server, "SIGSTOP");
      const started = performance.now();
      const quick = createTerminals({ env: desktop.env, platform: "linux" });
      expect(await quick.isPaneVisible(target)).toBeNull();
      expect(performance.now() - started).toBeLessThan(1_000);
      const outcome = await harness.terminals.focus(target);
      process.kill(server, "SIGCONT");
      expect(outcome).toMatchObject({
        result: "impossible",
        by: "tmux",
        why: expect.stringContaining("answers"),
      });
    },
    limitMs,
  );

  withTmux("beckon says that the process has ended if its pane was closed", async () => {
    const target = await locate("far");
    await tmux("kill-window", "-t", "main:second");
    // The pane is closed a moment before its process has ended.
    const reason = `its process ${target.place.pid} has ended`;
    await waitUntil(
      async () => (await harness.terminals.focus(target)).why?.startsWith(reason),
      limitMs,
      reason,
    );
  });
});
