import { describe, expect, test } from "bun:test";
import { planFocus, planVisibility } from "../../../src/core/terminals/focus.ts";
import type { PlanStep, ProcessInfo } from "../../../src/core/terminals/plan.ts";
import { parsePeers, parseSshCommand } from "../../../src/core/terminals/ssh.ts";
import type { TerminalContext, TerminalTarget } from "../../../src/core/terminals/terminal.ts";
import { answerNothing, commandLines, createProcess, printed, simulate } from "./simulate.ts";

const tty = "/dev/pts/7";
const agent = createProcess(90, "node", { tty });
const shell = createProcess(89, "bash", { tty });

interface Scenario {
  readonly platform?: NodeJS.Platform;
  /** beckon's own environment. */
  readonly desktopEnv?: TerminalContext["env"];
  /** The agent's environment. */
  readonly env?: Record<string, string>;
  readonly target?: Partial<TerminalTarget>;
  readonly place?: Partial<TerminalTarget["place"]>;
  /** Around agent and shell, nearest first. */
  readonly terminal?: readonly ProcessInfo[];
  readonly answers?: (step: PlanStep) => unknown;
}

function prepare(scenario: Scenario) {
  const { platform = "linux", desktopEnv = {}, env = {}, target, place, terminal = [], answers } = scenario;
  const full: TerminalTarget = {
    place: { local: true, pid: 90, procStart: "1", tty: null, terminalSessionId: null, env, ...place },
    cwd: "/home/ana/shop",
    title: null,
    ...target,
  };
  const answer = (step: PlanStep): unknown => {
    const own = answers?.(step);
    if (own !== undefined) return own;
    if (step.do === "lineage" && step.pid === 90) return [agent, shell, ...terminal];
    if (step.do === "environment" && step.pid === 90) return env;
    return answerNothing(step);
  };
  return { target: full, context: { platform, env: desktopEnv }, answer };
}

function focus(scenario: Scenario) {
  const { target, context, answer } = prepare(scenario);
  const { steps, result } = simulate(planFocus(target, context), answer);
  return { ...result, commands: commandLines(steps), steps };
}

function isVisible(scenario: Scenario): boolean | null {
  const { target, context, answer } = prepare(scenario);
  return simulate(planVisibility(target, context), answer).result;
}

/** What commands print, by how they begin. */
const answerCommands =
  (outputs: Record<string, string>) =>
  (step: PlanStep): unknown => {
    if (step.do !== "run") return undefined;
    const line = step.argv.join(" ");
    const start = Object.keys(outputs).find((text) => line.startsWith(text));
    return start === undefined ? undefined : printed(outputs[start] ?? "");
  };

