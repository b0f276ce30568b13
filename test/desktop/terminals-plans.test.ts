import { describe, expect, test } from "bun:test";
import type { TerminalTarget } from "../../src/core/ports.ts";
import { focus, isLooking } from "../../src/desktop/terminals/focus.ts";
import { table } from "../../src/desktop/terminals/index.ts";
import type { Process, Step } from "../../src/desktop/terminals/plan.ts";
import type { TerminalContext } from "../../src/desktop/terminals/row.ts";
import { argvs, nothing, play, process, ran } from "./terminals-play.ts";

const tty = "/dev/pts/7";
const agent = process(90, "node", { tty });
const shell = process(89, "bash", { tty });

interface Scene {
  readonly platform?: NodeJS.Platform;
  readonly own?: TerminalContext["env"];
  readonly env?: Record<string, string>;
  readonly target?: Partial<TerminalTarget>;
  readonly place?: Partial<TerminalTarget["place"]>;
  /** Around agent and shell, nearest first. */
  readonly terminal?: readonly Process[];
  readonly answers?: (step: Step) => unknown;
}

function plan({ platform = "linux", own = {}, env = {}, target, place, terminal = [], answers }: Scene) {
  const full: TerminalTarget = {
    place: { local: true, pid: 90, procStart: "1", tty: null, terminalSessionId: null, env, ...place },
    cwd: "/home/ana/shop",
    title: null,
    ...target,
  };
  const answer = (step: Step): unknown => {
    const given = answers?.(step);
    if (given !== undefined) return given;
    if (step.do === "lineage" && step.pid === 90) return [agent, shell, ...terminal];
    if (step.do === "environment" && step.pid === 90) return env;
    return nothing(step);
  };
  return { target: full, here: { platform, env: own }, answer };
}

function focusing(scene: Scene) {
  const { target, here, answer } = plan(scene);
  const { steps, result } = play(focus(target, here, table), answer);
  return { ...result, ran: argvs(steps), steps };
}

function looking(scene: Scene): boolean | null {
  const { target, here, answer } = plan(scene);
  return play(isLooking(target, here, table), answer).result;
}

/** Answers to commands, by how they begin. */
const commands =
  (known: Record<string, string>) =>
  (step: Step): unknown => {
    if (step.do !== "run") return undefined;
    const line = step.argv.join(" ");
    const found = Object.keys(known).find((start) => line.startsWith(start));
    return found === undefined ? undefined : ran(known[found] ?? "");
  };

