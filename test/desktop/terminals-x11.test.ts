import { afterAll, beforeAll, describe, expect } from "bun:test";
import { copyFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { TerminalTarget } from "../../src/core/terminals/terminal.ts";
import { connectX11 } from "../../src/desktop/x11.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";

const withXterm = testWith(...desktopNeeds, "xterm");
const limitMs = 60_000;

describe("three xterm windows", () => {
  let desktop: VirtualDesktop;
  let harness: TerminalHarness;
  const targets: Record<string, TerminalTarget> = {};

  beforeAll(async () => {
    desktop = await startDesktop();
    harness = createTerminalHarness(desktop);
    for (const name of ["one", "two", "three"]) {
      desktop.spawn(["xterm", "-T", `x-${name}`, "-e", ...harness.agentCommand(name)]);
      await harness.waitForWindow(`x-${name}`);
      targets[name] = await harness.locate(name);
    }
  }, limitMs);
  afterAll(() => desktop?.stop());

  withXterm("the window with the session comes to the front", async () => {
    for (const name of ["two", "one", "three", "one"]) {
      const outcome = await harness.terminals.focus(targets[name] as TerminalTarget);
      expect(outcome).toEqual({ result: "exact", by: "xterm, X11", why: null });
      expect(await harness.activeTitle()).toBe(`x-${name}`);
      expect(await harness.visibility(targets)).toEqual({
        ...{ one: false, two: false, three: false },
        [name]: true,
      });
    }
  });

  const activeWindow = async () => desktop.run("xdotool", "getactivewindow");
  const idOf = async (name: string) => (await desktop.windows("--name", `^x-${name}$`))[0] ?? "";

  withXterm("a minimised window comes to the front", async () => {
    const id = await idOf("two");
    await desktop.run("xdotool", "windowminimize", "--sync", id);
    await waitUntil(async () => (await desktop.windows("--name", "^x-two$")).length === 0, 5_000);
    expect(await harness.terminals.isPaneVisible(targets.two as TerminalTarget)).toBe(false);
    expect((await harness.terminals.focus(targets.two as TerminalTarget)).result).toBe("exact");
    expect(await activeWindow()).toBe(id);
    expect(await idOf("two")).toBe(id);
  });

  withXterm("a window on another workspace comes to the front", async () => {
    const id = await idOf("three");
    await desktop.run("xdotool", "set_desktop_for_window", id, "1");
    expect((await harness.terminals.focus(targets.three as TerminalTarget)).result).toBe("exact");
    expect(await desktop.run("xdotool", "get_desktop")).toBe("1");
    expect(await activeWindow()).toBe(id);
  });

  withXterm("the window is found by WINDOWID alone if the process is unknown", async () => {
    const { place, ...rest } = targets.one as TerminalTarget;
    const outcome = await harness.terminals.focus({ ...rest, place: { ...place, pid: null } });
    expect(outcome).toMatchObject({ result: "window", by: "X11" });
    expect(await harness.activeTitle()).toBe("x-one");
  });

  withXterm("a window of another machine with the same process number is not used", async () => {
    const id = await idOf("one");
    const setHost = (host: string) =>
      desktop.run("xprop", "-id", id, "-f", "WM_CLIENT_MACHINE", "8s", "-set", "WM_CLIENT_MACHINE", host);
    await setHost("elsewhere");
    const outcome = await harness.terminals.focus(targets.one as TerminalTarget);
    await setHost(hostname());
    expect(outcome).toMatchObject({
      result: "impossible",
      why: "no window of its terminal was found on X11",
    });
    expect((await harness.terminals.focus(targets.one as TerminalTarget)).result).toBe("exact");
  });

  withXterm("a process that has ended is not found, and a new one with its number is not used", async () => {
    const { place, ...rest } = targets.one as TerminalTarget;
    const outcome = await harness.terminals.focus({ ...rest, place: { ...place, procStart: "1" } });
    expect(outcome).toMatchObject({
      result: "impossible",
      why: expect.stringContaining(`its process ${place.pid} has ended`) as string,
    });
    const xterm = desktop.spawn(["xterm", "-T", "x-brief", "-e", ...harness.agentCommand("brief")]);
    await harness.waitForWindow("x-brief");
    const brief = await harness.locate("brief");
    xterm.kill();
    await xterm.exited;
    expect((await harness.terminals.focus(brief)).result).toBe("impossible");
    expect(await harness.terminals.isPaneVisible(brief)).toBeNull();
  });

  withXterm(
    "a session on another machine is shown by the terminal whose ssh has the connection to it",
    async () => {
      const { promise: connected, resolve } = Promise.withResolvers<number>();
      const server = Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: { open: (socket) => resolve(socket.remotePort), data() {} },
      });
      // beckon finds it by its name and its connection. What is sent over the connection does not matter.
      copyFileSync(Bun.which("bash") ?? "", join(desktop.home, "ssh"));
      const login = `exec 3<>/dev/tcp/127.0.0.1/${server.port}; read line <&3; true`;
      desktop.spawn(["xterm", "-T", "x-ssh", "-e", join(desktop.home, "ssh"), "-c", login]);
      await harness.waitForWindow("x-ssh");
      const env = { SSH_CONNECTION: `127.0.0.1 ${await connected} 127.0.0.1 ${server.port}` };
      await harness.terminals.focus(targets.one as TerminalTarget);
      const remote = { local: false, pid: 4711, procStart: null, tty: null, terminalSessionId: null, env };
      const outcome = await harness.terminals.focus({ place: remote, cwd: null, title: null });
      expect(outcome).toMatchObject({ result: "window", by: "ssh, xterm, X11" });
      expect(await harness.activeTitle()).toBe("x-ssh");
      server.stop(true);
    },
  );

  withXterm("an X server that needs a cookie gets it from XAUTHORITY", async () => {
    const file = join(desktop.home, "cookie");
    await desktop.run("xauth", "-f", file, "add", ":0", ".", "0123456789abcdef0123456789abcdef");
    const server = desktop.spawn(["Xvfb", "-displayfd", "1", "-auth", file, "-nolisten", "tcp", "-noreset"]);
    const number = new TextDecoder().decode((await server.stdout.getReader().read()).value).trim();
    const env = { DISPLAY: `:${number}`, HOME: desktop.home };
    await expect(connectX11(env, 2_000)).rejects.toThrow("refuses the connection");
    const entry = join(desktop.home, "entry");
    await desktop.run("xauth", "-f", entry, "add", `:${number}`, ".", "0123456789abcdef0123456789abcdef");
    const x = await connectX11({ ...env, XAUTHORITY: entry }, 2_000);
    expect(await x.findParent(x.root)).toBe(0);
    expect(await x.readProperty(x.root, "_NET_CLIENT_LIST")).toBeNull();
    expect(await x.readProperty(0x7fffffff, "WM_NAME")).toBeNull();
    x.close();
    server.kill();
  });
});