describe("macOS", () => {
  const mac = (path: string, pid = 88) => createProcess(pid, path.split("/").at(-1) ?? "", { program: path });

  test("Terminal shows the tab with the session's tty, which is an argument of the AppleScript", () => {
    const { steps, ...outcome } = focus({
      platform: "darwin",
      terminal: [mac("/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal")],
      answers: (step) => (step.do === "applescript" ? "found" : undefined),
    });
    expect(outcome).toMatchObject({ result: "exact", by: "Terminal" });
    const script = steps.find((step) => step.do === "applescript");
    expect(script).toMatchObject({ app: "Terminal", args: [tty] });
    expect(script?.do === "applescript" && script.script).not.toContain(tty);
  });

  test("Terminal comes to the front if the user has not allowed control, and beckon says where to allow it", () => {
    const outcome = focus({
      platform: "darwin",
      terminal: [mac("/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal")],
      answers: (step) => (step.do === "applescript" ? "denied" : answerCommands({ "open ": "" })(step)),
    });
    expect(outcome).toMatchObject({ result: "window", by: "Terminal, macOS" });
    expect(outcome.why).toContain("Automation");
    expect(outcome.commands).toContain("open -a /System/Applications/Utilities/Terminal.app");
  });

  const itermSession = "w0t1p0:0B9A4F5E-8D2B-4C0F-9B0C-2D6C1C1C7A11";
  const iterm = (answer: string | null): Scenario => ({
    platform: "darwin",
    terminal: [mac("/Applications/iTerm.app/Contents/MacOS/iTerm2")],
    env: { ITERM_SESSION_ID: itermSession },
    answers: (step) => (step.do === "applescript" ? answer : answerCommands({ "open ": "" })(step)),
  });

  test("iTerm2 shows the pane by its id", () => {
    const outcome = focus(iterm("found"));
    expect(outcome).toMatchObject({ result: "exact", by: "iTerm2" });
    expect(outcome.commands).toEqual([]);
    expect(outcome.steps.at(-1)).toMatchObject({ args: ["0B9A4F5E-8D2B-4C0F-9B0C-2D6C1C1C7A11", tty] });
  });

  test("iTerm2 opens its own link if the script does not find the pane, which is never exact", () => {
    for (const [answer, why] of [
      ["none", "does not confirm that it did"],
      [null, "does not confirm that it did"],
      ["denied", "System Settings → Privacy & Security → Automation"],
    ] as const) {
      const outcome = focus(iterm(answer));
      expect(outcome.commands).toEqual([`open iterm2:reveal?sessionid=${itermSession}`]);
      expect(outcome).toMatchObject({ result: "window", by: "iTerm2", why: expect.stringContaining(why) });
    }
  });

  test("iTerm2 around tmux is found by the tty of the tmux client", () => {
    const outcome = focus({
      platform: "darwin",
      terminal: [createProcess(60, "tmux", { program: "/opt/homebrew/bin/tmux" })],
      env: { TMUX: "/private/tmp/tmux-501/default,60,0", TMUX_PANE: "%2" },
      answers(step) {
        if (step.do === "own-sockets") return ["/private/tmp/tmux-501/default"];
        if (step.do === "lineage" && step.pid === 66) {
          const client = createProcess(66, "tmux", { tty: "/dev/ttys004" });
          return [client, mac("/Applications/iTerm.app/Contents/MacOS/iTerm2")];
        }
        if (step.do === "applescript") return step.args[0] === "/dev/ttys004" ? "found" : "none";
        return answerCommands({
          "tmux -u -S /private/tmp/tmux-501/default list-panes": `%2 89 ${tty} @1 $0 11 main\n66 /dev/ttys004 $0 5\n`,
          "tmux -u -S /private/tmp/tmux-501/default select": "",
        })(step);
      },
    });
    expect(outcome).toMatchObject({ result: "exact", by: "tmux, iTerm2" });
  });

  test("Ghostty shows the terminal by its tty, or else by its folder, which is not exact", () => {
    const scenario = (answer: string): Scenario => ({
      platform: "darwin",
      terminal: [mac("/Applications/Ghostty.app/Contents/MacOS/ghostty")],
      env: { GHOSTTY_SURFACE_ID: "0xb352563abc664447" },
      answers: (step) => (step.do === "applescript" ? answer : answerCommands({ "open ": "" })(step)),
    });
    expect(focus(scenario("found"))).toMatchObject({ result: "exact", by: "Ghostty" });
    expect(focus(scenario("found")).steps.at(-1)).toMatchObject({ args: [tty, "/home/ana/shop"] });
    expect(focus(scenario("alone"))).toMatchObject({
      result: "window",
      by: "Ghostty",
      why: "Ghostty does not say which tab it is: this is the only one in its folder",
    });
    expect(focus(scenario("none"))).toMatchObject({ result: "window", by: "Ghostty, macOS" });
  });

  test.each([
    ["Terminal", { TERM_PROGRAM: "Apple_Terminal" }],
    ["iTerm2", { TERM_PROGRAM: "iTerm.app", ITERM_SESSION_ID: itermSession }],
    ["Ghostty", { TERM_PROGRAM: "ghostty" }],
    ["Warp", { TERM_PROGRAM: "WarpTerminal", WARP_FOCUS_URL: `warp://session/${"0".repeat(32)}` }],
    ["VS Code", { TERM_PROGRAM: "vscode", __CFBundleIdentifier: "com.microsoft.VSCode" }],
  ])("%s is not started again by an old session after you quit it", (_, env) => {
    for (const answer of ["closed", "denied", null]) {
      const outcome = focus({
        platform: "darwin",
        env,
        place: { pid: null, tty },
        answers: (step) =>
          step.do === "applescript" ? answer : answerCommands({ "lsappinfo find": "", "open ": "" })(step),
      });
      expect(outcome.result).toBe("impossible");
      expect(outcome.commands.filter((line) => line.startsWith("open "))).toEqual([]);
      for (const step of outcome.steps) {
        if (step.do === "applescript")
          expect(step.script).toMatch(/^ {2}if (application id "\S+") is not running [\s\S]*^ {2}tell \1$/m);
      }
    }
  });

  test.each([
    ["Terminal", "/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal", "com.apple.Terminal"],
    ["iTerm2", "/Applications/iTerm.app/Contents/MacOS/iTerm2", "com.googlecode.iterm2"],
    ["Ghostty", "/Applications/Ghostty.app/Contents/MacOS/ghostty", "com.mitchellh.ghostty"],
  ])("you look at the pane that %s says its front window shows", (_, program, bundleId) => {
    const app = program.slice(0, program.indexOf(".app") + 4);
    const look = (shown: string | null, front: string) =>
      isVisible({
        platform: "darwin",
        terminal: [mac(program)],
        answers: (step) =>
          step.do === "applescript"
            ? shown
            : answerCommands({
                "lsappinfo find": "ASN:0x0-0x1b01b:",
                "lsappinfo front": "ASN:0x0-0x1b01b:",
                "lsappinfo info": `bundleID="${front}" bundle path="${front === bundleId ? app : "/Finder.app"}"`,
              })(step),
      });
    expect(look(tty, bundleId)).toBe(true);
    expect(look("/dev/ttys099", bundleId)).toBe(false);
    expect(look(tty, "com.apple.finder")).toBe(false);
    // The user has not allowed it, or this version does not say it.
    expect(look(null, bundleId)).toBeNull();
    expect(look("", bundleId)).toBeNull();
  });

  test("variables that the hook saw count where macOS shows only the arguments of a process", () => {
    const outcome = focus({
      ...iterm("found"),
      place: { env: { ITERM_SESSION_ID: itermSession } },
      answers: (step) => (step.do === "environment" ? { "--resume": "x" } : iterm("found").answers?.(step)),
    });
    const script = outcome.steps.find((step) => step.do === "applescript");
    expect(script).toMatchObject({ args: [itermSession.split(":")[1], tty] });
  });

  test("Terminal is found by its bundle id if the session's process is unknown", () => {
    const outcome = focus({
      platform: "darwin",
      env: { TERM_PROGRAM: "Apple_Terminal" },
      place: { pid: null, tty },
      answers: answerCommands({
        "lsappinfo find bundleid=com.apple.Terminal": "ASN:0x0-0x1b01b:",
        "open ": "",
      }),
    });
    expect(outcome).toMatchObject({ result: "window", by: "Terminal, macOS" });
    expect(outcome.commands.at(-1)).toBe("open -b com.apple.Terminal");
  });

  test.each([
    ["VS Code", "Visual Studio Code.app/Contents/Frameworks/Code Helper.app/Contents/MacOS/Code Helper"],
    ["JetBrains", "WebStorm.app/Contents/MacOS/webstorm"],
    ["Zed", "Zed.app/Contents/MacOS/zed"],
  ])("%s comes to the front, and no folder is opened in it", (name, program) => {
    const outcome = focus({
      platform: "darwin",
      terminal: [mac(`/Applications/${program}`)],
      env: { __CFBundleIdentifier: "com.microsoft.VSCode" },
      answers: answerCommands({ "open ": "" }),
    });
    const app = program.slice(0, program.indexOf("/"));
    expect(outcome.commands.at(-1)).toBe(`open -a /Applications/${app}`);
    expect(outcome).toMatchObject({
      result: "window",
      by: `${name}, macOS`,
      why: `${name} does not let other programs select a window or terminal in it`,
    });
  });

  test("Alacritty comes to the front, but maybe another of its windows", () => {
    const scenario: Scenario = {
      platform: "darwin",
      terminal: [mac("/Applications/Alacritty.app/Contents/MacOS/alacritty")],
      answers: answerCommands({
        "open -a /Applications/Alacritty.app": "",
        "lsappinfo front": "ASN:0x0-0x1b01b:",
        "lsappinfo info": '"/Applications/Kitty.app"',
      }),
    };
    expect(focus(scenario)).toMatchObject({ result: "window", by: "Alacritty, macOS" });
    expect(isVisible(scenario)).toBe(false);
  });
});

