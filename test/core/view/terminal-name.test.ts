import { describe, expect, test } from "bun:test";
import { nameTerminal } from "../../../src/core/view/terminal-name.ts";

const named = (env: Record<string, string>, tty: string | null = null) =>
  nameTerminal({ local: true, pid: 1, procStart: "1", tty, terminalSessionId: null, env });

describe("a terminal, as its person calls it", () => {
  test.each<[string | null, Record<string, string>]>([
    ["tmux %3", { TMUX_PANE: "%3", TERM_PROGRAM: "tmux", KITTY_WINDOW_ID: "1" }],
    ["zellij pane 4", { ZELLIJ: "0", ZELLIJ_PANE_ID: "4", TERM_PROGRAM: "WezTerm" }],
    ["screen", { STY: "1234.pts-0.host" }],
    ["VS Code", { TERM_PROGRAM: "vscode" }],
    ["Cursor", { TERM_PROGRAM: "vscode", CURSOR_TRACE_ID: "x" }],
    ["kitty", { TERM_PROGRAM: "vscode", TERM: "xterm-kitty", KITTY_WINDOW_ID: "1" }],
    ["VS Code", { TERM_PROGRAM: "vscode", TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }],
    ["iTerm2", { TERM_PROGRAM: "iTerm.app" }],
    ["Terminal", { TERM_PROGRAM: "Apple_Terminal" }],
    ["WezTerm", { TERM_PROGRAM: "WezTerm" }],
    ["JetBrains", { TERMINAL_EMULATOR: "JetBrains-JediTerm" }],
    ["Windows Terminal", { WT_SESSION: "x" }],
    ["Windows Terminal (WSL)", { WT_SESSION: "x", WSL_DISTRO_NAME: "Debian" }],
    ["GNOME Terminal", { GNOME_TERMINAL_SCREEN: "/org/x" }],
    ["tmux %0 over SSH", { TMUX_PANE: "%0", SSH_CONNECTION: "1 2 3 4" }],
    ["over SSH", { SSH_CONNECTION: "1 2 3 4" }],
    ["constructor", { TERM_PROGRAM: "constructor" }],
    [null, { TMUX_PANE: "%3; rm -rf /" }],
    [null, {}],
  ])("%s", (name, env) => {
    expect(named(env)).toBe(name);
  });
  test("by its tty where nothing else is known", () => {
    expect(named({}, "/dev/pts/7")).toBe("pts/7");
    expect(nameTerminal(null)).toBeNull();
  });
  test("a program nobody knows, cut and clean", () => {
    expect(named({ TERM_PROGRAM: "a\u202eb\x1b[1m-very-long-name-of-a-terminal" })).toBe(
      "ab-very-long-name-o…",
    );
  });
});