describe("macOS", () => {
  const mac = (path: string, pid = 88) => process(pid, path.split("/").at(-1) ?? "", { program: path });

  test("Terminal: the tab with the session's tty, by AppleScript with the tty as its argument", () => {
    const { steps, ...outcome } = focusing({
      platform: "darwin",
      terminal: [mac("/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal")],
      answers: (step) => (step.do === "applescript" ? "found" : undefined),
    });
    expect(outcome).toMatchObject({ result: "exact", by: "Terminal" });
    const script = steps.find((step) => step.do === "applescript");
    expect(script).toMatchObject({ app: "Terminal", args: [tty] });
    expect(script?.do === "applescript" && script.script).not.toContain(tty);
  });

  test("Terminal, where the person has not allowed it: the application, and where to allow it", () => {
    const outcome = focusing({
      platform: "darwin",
      terminal: [mac("/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal")],
      answers: (step) => (step.do === "applescript" ? "denied" : commands({ "open ": "" })(step)),
    });
    expect(outcome).toMatchObject({ result: "window", by: "Terminal, macOS" });
    expect(outcome.why).toContain("Automation");
    expect(outcome.ran).toContain("open -a /System/Applications/Utilities/Terminal.app");
  });

  const itermSession = "w0t1p0:0B9A4F5E-8D2B-4C0F-9B0C-2D6C1C1C7A11";
  const iterm = (answer: string | null): Scene => ({
    platform: "darwin",
    terminal: [mac("/Applications/iTerm.app/Contents/MacOS/iTerm2")],
    env: { ITERM_SESSION_ID: itermSession },
    answers: (step) => (step.do === "applescript" ? answer : commands({ "open ": "" })(step)),
  });

  test("iTerm2: the pane by its id, and exact because the script has found it", () => {
    const outcome = focusing(iterm("found"));
    expect(outcome).toMatchObject({ result: "exact", by: "iTerm2" });
    expect(outcome.ran).toEqual([]);
    expect(outcome.steps.at(-1)).toMatchObject({ args: ["0B9A4F5E-8D2B-4C0F-9B0C-2D6C1C1C7A11", tty] });
  });

  test("iTerm2, where the script cannot find it or may not look: its own link, which is never called exact", () => {
    for (const [answer, why] of [
      ["none", "does not say whether it did"],
      [null, "does not say whether it did"],
      ["denied", "System Settings → Privacy & Security → Automation"],
    ] as const) {
      const outcome = focusing(iterm(answer));
      expect(outcome.ran).toEqual([`open iterm2:reveal?sessionid=${itermSession}`]);
      expect(outcome).toMatchObject({ result: "window", by: "iTerm2", why: expect.stringContaining(why) });
    }
  });

  test("iTerm2 around tmux, whose client we know only by its tty: AppleScript by tty", () => {
    const outcome = focusing({
      platform: "darwin",
      terminal: [process(60, "tmux", { program: "/opt/homebrew/bin/tmux" })],
      env: { TMUX: "/private/tmp/tmux-501/default,60,0", TMUX_PANE: "%2" },
      answers(step) {
        if (step.do === "own-sockets") return ["/private/tmp/tmux-501/default"];
        if (step.do === "lineage" && step.pid === 66) {
          const client = process(66, "tmux", { tty: "/dev/ttys004" });
          return [client, mac("/Applications/iTerm.app/Contents/MacOS/iTerm2")];
        }
        if (step.do === "applescript") return step.args[0] === "/dev/ttys004" ? "found" : "none";
        return commands({
          "tmux -u -S /private/tmp/tmux-501/default list-panes": `%2 89 ${tty} @1 $0 11 main\n66 /dev/ttys004 $0 5\n`,
          "tmux -u -S /private/tmp/tmux-501/default select": "",
        })(step);
      },
    });
    expect(outcome).toMatchObject({ result: "exact", by: "tmux, iTerm2" });
  });

  test("Ghostty: the terminal by its tty, else by its folder, which is not called exact", () => {
    const scene = (answer: string): Scene => ({
      platform: "darwin",
      terminal: [mac("/Applications/Ghostty.app/Contents/MacOS/ghostty")],
      env: { GHOSTTY_SURFACE_ID: "0xb352563abc664447" },
      answers: (step) => (step.do === "applescript" ? answer : commands({ "open ": "" })(step)),
    });
    expect(focusing(scene("found"))).toMatchObject({ result: "exact", by: "Ghostty" });
    expect(focusing(scene("found")).steps.at(-1)).toMatchObject({ args: [tty, "/home/ana/shop"] });
    expect(focusing(scene("alone"))).toMatchObject({
      result: "window",
      by: "Ghostty",
      why: "Ghostty does not say which tab it is: this is the only one in its folder",
    });
    expect(focusing(scene("none"))).toMatchObject({ result: "window", by: "Ghostty, macOS" });
  });

  test.each([
    ["Terminal", { TERM_PROGRAM: "Apple_Terminal" }],
    ["iTerm2", { TERM_PROGRAM: "iTerm.app", ITERM_SESSION_ID: itermSession }],
    ["Ghostty", { TERM_PROGRAM: "ghostty" }],
    ["Warp", { TERM_PROGRAM: "WarpTerminal", WARP_FOCUS_URL: `warp://session/${"0".repeat(32)}` }],
    ["VS Code", { TERM_PROGRAM: "vscode", __CFBundleIdentifier: "com.microsoft.VSCode" }],
  ])("%s, quit since: an old session does not start it again", (_, env) => {
    for (const answer of ["closed", "denied", null]) {
      const outcome = focusing({
        platform: "darwin",
        env,
        place: { pid: null, tty },
        answers: (step) =>
          step.do === "applescript" ? answer : commands({ "lsappinfo find": "", "open ": "" })(step),
      });
      expect(outcome.result).toBe("impossible");
      expect(outcome.ran.filter((line) => line.startsWith("open "))).toEqual([]);
      for (const step of outcome.steps) {
        if (step.do === "applescript")
          expect(step.script).toMatch(/^ {2}if (application id "\S+") is not running [\s\S]*^ {2}tell \1$/m);
      }
    }
  });

  test("Terminal, its process not known but running: by its bundle", () => {
    const outcome = focusing({
      platform: "darwin",
      env: { TERM_PROGRAM: "Apple_Terminal" },
      place: { pid: null, tty },
      answers: commands({ "lsappinfo find bundleid=com.apple.Terminal": "ASN:0x0-0x1b01b:", "open ": "" }),
    });
    expect(outcome).toMatchObject({ result: "window", by: "Terminal, macOS" });
    expect(outcome.ran.at(-1)).toBe("open -b com.apple.Terminal");
  });

  test.each([
    ["VS Code", "Visual Studio Code.app/Contents/Frameworks/Code Helper.app/Contents/MacOS/Code Helper"],
    ["JetBrains", "WebStorm.app/Contents/MacOS/webstorm"],
    ["Zed", "Zed.app/Contents/MacOS/zed"],
  ])("%s: the application, never a folder that it may not have open", (name, program) => {
    const outcome = focusing({
      platform: "darwin",
      terminal: [mac(`/Applications/${program}`)],
      env: { __CFBundleIdentifier: "com.microsoft.VSCode" },
      answers: commands({ "open ": "" }),
    });
    const app = program.slice(0, program.indexOf("/"));
    expect(outcome.ran.at(-1)).toBe(`open -a /Applications/${app}`);
    expect(outcome).toMatchObject({
      result: "window",
      by: `${name}, macOS`,
      why: `${name} cannot switch windows or terminals from outside`,
    });
  });

  test("Alacritty: the application, and it says that this is all", () => {
    const scene: Scene = {
      platform: "darwin",
      terminal: [mac("/Applications/Alacritty.app/Contents/MacOS/alacritty")],
      answers: commands({
        "open -a /Applications/Alacritty.app": "",
        "lsappinfo front": "ASN:0x0-0x1b01b:",
        "lsappinfo info": '"/Applications/Kitty.app"',
      }),
    };
    expect(focusing(scene)).toMatchObject({ result: "window", by: "Alacritty, macOS" });
    expect(looking(scene)).toBe(false);
  });
});

