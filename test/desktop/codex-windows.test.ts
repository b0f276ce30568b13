/** A session of Codex's shared server is found by the title of its window, on a real desktop. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { findTerminal } from "../../src/agents/codex/watch/terminals.ts";
import type { FocusOutcome } from "../../src/core/terminals/terminal.ts";
import { exec } from "../../src/system/exec.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";

const withXterm = testWith(...desktopNeeds, "xterm");
const limitMs = 60_000;
const cwd = "/home/dev/proj";

describe("two windows with Codex", () => {
  let desktop: VirtualDesktop;
  let harness: TerminalHarness;

  const find = (name: string) =>
    findTerminal({ name, cwd }, { exec, listWindows: harness.terminals.listWindows });

  async function focus(name: string): Promise<FocusOutcome> {
    const terminal = await find(name);
    if (terminal.kind === "none") return { result: "impossible", by: "", why: terminal.why };
    return harness.terminals.focus({ place: terminal.place, cwd, title: name });
  }

  beforeAll(async () => {
    desktop = await startDesktop();
    harness = createTerminalHarness(desktop);
    // Terminals are recognised by the process's name.
    copyFileSync(Bun.which("sleep") ?? "", join(desktop.home, "codex"));
    for (const title of ["Fix the tests | proj", "[ . ] Action Required | Write the docs | proj"]) {
      desktop.spawn(["xterm", "-T", title, "-e", join(desktop.home, "codex"), "1000"]);
      await harness.waitForWindow(title);
    }
    desktop.spawn(["xterm", "-T", "Not Codex | proj", "-e", "sleep", "1000"]);
    await harness.waitForWindow("Not Codex");
  }, limitMs);
  afterAll(() => desktop?.stop());

  withXterm("the window with the session's title comes to the front", async () => {
    const exact = { result: "exact", by: "xterm, X11", why: null } as const;
    expect(await focus("Fix the tests")).toEqual(exact);
    expect(await harness.activeTitle()).toBe("Fix the tests | proj");
    expect(await focus("Write the docs")).toEqual(exact);
    expect(await harness.activeTitle()).toContain("Write the docs");
  });

  withXterm("no window is raised for a title that no window with Codex has", async () => {
    const before = await harness.activeTitle();
    for (const name of ["Not Codex", "tests"])
      expect(await focus(name)).toMatchObject({
        result: "impossible",
        why: expect.stringContaining("title"),
      });
    expect(await harness.activeTitle()).toBe(before);
  });

  withXterm(
    "of a program that shows several sessions, only the window with the title is raised",
    async () => {
      const [id = ""] = await desktop.windows("--name", "^Fix the tests");
      const setPid = (pid: string) =>
        desktop.run("xprop", "-id", id, "-f", "_NET_WM_PID", "32c", "-set", "_NET_WM_PID", pid);
      const own = await desktop.run("xdotool", "getwindowpid", id);
      // All sessions are below this process.
      await setPid(String(process.pid));
      await focus("Write the docs");
      expect(await focus("Fix the tests")).toMatchObject({
        result: "window",
        why: "its process is unknown: this is its window, but maybe not its tab",
      });
      expect(await harness.activeTitle()).toBe("Fix the tests | proj");
      await setPid(own);
    },
  );

  withXterm("two windows with the same title are not guessed between", async () => {
    desktop.spawn(["xterm", "-T", "Fix the tests | proj", "-e", join(desktop.home, "codex"), "1000"]);
    const countWindows = async () => (await desktop.windows("--name", "^Fix the tests")).length;
    await waitUntil(async () => (await countWindows()) === 2, limitMs);
    expect(await find("Fix the tests")).toEqual({ kind: "none", why: "several terminals have its title" });
  });
});
