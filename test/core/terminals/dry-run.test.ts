/** How far focus would get, found out without changing anything. */
import { describe, expect, test } from "bun:test";
import { planFocus } from "../../../src/core/terminals/focus.ts";
import { terminals, windowSystems } from "../../../src/core/terminals/index.ts";
import { dryRun, type PlanStep } from "../../../src/core/terminals/plan.ts";
import { answerNothing, createProcess, locationInside, printed, simulate } from "./simulate.ts";

const context = { platform: "linux", env: { DISPLAY: ":0" } } as const;
const tmuxPane = "%3 88 /dev/pts/7 @1 $1 11 main";
const tmuxClient = "70 /dev/pts/2 $1 100";

/** A machine on which every step succeeds. */
function answer(step: PlanStep): unknown {
  switch (step.do) {
    case "lineage":
      return step.pid === 70
        ? [createProcess(70, "tmux: client", { tty: "/dev/pts/2" }), createProcess(60, "xterm")]
        : locationInside([createProcess(80, "tmux: server")]).lineage;
    case "environment":
      return {};
    case "sockets-of":
    case "own-sockets":
      return ["/tmp/tmux-1000/default"];
    case "run":
      return printed(`${tmuxPane}\n${tmuxClient}\n`);
    case "windows":
      return [{ id: "5", pid: 60, title: "x", active: false }];
    default:
      return answerNothing(step);
  }
}
const target = {
  place: { local: true, pid: 90, procStart: "1", tty: "/dev/pts/7", terminalSessionId: null, env: {} },
  cwd: null,
  title: null,
};

/** The steps that change something. */
const changes = (steps: readonly PlanStep[]) =>
  steps.filter((step) => step.do === "activate" || (step.do === "run" && !step.argv.includes("list-panes")));

describe("a pane of tmux in an xterm", () => {
  test("is found to be within reach, and nothing is selected or raised", () => {
    const { steps, result } = simulate(dryRun(planFocus(target, context)), answer);
    expect(result).toEqual({ result: "exact", by: "tmux, xterm, X11", why: null });
    expect(changes(steps)).toEqual([]);
  });

  test("is selected and raised by the same plan without a dry run", () => {
    expect(changes(simulate(planFocus(target, context), answer).steps)).toHaveLength(2);
  });
});

test("a dry run of any recipe only asks", () => {
  const env = {
    KITTY_LISTEN_ON: "unix:/tmp/kitty",
    KITTY_WINDOW_ID: "1",
    WEZTERM_PANE: "1",
    ZELLIJ_SESSION_NAME: "z",
    ZELLIJ_PANE_ID: "1",
    STY: "80.x",
    WINDOW: "1",
    WARP_FOCUS_URL: "warp://session/0123456789abcdef0123456789abcdef",
    ITERM_SESSION_ID: "w0t0p0:6F1E1D8C-0000-4000-8000-000000000000",
    GNOME_TERMINAL_SCREEN: "/org/gnome/Terminal/screen/6f1e1d8c_0000_4000_8000_000000000000",
    KONSOLE_DBUS_SERVICE: ":1.5",
    KONSOLE_DBUS_SESSION: "/Sessions/1",
  };
  const readOnly =
    /^(lineage|console-owner|environment|processes|ttys|sockets-of|own-sockets|connection-owners|command-line|windows|top-level-window)$|^run (tmux .*list-panes|wezterm cli list|zellij .*list-clients|lsappinfo |ss -Hxnp)|^dbus (processId|sessionList|currentSession|title)$|^kitty ls$/;
  for (const terminal of terminals) {
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const location = locationInside([], { env });
      const plan = dryRun(terminal.focus(location, { platform, env: { DISPLAY: ":0" } }));
      for (const step of simulate(plan, answer).steps) expect(describeStep(step)).toMatch(readOnly);
    }
  }
  for (const system of windowSystems) {
    const window = { id: "5", pid: 60, title: "x", active: false };
    for (const step of simulate(dryRun(system.raise(window, context)), answer).steps) {
      expect(describeStep(step)).toMatch(readOnly);
    }
  }
});

function describeStep(step: PlanStep): string {
  switch (step.do) {
    case "run":
      return `run ${step.argv.join(" ")}`;
    case "dbus":
      return `dbus ${step.call.member}`;
    case "kitty":
      return `kitty ${step.command}`;
    default:
      return step.do;
  }
}