describe("terminals with a link or command of their own", () => {
  test("Warp shows the tab by its link", () => {
    const outcome = focus({
      terminal: [createProcess(88, "warp")],
      env: { WARP_FOCUS_URL: "warp://session/0123456789abcdef0123456789abcdef" },
      answers: answerCommands({ "xdg-open ": "" }),
    });
    expect(outcome.commands).toEqual(["xdg-open warp://session/0123456789abcdef0123456789abcdef"]);
    expect(outcome).toMatchObject({ result: "exact", by: "Warp" });
  });

  const panes = JSON.stringify([
    { window_id: 0, tab_id: 0, pane_id: 3, tty_name: tty, title: "shop", window_title: "shop" },
    { window_id: 1, tab_id: 1, pane_id: 4, tty_name: "/dev/pts/8", title: "zsh", window_title: "zsh" },
  ]);
  const wezterm = (focused: number): Scenario => ({
    desktopEnv: { DISPLAY: ":0" },
    terminal: [createProcess(88, "wezterm-gui")],
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
      return answerCommands({
        "wezterm cli list-clients": JSON.stringify([{ focused_pane_id: focused }]),
        "wezterm cli list": panes,
        "wezterm cli activate-pane --pane-id 3": "",
      })(step);
    },
  });

  test("WezTerm shows the pane with the session's tty, not the one that an inherited variable names", () => {
    const outcome = focus(wezterm(3));
    expect(outcome).toMatchObject({ result: "exact", by: "WezTerm, X11" });
    expect(outcome.commands).toContain("wezterm cli activate-pane --pane-id 3");
    expect(outcome.steps).toContainEqual({
      do: "run",
      argv: ["wezterm", "cli", "list", "--format", "json"],
      env: { WEZTERM_UNIX_SOCKET: "/run/user/1000/wezterm/gui-sock-88" },
    });
  });

  test("WezTerm's pane is visible while it and its window have the focus", () => {
    expect(isVisible(wezterm(3))).toBe(true);
    expect(isVisible(wezterm(4))).toBe(false);
  });

  test("WezTerm's socket is not used if it belongs to another user", () => {
    const scenario = wezterm(3);
    const answers = (step: PlanStep) => (step.do === "own-sockets" ? [] : scenario.answers?.(step));
    const outcome = focus({ ...scenario, answers });
    expect(outcome.commands).toEqual([]);
    expect(outcome.result).toBe("window");
  });
});

