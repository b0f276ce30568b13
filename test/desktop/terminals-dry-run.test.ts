/** How far a click would get, found out without a change: every way that there is, gone through on paper. */
import { describe, expect, test } from "bun:test";
import { focus } from "../../src/desktop/terminals/focus.ts";
import { terminalsHere } from "../../src/desktop/terminals/here.ts";
import { table } from "../../src/desktop/terminals/index.ts";
import type { Step } from "../../src/desktop/terminals/plan.ts";
import { rehearsed } from "../../src/desktop/terminals/rehearse.ts";
import { inside, nothing, play, process, ran } from "./terminals-play.ts";

const here = { platform: "linux", env: { DISPLAY: ":0" } } as const;
const tmuxPane = "%3 88 /dev/pts/7 @1 $1 11 main";
const tmuxClient = "70 /dev/pts/2 $1 100";

/** A machine on which every deed would succeed, and every question is answered well. */
function answer(step: Step): unknown {
  switch (step.do) {
    case "lineage":
      return step.pid === 70
        ? [process(70, "tmux: client", { tty: "/dev/pts/2" }), process(60, "xterm")]
        : inside([process(80, "tmux: server")]).lineage;
    case "environment":
      return {};
    case "sockets-of":
    case "own-sockets":
      return ["/tmp/tmux-1000/default"];
    case "run":
      return ran(`${tmuxPane}\n${tmuxClient}\n`);
    case "windows":
      return [{ id: "5", pid: 60, title: "x", active: false }];
    default:
      return nothing(step);
  }
}
const target = {
  place: { local: true, pid: 90, procStart: "1", tty: "/dev/pts/7", terminalSessionId: null, env: {} },
  cwd: null,
  title: null,
};

const deeds = (steps: readonly Step[]) =>
  steps.filter((step) => step.do === "activate" || (step.do === "run" && !step.argv.includes("list-panes")));

describe("a pane of tmux in an xterm", () => {
  test("is reached, and nothing is selected or raised", () => {
    const { steps, result } = play(rehearsed(focus(target, here, table)), answer);
    expect(result).toEqual({ result: "exact", by: "tmux, xterm, X11", why: null });
    expect(deeds(steps)).toEqual([]);
  });

  test("which the same plan would do, carried out", () => {
    expect(deeds(play(focus(target, here, table), answer).steps)).toHaveLength(2);
  });
});

test("no way to a terminal gets as far as a deed: what is not known to be a question is not asked", () => {
  const env = {
    KITTY_LISTEN_ON: "unix:/tmp/kitty",
    KITTY_WINDOW_ID: "1",
    WEZTERM_PANE: "1",
    ZELLIJ_SESSION_NAME: "z",
    ZELLIJ_PANE_ID: "1",
    STY: "80.x",
    WINDOW: "1",
    WARP_FOCUS_URL: "warp://focus/1",
    ITERM_SESSION_ID: "w0t0p0:6F1E1D8C-0000-4000-8000-000000000000",
    GNOME_TERMINAL_SCREEN: "/org/gnome/Terminal/screen/6f1e1d8c_0000_4000_8000_000000000000",
    KONSOLE_DBUS_SERVICE: ":1.5",
    KONSOLE_DBUS_SESSION: "/Sessions/1",
  };
  const mayAsk =
    /^(lineage|environment|processes|ttys|sockets-of|own-sockets|connection|windows|outer-window)$|^run (tmux .*list-panes|wezterm cli list|zellij .*list-clients|lsappinfo )|^call (processId|sessionList|currentSession|title)$|^kitty ls$/;
  for (const row of table.terminals) {
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const spot = inside([], { env });
      const plan = rehearsed(row.focus(spot, { platform, env: { DISPLAY: ":0" } }));
      for (const step of play(plan, answer).steps) expect(wordsOf(step)).toMatch(mayAsk);
    }
  }
  for (const row of table.windows) {
    const window = { id: "5", pid: 60, title: "x", active: false };
    for (const step of play(rehearsed(row.raise(window, here)), answer).steps) {
      expect(wordsOf(step)).toMatch(mayAsk);
    }
  }
});

function wordsOf(step: Step): string {
  switch (step.do) {
    case "run":
      return `run ${step.argv.join(" ")}`;
    case "call":
      return `call ${step.call.member}`;
    case "kitty":
      return `kitty ${step.command}`;
    default:
      return step.do;
  }
}

describe("the terminals that are here", () => {
  const machine = { platform: "linux", has: () => true, kittyConf: null, env: {}, usesKitty: false } as const;
  const kitty = (kittyConf: string | null, env = {}) =>
    terminalsHere({ ...machine, kittyConf, env }).find(({ name }) => name === "kitty");

  test("every row of the table can be listed, but for SSH, which is no terminal", () => {
    const named = new Set(terminalsHere(machine).map(({ name }) => name));
    expect(table.terminals.map(({ name }) => name).filter((name) => !named.has(name))).toEqual(["ssh"]);
  });

  test("those that are not are not", () => {
    expect(terminalsHere({ ...machine, has: (program) => program === "foot" })).toEqual([
      { name: "foot", reach: "all", more: null },
    ]);
  });

  test.each([
    [null, "window"],
    ["allow_remote_control yes", "window"],
    ["allow_remote_control socket-only\nlisten_on unix:/tmp/kitty", "pane"],
    ["allow_remote_control no\nlisten_on unix:/tmp/kitty", "window"],
    ["# allow_remote_control yes\n# listen_on unix:/tmp/kitty", "window"],
    ["listen_on unix:/tmp/kitty\nallow_remote_control no\nallow_remote_control y", "pane"],
  ] as const)("kitty with %j: %s", (conf, reach) => expect(kitty(conf)?.reach).toBe(reach));

  test("how kitty does more is told to those who use it alone", () => {
    expect(kitty(null)?.more).toBeNull();
    expect(kitty(null, { KITTY_WINDOW_ID: "1" })?.more).toContain("allow_remote_control");
    const used = terminalsHere({ ...machine, usesKitty: true }).find(({ name }) => name === "kitty");
    expect(used?.more).toContain("allow_remote_control");
  });

  test("kitty that says itself where it listens", () => {
    expect(kitty(null, { KITTY_LISTEN_ON: "unix:/tmp/kitty" })).toMatchObject({ reach: "pane", more: null });
  });
});