describe("a link or a command of the terminal's own", () => {
  test("Warp: its link", () => {
    const outcome = focusing({
      terminal: [process(88, "warp")],
      env: { WARP_FOCUS_URL: "warp://session/0123456789abcdef0123456789abcdef" },
      answers: commands({ "xdg-open ": "" }),
    });
    expect(outcome.ran).toEqual(["xdg-open warp://session/0123456789abcdef0123456789abcdef"]);
    expect(outcome).toMatchObject({ result: "exact", by: "Warp" });
  });

  const panes = JSON.stringify([
    { window_id: 0, tab_id: 0, pane_id: 3, tty_name: tty, title: "shop", window_title: "shop" },
    { window_id: 1, tab_id: 1, pane_id: 4, tty_name: "/dev/pts/8", title: "zsh", window_title: "zsh" },
  ]);
  const wezterm = (focused: number): Scene => ({
    own: { DISPLAY: ":0" },
    terminal: [process(88, "wezterm-gui")],
    env: { WEZTERM_PANE: "9", WEZTERM_UNIX_SOCKET: "/run/user/1000/wezterm/gui-sock-88" },
    answers(step) {
      if (step.do === "own-sockets") return step.paths;
      if (step.do === "activate") return step.id === "21";
      if (step.do === "windows") {
        return [
          { id: "21", pid: 88, title: "shop", active: true },
          { id: "22", pid: 88, title: "zsh", active: false },
        ];
      }
      return commands({
        "wezterm cli list-clients": JSON.stringify([{ focused_pane_id: focused }]),
        "wezterm cli list": panes,
        "wezterm cli activate-pane --pane-id 3": "",
      })(step);
    },
  });

  test("WezTerm: the pane with the session's tty, not the one that an inherited variable names", () => {
    const outcome = focusing(wezterm(3));
    expect(outcome).toMatchObject({ result: "exact", by: "WezTerm, X11" });
    expect(outcome.ran).toContain("wezterm cli activate-pane --pane-id 3");
    expect(outcome.steps).toContainEqual({
      do: "run",
      argv: ["wezterm", "cli", "list", "--format", "json"],
      env: { WEZTERM_UNIX_SOCKET: "/run/user/1000/wezterm/gui-sock-88" },
    });
  });

  test("WezTerm: its pane is looked at while its window and it have the focus", () => {
    expect(looking(wezterm(3))).toBe(true);
    expect(looking(wezterm(4))).toBe(false);
  });

  test("WezTerm: a socket that is another user's is left alone", () => {
    const scene = wezterm(3);
    const answers = (step: Step) => (step.do === "own-sockets" ? [] : scene.answers?.(step));
    const outcome = focusing({ ...scene, answers });
    expect(outcome.ran).toEqual([]);
    expect(outcome.result).toBe("window");
  });
});