describe("tmux after the agent's process has ended", () => {
  const socket = "/tmp/tmux-1000/default";
  const focusPane = (pane: string, paneTty: string) =>
    focus({
      desktopEnv: { DISPLAY: ":0" },
      place: { tty },
      env: { TMUX: `${socket},60,0`, TMUX_PANE: "%2" },
      answers: (step) => {
        if (step.do === "lineage" && step.pid === 90) return [];
        if (step.do === "own-sockets") return [socket];
        if (step.do === "lineage" && step.pid === 66)
          return [createProcess(66, "tmux: client", { tty: "/dev/pts/4" }), createProcess(88, "xterm")];
        if (step.do === "windows") return [{ id: "1", pid: 88, title: "", active: false }];
        if (step.do === "activate") return true;
        return answerCommands({
          [`tmux -u -S ${socket} list-panes`]: `${pane} 89 ${paneTty} @1 $0 11 main\n66 /dev/pts/4 $0 5\n`,
          [`tmux -u -S ${socket} select`]: "",
        })(step);
      },
    });

  test("its pane is still found", () => {
    expect(focusPane("%2", tty)).toMatchObject({ result: "exact", by: "tmux, xterm, X11" });
  });
  test.each([
    ["%5", tty],
    ["%2", "/dev/pts/9"],
  ])("another pane with its id or its tty is not taken for it: %s %s", (pane, paneTty) => {
    expect(focusPane(pane, paneTty)).toMatchObject({
      result: "impossible",
      why: "its process 90 has ended and its tmux pane is closed",
    });
  });
});

