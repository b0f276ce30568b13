import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createTerminals } from "../../src/desktop/terminals/index.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { createTerminalsWorld, type TerminalsWorld } from "./terminals-world.ts";
import { type Desktop, desktopNeeds, startDesktop } from "./world.ts";

const withTmux = testWith(...desktopNeeds, "xterm", "tmux");
const limitMs = 60_000;
const exact = { result: "exact", by: "tmux, xterm, X11", why: null } as const;

describe("tmux", () => {
  let desktop: Desktop;
  let world: TerminalsWorld;
  let socket: string;
  let count = 0;
  let opened: Bun.Subprocess[] = [];

  const tmux = (...args: string[]) => desktop.run("tmux", "-S", socket, "-f", "/dev/null", ...args);
  const quoted = (argv: readonly string[]) => argv.join(" ");
  /** What the client of this terminal shows: session, window, pane. */
  const shows = (session: string) =>
    tmux("display-message", "-p", "-t", `=${session}:`, "#{window_name} #{pane_id}");
  const paneOf = async (name: string) => (await world.target(name)).place.env.TMUX_PANE ?? "";

  /** In the foreground, so that it ends with the desktop. */
  async function serve(path: string): Promise<void> {
    opened.push(desktop.spawn(["tmux", "-S", path, "-f", "/dev/null", "-D"]));
    await until(() => existsSync(path), limitMs);
  }
  async function open(title: string, ...command: string[]): Promise<void> {
    opened.push(desktop.spawn(["xterm", "-T", title, "-e", ...command]));
    await world.opened(title);
  }
  async function attach(title: string, session: string): Promise<void> {
    await open(title, "tmux", "-S", socket, "attach", "-t", `=${session}`);
    await until(async () => (await tmux("list-clients", "-t", `=${session}`)) !== "", limitMs);
  }

  beforeAll(async () => {
    desktop = await startDesktop();
    world = createTerminalsWorld(desktop);
  }, limitMs);
  afterAll(() => desktop?.stop());

  beforeEach(async () => {
    socket = join(desktop.home, `tmux-${++count}`);
    await serve(socket);
    await tmux("new-session", "-d", "-s", "main", "-n", "first", quoted(world.agent(`left${count}`)));
    await tmux("split-window", "-t", "main:first", quoted(world.agent(`right${count}`)));
    await tmux("new-window", "-t", "main", "-n", "second", quoted(world.agent(`far${count}`)));
  });
  afterEach(async () => {
    for (const child of opened) child.kill();
    await Promise.all(opened.map(({ exited }) => exited));
    opened = [];
  });
  const named = (name: string) => world.target(`${name}${count}`);

  withTmux(
    "the pane, in its window, in the terminal that shows it, among others",
    async () => {
      await attach("t-main", "main");
      await open("t-other", ...world.agent(`other${count}`));
      const targets = { left: await named("left"), right: await named("right"), far: await named("far") };
      const none = { left: false, right: false, far: false };
      expect(await world.looking(targets)).toEqual(none);
      for (const name of ["right", "far", "left"] as const) {
        expect(await world.terminals.focus(targets[name])).toEqual(exact);
        expect(await world.activeTitle()).toBe("t-main");
        expect(await shows("main")).toEndWith(` ${await paneOf(`${name}${count}`)}`);
        expect(await world.looking(targets)).toEqual({ ...none, [name]: true });
        await world.terminals.focus(await named("other"));
        expect(await world.looking(targets)).toEqual(none);
      }
    },
    limitMs,
  );

  withTmux(
    "a pane that another one is zoomed over",
    async () => {
      await attach("t-zoom", "main");
      await tmux("select-window", "-t", "main:first");
      await tmux("resize-pane", "-Z", "-t", await paneOf(`left${count}`));
      expect(await world.terminals.focus(await named("right"))).toEqual(exact);
      expect(await shows("main")).toEndWith(` ${await paneOf(`right${count}`)}`);
    },
    limitMs,
  );

  withTmux(
    "another session of the same server: the terminal is switched to it",
    async () => {
      await tmux("new-session", "-d", "-s", "side", quoted(world.agent(`side${count}`)));
      await attach("t-switch", "main");
      const side = await named("side");
      expect(await world.terminals.isLooking(side)).toBe(false);
      expect(await world.terminals.focus(side)).toEqual(exact);
      expect(await tmux("list-clients", "-F", "#{session_name}")).toBe("side");
      expect(await world.terminals.isLooking(side)).toBe(true);
    },
    limitMs,
  );

  withTmux(
    "of several terminals, the one that shows this session is taken, and the others keep theirs",
    async () => {
      await tmux("new-session", "-d", "-s", "side", quoted(world.agent(`side${count}`)));
      await attach("t-side", "side");
      await attach("t-both", "main");
      expect(await world.terminals.focus(await named("side"))).toEqual(exact);
      expect(await world.activeTitle()).toBe("t-side");
      expect((await tmux("list-clients", "-F", "#{session_name}")).split("\n").sort()).toEqual([
        "main",
        "side",
      ]);
      expect(await world.terminals.focus(await named("far"))).toEqual(exact);
      expect(await world.activeTitle()).toBe("t-both");
    },
    limitMs,
  );

  withTmux("no terminal attached: it says how to attach one", async () => {
    const outcome = await world.terminals.focus(await named("far"));
    expect(outcome.result).toBe("impossible");
    expect(outcome.why).toBe(
      `the tmux session main has no terminal attached: run \`tmux -S ${socket} attach -t main\` in one`,
    );
    expect(await world.terminals.isLooking(await named("far"))).toBe(false);
  });

  withTmux(
    "tmux in a pane of tmux: both panes are selected",
    async () => {
      const outer = join(desktop.home, `outer-${count}`);
      const inOuter = (...args: string[]) => desktop.run("tmux", "-S", outer, "-f", "/dev/null", ...args);
      await serve(outer);
      await inOuter("new-session", "-d", "-s", "out", `TMUX= exec tmux -S ${socket} attach -t =main`);
      await inOuter("new-window", "-t", "out", quoted(world.agent(`elsewhere${count}`)));
      await open("t-nested", "tmux", "-S", outer, "attach", "-t", "=out");
      await until(async () => (await tmux("list-clients")) !== "", limitMs);
      await until(async () => (await inOuter("list-clients")) !== "", limitMs);
      const left = await named("left");
      expect(await world.terminals.isLooking(left)).toBe(false);
      const outcome = await world.terminals.focus(left);
      expect(outcome).toEqual({ ...exact, by: "tmux, tmux, xterm, X11" });
      expect(await inOuter("display-message", "-p", "-t", "=out:", "#{window_index}")).toBe("0");
      expect(await shows("main")).toEndWith(` ${left.place.env.TMUX_PANE}`);
      expect(await world.looking({ left, far: await named("far") })).toEqual({ left: true, far: false });
    },
    limitMs,
  );

  withTmux(
    "a server that hangs: an alert does not wait for it, and a click says what is wrong",
    async () => {
      const target = await named("far");
      const server = opened[0]?.pid ?? 0;
      process.kill(server, "SIGSTOP");
      const started = performance.now();
      const quick = createTerminals({ env: desktop.env, platform: "linux" });
      expect(await quick.isLooking(target)).toBeNull();
      expect(performance.now() - started).toBeLessThan(1_000);
      const outcome = await world.terminals.focus(target);
      process.kill(server, "SIGCONT");
      expect(outcome).toMatchObject({
        result: "impossible",
        by: "tmux",
        why: expect.stringContaining("answers"),
      });
    },
    limitMs,
  );

  withTmux("a pane that is gone: the process is gone", async () => {
    const target = await named("far");
    await tmux("kill-window", "-t", "main:second");
    await until(async () => (await world.terminals.focus(target)).result === "impossible", limitMs);
    expect((await world.terminals.focus(target)).why).toStartWith(`its process ${target.place.pid} is gone`);
  });
});