describe("tmux, with a terminal here and one over SSH", () => {
  const server = process(60, "tmux: server");
  const scene = (clients: string): Scene => ({
    own: { DISPLAY: ":0" },
    terminal: [server],
    answers(step) {
      if (step.do === "sockets-of" || step.do === "own-sockets") return ["/tmp/tmux-0/default"];
      if (step.do === "lineage" && step.pid === 66) return [process(66, "tmux: client"), process(65, "sshd")];
      if (step.do === "lineage" && step.pid === 67)
        return [process(67, "tmux: client"), process(50, "xterm")];
      if (step.do === "windows") return [{ id: "1", pid: 50, title: "", active: false }];
      if (step.do === "activate") return true;
      return commands({
        "tmux -u -S /tmp/tmux-0/default list-panes": `%2 89 ${tty} @1 $0 11 main\n${clients}`,
        "tmux -u -S /tmp/tmux-0/default": "",
      })(step);
    },
  });

  test("the one here is taken, though the other was used last", () => {
    const outcome = focusing(scene("66 /dev/pts/20 $0 900\n67 /dev/pts/21 $0 100\n"));
    expect(outcome).toMatchObject({ result: "exact", by: "tmux, xterm, X11" });
  });

  test("also if it shows another session: it is switched", () => {
    const outcome = focusing(scene("66 /dev/pts/20 $0 900\n67 /dev/pts/21 $3 100\n"));
    expect(outcome.ran.at(-1)).toBe(
      "tmux -u -S /tmp/tmux-0/default switch-client -c /dev/pts/21 -t $0 ; select-window -t $0:@1 ; select-pane -t %2",
    );
    expect(outcome.result).toBe("exact");
  });

  test("only the other: its pane is selected, and it says where to go", () => {
    const outcome = focusing(scene("66 /dev/pts/20 $0 900\n"));
    expect(outcome).toMatchObject({ result: "impossible", by: "tmux, ssh" });
    expect(outcome.why).toBe("tmux shows the pane now, but its terminal is an SSH login: go to that machine");
  });
});