describe("tmux with a terminal here and one over SSH", () => {
  const server = createProcess(60, "tmux: server");
  const scenario = (clients: string): Scenario => ({
    desktopEnv: { DISPLAY: ":0" },
    terminal: [server],
    answers(step) {
      if (step.do === "sockets-of" || step.do === "own-sockets") return ["/tmp/tmux-0/default"];
      if (step.do === "lineage" && step.pid === 66)
        return [createProcess(66, "tmux: client"), createProcess(65, "sshd")];
      if (step.do === "lineage" && step.pid === 67)
        return [createProcess(67, "tmux: client"), createProcess(50, "xterm")];
      if (step.do === "windows") return [{ id: "1", pid: 50, title: "", active: false }];
      if (step.do === "activate") return true;
      return answerCommands({
        "tmux -u -S /tmp/tmux-0/default list-panes": `%2 89 ${tty} @1 $0 11 main\n${clients}`,
        "tmux -u -S /tmp/tmux-0/default": "",
      })(step);
    },
  });

  test("the one here is shown, though the other was used last", () => {
    const outcome = focus(scenario("66 /dev/pts/20 $0 900\n67 /dev/pts/21 $0 100\n"));
    expect(outcome).toMatchObject({ result: "exact", by: "tmux, xterm, X11" });
  });

  test("the one here is switched to the session if it shows another", () => {
    const outcome = focus(scenario("66 /dev/pts/20 $0 900\n67 /dev/pts/21 $3 100\n"));
    expect(outcome.commands.at(-1)).toBe(
      "tmux -u -S /tmp/tmux-0/default switch-client -c /dev/pts/21 -t $0 ; select-window -t $0:@1 ; select-pane -t %2",
    );
    expect(outcome.result).toBe("exact");
  });

  test("without the one here, the pane is selected, and beckon says where to go", () => {
    const outcome = focus(scenario("66 /dev/pts/20 $0 900\n"));
    expect(outcome).toMatchObject({ result: "impossible", by: "tmux, ssh" });
    expect(outcome.why).toBe("tmux shows the pane now, but its terminal is an SSH login: go to that machine");
  });
});

describe("zellij", () => {
  const client = (pid: number, at: string) => createProcess(pid, "zellij", { tty: at });
  const scenario = (clients: readonly ProcessInfo[], more: Record<string, string> = {}): Scenario => ({
    desktopEnv: { DISPLAY: ":0" },
    terminal: [createProcess(60, "zellij")],
    env: { ZELLIJ_SESSION_NAME: "brave-tiger", ZELLIJ_PANE_ID: "4" },
    answers(step) {
      if (step.do === "processes") return [createProcess(60, "zellij"), ...clients];
      if (step.do === "lineage" && step.pid !== 90)
        return [client(step.pid, "/dev/pts/2"), createProcess(50, "xterm")];
      if (step.do === "windows") return [{ id: "5", pid: 50, title: "", active: true }];
      if (step.do === "activate") return true;
      return answerCommands(more)(step);
    },
  });
  const focused = { "zellij --session brave-tiger action focus-pane-id terminal_4": "" };

  test("the pane is selected by number, then the window of its only client is shown", () => {
    const outcome = focus(scenario([client(66, "/dev/pts/2")], focused));
    expect(outcome.commands).toEqual(["zellij --session brave-tiger action focus-pane-id terminal_4"]);
    expect(outcome).toMatchObject({ result: "exact", by: "zellij, xterm, X11" });
  });

  test("an older zellij gets only its window shown, and beckon says which version can do more", () => {
    const outcome = focus(scenario([client(66, "/dev/pts/2")]));
    expect(outcome).toMatchObject({ result: "window", why: expect.stringContaining("0.44") });
  });

  test("no window is shown if no client is attached, or several are", () => {
    expect(focus(scenario([], focused)).why).toContain("zellij attach 'brave-tiger'");
    const several = focus(scenario([client(66, "/dev/pts/2"), client(67, "/dev/pts/3")], focused));
    expect(several.result).toBe("impossible");
    expect(several.steps.some((step) => step.do === "activate")).toBe(false);
  });

  test("the pane is visible while it is the client's focused one", () => {
    const list = (pane: string) => ({
      "zellij --session brave-tiger action list-clients": `CLIENT_ID ZELLIJ_PANE_ID RUNNING_COMMAND\n1 ${pane} vim\n`,
    });
    expect(isVisible(scenario([client(66, "/dev/pts/2")], list("terminal_4")))).toBe(true);
    expect(isVisible(scenario([client(66, "/dev/pts/2")], list("terminal_1")))).toBe(false);
    expect(isVisible(scenario([client(66, "/dev/pts/2")]))).toBeNull();
    expect(isVisible(scenario([]))).toBe(false);
  });
});