describe("zellij", () => {
  const client = (pid: number, at: string) => process(pid, "zellij", { tty: at });
  const scene = (clients: readonly Process[], more: Record<string, string> = {}): Scene => ({
    own: { DISPLAY: ":0" },
    terminal: [process(60, "zellij")],
    env: { ZELLIJ_SESSION_NAME: "brave-tiger", ZELLIJ_PANE_ID: "4" },
    answers(step) {
      if (step.do === "processes") return [process(60, "zellij"), ...clients];
      if (step.do === "lineage" && step.pid !== 90)
        return [client(step.pid, "/dev/pts/2"), process(50, "xterm")];
      if (step.do === "windows") return [{ id: "5", pid: 50, title: "", active: true }];
      if (step.do === "activate") return true;
      return commands(more)(step);
    },
  });
  const focused = { "zellij --session brave-tiger action focus-pane-id terminal_4": "" };

  test("its pane by number, then the window of its only client", () => {
    const outcome = focusing(scene([client(66, "/dev/pts/2")], focused));
    expect(outcome.ran).toEqual(["zellij --session brave-tiger action focus-pane-id terminal_4"]);
    expect(outcome).toMatchObject({ result: "exact", by: "zellij, xterm, X11" });
  });

  test("an older zellij: the window only, and since when it can do more", () => {
    const outcome = focusing(scene([client(66, "/dev/pts/2")]));
    expect(outcome).toMatchObject({ result: "window", why: expect.stringContaining("0.44") });
  });

  test("nobody attached, or one cannot tell who: nothing is raised", () => {
    expect(focusing(scene([], focused)).why).toContain("zellij attach 'brave-tiger'");
    const several = focusing(scene([client(66, "/dev/pts/2"), client(67, "/dev/pts/3")], focused));
    expect(several.result).toBe("impossible");
    expect(several.steps.some((step) => step.do === "activate")).toBe(false);
  });

  test("looked at while its pane is the focused one of the client", () => {
    const list = (pane: string) => ({
      "zellij --session brave-tiger action list-clients": `CLIENT_ID ZELLIJ_PANE_ID RUNNING_COMMAND\n1 ${pane} vim\n`,
    });
    expect(looking(scene([client(66, "/dev/pts/2")], list("terminal_4")))).toBe(true);
    expect(looking(scene([client(66, "/dev/pts/2")], list("terminal_1")))).toBe(false);
    expect(looking(scene([client(66, "/dev/pts/2")]))).toBeNull();
    expect(looking(scene([]))).toBe(false);
  });
});

describe("which terminal is it", () => {
  const x = (windows: readonly [string, number, string?][], active = ""): Scene => ({
    own: { DISPLAY: ":0" },
    answers(step) {
      if (step.do === "activate") return true;
      if (step.do !== "windows") return undefined;
      return windows.map(([id, pid, title = ""]) => ({ id, pid, title, active: id === active }));
    },
  });
  const outerShell = process(70, "bash", { tty: "/dev/pts/1" });
  const code = process(60, "code", { program: "/usr/share/code/code" });

  test("kitty that was started from VS Code is kitty, whatever TERM_PROGRAM says", () => {
    const outcome = focusing({
      ...x([
        ["1", 88],
        ["2", 60],
      ]),
      terminal: [process(88, "kitty", { tty: "/dev/pts/1" }), outerShell, code],
      env: { TERM_PROGRAM: "vscode", KITTY_WINDOW_ID: "1" },
    });
    expect(outcome.by).toBe("kitty, X11");
    expect(outcome.steps).toContainEqual({ do: "activate", id: "1" });
  });

  test("a terminal that nobody knows, started from VS Code, is not VS Code either", () => {
    const terminal = [process(88, "newterm", { tty: "/dev/pts/1" }), outerShell, code];
    const env = { TERM_PROGRAM: "vscode" };
    const shown = focusing({
      ...x([
        ["1", 88],
        ["2", 60],
      ]),
      terminal,
      env,
    });
    expect(shown).toMatchObject({ result: "window", by: "X11", why: expect.stringContaining("`newterm`") });
    expect(shown.steps).toContainEqual({ do: "activate", id: "1" });
    const hidden = focusing({ ...x([["2", 60]]), terminal, env });
    expect(hidden.result).toBe("impossible");
  });

  test("VS Code's own terminal: the window that shows the folder", () => {
    const helper = process(61, "code", { program: code.program });
    const outcome = focusing({
      ...x([
        ["1", 60, "index.ts - shop - Visual Studio Code"],
        ["2", 60, "shopping - Visual Studio Code"],
      ]),
      terminal: [helper, code],
    });
    expect(outcome).toMatchObject({ result: "window", by: "VS Code, X11" });
    expect(outcome.steps).toContainEqual({ do: "activate", id: "1" });
  });

  test("an agent that another one started without a terminal is in that one's", () => {
    const child = [process(95, "codex"), process(94, "sh"), agent, shell, process(88, "xterm")];
    const scene = x([["1", 88]]);
    const answers = (step: Step) => (step.do === "lineage" ? child : scene.answers?.(step));
    expect(focusing({ ...scene, answers })).toMatchObject({ result: "exact", by: "xterm, X11" });
  });

  test("an agent of VS Code's own, without a terminal, is in VS Code, wherever that was started", () => {
    const foreground = { ...code, tty: "/dev/pts/1" };
    const scene = x([
      ["1", 60],
      ["2", 50],
    ]);
    const own = [
      process(95, "claude"),
      process(61, "code", { program: code.program }),
      foreground,
      outerShell,
      process(50, "xterm"),
    ];
    const answers = (step: Step) => (step.do === "lineage" ? own : scene.answers?.(step));
    expect(focusing({ ...scene, answers }).by).toBe("VS Code, X11");
  });

  test("sudo has a terminal of its own inside, and is none", () => {
    const outcome = focusing({
      ...x([["1", 88]]),
      terminal: [process(75, "sudo", { tty: "/dev/pts/1" }), outerShell, process(88, "xterm")],
    });
    expect(outcome).toMatchObject({ result: "exact", by: "xterm, X11" });
  });

  test("WINDOWID of another terminal, inherited, does not count", () => {
    const outcome = focusing({
      ...x([
        ["1", 88],
        ["2", 50],
      ]),
      terminal: [process(88, "xterm")],
      env: { WINDOWID: "2" },
    });
    expect(outcome.steps).toContainEqual({ do: "activate", id: "1" });
  });

  test("several windows of one process that nothing tells apart: the last used, and it says so", () => {
    const scene: Scene = {
      ...x(
        [
          ["1", 88],
          ["2", 88],
        ],
        "2",
      ),
      terminal: [process(88, "foot")],
    };
    const outcome = focusing(scene);
    expect(outcome).toMatchObject({ result: "window", why: expect.stringContaining("2 windows") });
    expect(outcome.steps).toContainEqual({ do: "activate", id: "2" });
    expect(looking(scene)).toBeNull();
    expect(
      looking({
        ...x([
          ["1", 88],
          ["2", 88],
        ]),
        terminal: [process(88, "foot")],
      }),
    ).toBe(false);
  });

  test("the window manager refuses: not possible, and it says who", () => {
    const outcome = focusing({
      ...x([["1", 88]]),
      terminal: [process(88, "xterm")],
      answers: (step) =>
        step.do === "windows" ? [{ id: "1", pid: 88, title: "", active: false }] : undefined,
    });
    expect(outcome).toMatchObject({
      result: "impossible",
      by: "xterm, X11",
      why: expect.stringContaining("window manager"),
    });
  });
});

describe("not possible", () => {
  test.each<[string, Scene, string]>([
    [
      "a process that is gone",
      { answers: (step) => (step.do === "lineage" ? [] : undefined) },
      "its process 90 is gone",
    ],
    ["another process with its number", { place: { procStart: "2" } }, "its process 90 is gone"],
    ["no terminal at all", { terminal: [] }, "it runs without a terminal"],
    [
      "WSL, seen from Windows",
      { place: { local: false }, env: { WSL_DISTRO_NAME: "Debian" } },
      "WSL (Debian)",
    ],
    [
      "WSL, seen from inside",
      { env: { WT_SESSION: "0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11" } },
      "run beckon on Windows",
    ],
    ["a container", { place: { local: false } }, "container"],
    [
      "an SSH login from elsewhere",
      { terminal: [process(80, "sshd")], env: { SSH_CONNECTION: "10.0.0.5 51234 10.0.0.9 22" } },
      "its terminal is an SSH login from 10.0.0.5: go to that machine",
    ],
    ["no desktop", { terminal: [process(88, "xterm")] }, "neither DISPLAY nor WAYLAND_DISPLAY is set"],
    [
      "GNOME on Wayland",
      {
        terminal: [process(88, "foot")],
        own: { WAYLAND_DISPLAY: "wayland-0", XDG_CURRENT_DESKTOP: "ubuntu:GNOME" },
      },
      "GNOME on Xorg",
    ],
  ])("%s: it says so", (_, scene, why) => {
    const outcome = focusing(scene);
    expect(outcome.result).toBe("impossible");
    expect(outcome.why).toContain(why);
    expect(looking(scene)).toBeNull();
  });
});