describe("detection", () => {
  const x = (windows: readonly [string, number, string?][], active = ""): Scenario => ({
    desktopEnv: { DISPLAY: ":0" },
    answers(step) {
      if (step.do === "activate") return true;
      if (step.do !== "windows") return undefined;
      return windows.map(([id, pid, title = ""]) => ({ id, pid, title, active: id === active }));
    },
  });
  const outerShell = createProcess(70, "bash", { tty: "/dev/pts/1" });
  const code = createProcess(60, "code", { program: "/usr/share/code/code" });

  test("kitty that was started from VS Code is kitty, despite TERM_PROGRAM", () => {
    const outcome = focus({
      ...x([
        ["1", 88],
        ["2", 60],
      ]),
      terminal: [createProcess(88, "kitty", { tty: "/dev/pts/1" }), outerShell, code],
      env: { TERM_PROGRAM: "vscode", KITTY_WINDOW_ID: "1" },
    });
    expect(outcome.by).toBe("kitty, X11");
    expect(outcome.steps).toContainEqual({ do: "activate", id: "1", assumed: true });
  });

  test("an unknown terminal that was started from VS Code is not VS Code", () => {
    const terminal = [createProcess(88, "newterm", { tty: "/dev/pts/1" }), outerShell, code];
    const env = { TERM_PROGRAM: "vscode" };
    const shown = focus({
      ...x([
        ["1", 88],
        ["2", 60],
      ]),
      terminal,
      env,
    });
    expect(shown).toMatchObject({ result: "window", by: "X11", why: expect.stringContaining("`newterm`") });
    expect(shown.steps).toContainEqual({ do: "activate", id: "1", assumed: true });
    const hidden = focus({ ...x([["2", 60]]), terminal, env });
    expect(hidden.result).toBe("impossible");
  });

  test("a terminal in VS Code gets the window with its folder in the title", () => {
    const helper = createProcess(61, "code", { program: code.program });
    const outcome = focus({
      ...x([
        ["1", 60, "index.ts - shop - Visual Studio Code"],
        ["2", 60, "shopping - Visual Studio Code"],
      ]),
      terminal: [helper, code],
    });
    expect(outcome).toMatchObject({ result: "window", by: "VS Code, X11" });
    expect(outcome.steps).toContainEqual({ do: "activate", id: "1", assumed: true });
  });

  test("an agent that another agent started without a terminal is in that agent's terminal", () => {
    const child = [
      createProcess(95, "codex"),
      createProcess(94, "sh"),
      agent,
      shell,
      createProcess(88, "xterm"),
    ];
    const scenario = x([["1", 88]]);
    const answers = (step: PlanStep) => (step.do === "lineage" ? child : scenario.answers?.(step));
    expect(focus({ ...scenario, answers })).toMatchObject({ result: "exact", by: "xterm, X11" });
  });

  test("an agent that VS Code started without a terminal is in VS Code, not where VS Code was started", () => {
    const foreground = { ...code, tty: "/dev/pts/1" };
    const scenario = x([
      ["1", 60],
      ["2", 50],
    ]);
    const own = [
      createProcess(95, "claude"),
      createProcess(61, "code", { program: code.program }),
      foreground,
      outerShell,
      createProcess(50, "xterm"),
    ];
    const answers = (step: PlanStep) => (step.do === "lineage" ? own : scenario.answers?.(step));
    expect(focus({ ...scenario, answers }).by).toBe("VS Code, X11");
  });

  test("sudo opens a terminal of its own, but is not a terminal", () => {
    const outcome = focus({
      ...x([["1", 88]]),
      terminal: [createProcess(75, "sudo", { tty: "/dev/pts/1" }), outerShell, createProcess(88, "xterm")],
    });
    expect(outcome).toMatchObject({ result: "exact", by: "xterm, X11" });
  });

  test("an inherited WINDOWID of another terminal does not count", () => {
    const outcome = focus({
      ...x([
        ["1", 88],
        ["2", 50],
      ]),
      terminal: [createProcess(88, "xterm")],
      env: { WINDOWID: "2" },
    });
    expect(outcome.steps).toContainEqual({ do: "activate", id: "1", assumed: true });
  });

  test("among windows that nothing distinguishes, the last used one is shown, and beckon says so", () => {
    const scenario: Scenario = {
      ...x(
        [
          ["1", 88],
          ["2", 88],
        ],
        "2",
      ),
      terminal: [createProcess(88, "foot")],
    };
    const outcome = focus(scenario);
    expect(outcome).toMatchObject({ result: "window", why: expect.stringContaining("2 windows") });
    expect(outcome.steps).toContainEqual({ do: "activate", id: "2", assumed: true });
    expect(isVisible(scenario)).toBeNull();
    expect(
      isVisible({
        ...x([
          ["1", 88],
          ["2", 88],
        ]),
        terminal: [createProcess(88, "foot")],
      }),
    ).toBe(false);
  });

  test("focus is not possible if the window manager refuses", () => {
    const outcome = focus({
      ...x([["1", 88]]),
      terminal: [createProcess(88, "xterm")],
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
  test.each<[string, Scenario, string]>([
    [
      "a process that has ended",
      { answers: (step) => (step.do === "lineage" ? [] : undefined) },
      "its process 90 has ended",
    ],
    ["another process with its number", { place: { procStart: "2" } }, "its process 90 has ended"],
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
      { terminal: [createProcess(80, "sshd")], env: { SSH_CONNECTION: "10.0.0.5 51234 10.0.0.9 22" } },
      "its terminal is an SSH login from 10.0.0.5: go to that machine",
    ],
    ["no desktop", { terminal: [createProcess(88, "xterm")] }, "neither DISPLAY nor WAYLAND_DISPLAY is set"],
    [
      "GNOME on Wayland",
      {
        terminal: [createProcess(88, "foot")],
        desktopEnv: { WAYLAND_DISPLAY: "wayland-0", XDG_CURRENT_DESKTOP: "ubuntu:GNOME" },
      },
      "GNOME on Xorg",
    ],
  ])("beckon gives the reason: %s", (_, scenario, why) => {
    const outcome = focus(scenario);
    expect(outcome.result).toBe("impossible");
    expect(outcome.why).toContain(why);
    expect(isVisible(scenario)).toBeNull();
  });
});

describe("a session on another machine, over ssh from here", () => {
  const scenario = (owner: number | null, name = "ssh"): Scenario => ({
    desktopEnv: { DISPLAY: ":0" },
    place: { local: false },
    env: { SSH_CONNECTION: "10.0.0.5 51234 10.0.0.9 22" },
    answers(step) {
      if (step.do === "connection-owners")
        return step.localPort === 51234 && step.remotePort === 22 && owner !== null ? [owner] : [];
      if (step.do === "lineage") return [createProcess(40, name, { tty }), shell, createProcess(88, "xterm")];
      if (step.do === "windows") return [{ id: "1", pid: 88, title: "", active: true }];
      return step.do === "activate" ? true : undefined;
    },
  });

  test("the terminal with that login comes to the front", () => {
    expect(focus(scenario(40))).toMatchObject({ result: "window", by: "ssh, xterm, X11" });
    expect(isVisible(scenario(40))).toBeNull();
  });

  test("focus is not possible if the connection is not this machine's, or not of ssh", () => {
    expect(focus(scenario(null)).result).toBe("impossible");
    expect(focus(scenario(40, "firefox")).result).toBe("impossible");
  });
});

describe("what an `ssh` was told", () => {
  test.each([
    ["ssh devbox", "devbox", true],
    ["ssh -F /tmp/config -p 2222 me@10.0.0.7", "me@10.0.0.7", true],
    ["ssh -p2222 -lme devbox", "me@devbox", true],
    ["ssh devbox -l me", "me@devbox", true],
    ["ssh devbox -t tmux attach", "devbox", true],
    ["ssh -tt devbox tmux attach", "devbox", true],
    ["ssh devbox git-upload-pack shop.git", "devbox", false],
    ["ssh -T -o BatchMode=yes devbox exec beckon link", "devbox", false],
    ["ssh -fN -L 8080:localhost:80 devbox", "devbox", false],
    ["ssh -W [10.0.0.7]:22 jump", "jump", false],
  ])("%s", (line, destination, hasTerminal) => {
    expect(parseSshCommand(line.split(" "))).toEqual({ destination, hasTerminal });
  });

  test("nothing, if it names no machine: the master of a shared connection does not", () => {
    for (const words of [[], ["ssh: /tmp/control [mux]"], ["ssh", "-V"]])
      expect(parseSshCommand(words)).toBeNull();
  });
});

test("who is at the other ends of a process's named sockets", () => {
  // As `ss -Hxnp` of iproute2 6.1 prints it: a listening socket, two accepted connections, and other processes'.
  const lines = [
    'u_str LISTEN 0      128    /tmp/control 900 * 0   users:(("ssh",pid=50,fd=5))          ',
    'u_str ESTAB 0      0       /tmp/control 901 * 911 users:(("ssh",pid=50,fd=6))          ',
    'u_str ESTAB 0      0       /tmp/control 902 * 912 users:(("ssh",pid=50,fd=7))          ',
    'u_str ESTAB 0      0                  * 911 * 901 users:(("ssh",pid=40,fd=3))          ',
    'u_str ESTAB 0      0                  * 912 * 902 users:(("ssh",pid=41,fd=3),("sh",pid=42,fd=3))',
    'u_str ESTAB 0      0                  * 920 * 921 users:(("ssh",pid=50,fd=2))          ',
    'u_str ESTAB 0      0                  * 921 * 920 users:(("bun",pid=60,fd=9))          ',
  ];
  expect(parsePeers(lines.join("\n"), 50)).toEqual([40, 41, 42]);
  expect(parsePeers(lines.join("\n"), 60)).toEqual([]);
});

describe("other window systems", () => {
  const terminal = [createProcess(88, "alacritty")];
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

  test.each(systems)("%s shows the window of the terminal's process", (name, desktopEnv, answers, last) => {
    const scenario: Scenario = { desktopEnv, terminal, answers: answerCommands(answers) };
    const outcome = focus(scenario);
    expect(outcome).toMatchObject({ result: "exact", by: `Alacritty, ${name}` });
    expect(outcome.commands.at(-1)).toBe(last);
    expect(isVisible(scenario)).toBe(true);
  });

  test("Windows shows the window of Windows Terminal, and a console's own window exactly", () => {
    const parents = (name: string) => [
      createProcess(90, "claude.exe"),
      createProcess(89, "pwsh.exe"),
      createProcess(88, name),
    ];
    const scenario = (name: string, pid: number): Scenario => ({
      platform: "win32",
      answers(step) {
        if (step.do === "lineage") return parents(name);
        if (step.do === "windows") return [{ id: "65552", pid, title: "PowerShell", active: true }];
        return step.do === "activate" ? true : undefined;
      },
    });
    expect(focus(scenario("WindowsTerminal.exe", 88))).toMatchObject({
      result: "window",
      by: "Windows Terminal, Windows",
      why: "Windows Terminal does not let other programs select a tab",
    });
    expect(focus(scenario("explorer.exe", 89))).toMatchObject({ result: "exact", by: "Windows" });
    expect(focus(scenario("explorer.exe", 88)).result).toBe("impossible");
  });
});

test("on Windows the terminal that shows the console is found, also if it did not start the shell", () => {
  const terminal = createProcess(500, "WindowsTerminal");
  const windows = [{ id: "7", pid: 500, title: "x", active: false }];
  const outcome = focus({
    platform: "win32",
    terminal: [createProcess(88, "explorer")],
    answers: (step) => {
      if (step.do === "console-owner") return step.pid === 90 ? terminal : null;
      if (step.do === "windows") return windows;
      return step.do === "activate" ? step.id === "7" : undefined;
    },
  });
  expect(outcome).toMatchObject({ result: "window", by: "Windows Terminal, Windows" });
});