describe("another machine, reached by ssh from here", () => {
  const scene = (owner: number | null, name = "ssh"): Scene => ({
    own: { DISPLAY: ":0" },
    place: { local: false },
    env: { SSH_CONNECTION: "10.0.0.5 51234 10.0.0.9 22" },
    answers(step) {
      if (step.do === "connection") return step.localPort === 51234 && step.remotePort === 22 ? owner : null;
      if (step.do === "lineage") return [process(40, name, { tty }), shell, process(88, "xterm")];
      if (step.do === "windows") return [{ id: "1", pid: 88, title: "", active: true }];
      return step.do === "activate" ? true : undefined;
    },
  });

  test("the terminal with that login comes to the front", () => {
    expect(focusing(scene(40))).toMatchObject({ result: "window", by: "ssh, xterm, X11" });
    expect(looking(scene(40))).toBeNull();
  });

  test("a connection of nobody here, or of another program: not possible", () => {
    expect(focusing(scene(null)).result).toBe("impossible");
    expect(focusing(scene(40, "firefox")).result).toBe("impossible");
  });
});

describe("other window systems", () => {
  const terminal = [process(88, "alacritty")];
  const systems: [string, TerminalContext["env"], Record<string, string>, string][] = [
    [
      "Hyprland",
      { HYPRLAND_INSTANCE_SIGNATURE: "x" },
      {
        "hyprctl clients": JSON.stringify([{ address: "0x55d0", pid: 88, title: "sh", focusHistoryID: 0 }]),
        "hyprctl dispatch": "ok\n",
      },
      "hyprctl dispatch focuswindow address:0x55d0",
    ],
    [
      "niri",
      { NIRI_SOCKET: "/run/niri" },
      {
        "niri msg --json windows": JSON.stringify([{ id: 12, pid: 88, title: "sh", is_focused: true }]),
        "niri msg action": "",
      },
      "niri msg action focus-window --id 12",
    ],
  ];

  test.each(systems)("%s: the window of the terminal's process", (name, own, answers, last) => {
    const scene: Scene = { own, terminal, answers: commands(answers) };
    const outcome = focusing(scene);
    expect(outcome).toMatchObject({ result: "exact", by: `Alacritty, ${name}` });
    expect(outcome.ran.at(-1)).toBe(last);
    expect(looking(scene)).toBe(true);
  });

  test("Windows: Windows Terminal comes to the front, a console of its own exactly", () => {
    const parents = (name: string) => [process(90, "claude.exe"), process(89, "pwsh.exe"), process(88, name)];
    const scene = (name: string, pid: number): Scene => ({
      platform: "win32",
      answers(step) {
        if (step.do === "lineage") return parents(name);
        if (step.do === "windows") return [{ id: "65552", pid, title: "PowerShell", active: true }];
        return step.do === "activate" ? true : undefined;
      },
    });
    expect(focusing(scene("WindowsTerminal.exe", 88))).toMatchObject({
      result: "window",
      by: "Windows Terminal, Windows",
      why: "Windows Terminal cannot switch tabs from outside",
    });
    expect(focusing(scene("explorer.exe", 89))).toMatchObject({ result: "exact", by: "Windows" });
    expect(focusing(scene("explorer.exe", 88)).result).toBe("impossible");
  });
});
