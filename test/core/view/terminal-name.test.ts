import { describe, expect, test } from "bun:test";
import { nameTerminal } from "../../../src/core/view/terminal-name.ts";

const named = (env: Record<string, string>, tty: string | null = null) =>
  nameTerminal({ local: true, pid: 1, procStart: "1", tty, terminalSessionId: null, env });

describe("the name of a session's terminal", () => {
  test.each<[string | null, Record<string, string>]>([
    ["tmux %3", { TMUX_PANE: "%3", TERM_PROGRAM: "tmux", KITTY_WINDOW_ID: "1" }],
    ["zellij pane 4", { ZELLIJ: "0", ZELLIJ_PANE_ID: "4", TERM_PROGRAM: "WezTerm" }],
    ["zellij", { ZELLIJ: "0" }],
    ["foot", { TERM: "foot" }],
    ["Ghostty", { GHOSTTY_RESOURCES_DIR: "/usr/share/ghostty" }],
    ["Tilix", { TILIX_ID: "0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11", TERM: "xterm-256color" }],
    ["Terminator", { TERMINATOR_UUID: "urn:uuid:0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11" }],
    ["newterm", { TERM_PROGRAM: "newterm", KITTY_WINDOW_ID: "1" }],
    ["screen", { STY: "1234.pts-0.host" }],
    ["VS Code", { TERM_PROGRAM: "vscode" }],
    ["Cursor", { TERM_PROGRAM: "vscode", CURSOR_TRACE_ID: "x" }],
    ["kitty", { TERM_PROGRAM: "vscode", TERM: "xterm-kitty", KITTY_WINDOW_ID: "1" }],
    ["VS Code", { TERM_PROGRAM: "vscode", TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }],
    ["VS Code", { CLAUDE_CODE_ENTRYPOINT: "claude-vscode", TMUX_PANE: "%3" }],
    ["Cursor", { CLAUDE_CODE_ENTRYPOINT: "claude-vscode", CURSOR_TRACE_ID: "x" }],
    ["VS Code over SSH", { CLAUDE_CODE_ENTRYPOINT: "claude-vscode", SSH_CONNECTION: "1 2 3 4" }],
    ["Claude Desktop", { CLAUDE_CODE_ENTRYPOINT: "claude-desktop", TERM: "foot" }],
    ["SDK host", { CLAUDE_CODE_ENTRYPOINT: "sdk-ts" }],
    ["tmux %3", { CLAUDE_CODE_ENTRYPOINT: "sdk-cli", TMUX_PANE: "%3" }],
    ["iTerm2", { TERM_PROGRAM: "iTerm.app" }],
    ["Terminal", { TERM_PROGRAM: "Apple_Terminal" }],
    ["WezTerm", { TERM_PROGRAM: "WezTerm" }],
    ["JetBrains", { TERMINAL_EMULATOR: "JetBrains-JediTerm" }],
    ["Windows Terminal", { WT_SESSION: "0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11" }],
    [
      "Windows Terminal (WSL)",
      { WT_SESSION: "0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11", WSL_DISTRO_NAME: "Debian" },
    ],
    [
      "GNOME Terminal",
      { GNOME_TERMINAL_SCREEN: "/org/gnome/Terminal/screen/e740e1a1_d14e_4637_a33a_64af6eba1b44" },
    ],
    ["tmux %0 over SSH", { TMUX_PANE: "%0", SSH_CONNECTION: "1 2 3 4" }],
    ["over SSH", { SSH_CONNECTION: "1 2 3 4" }],
    ["constructor", { TERM_PROGRAM: "constructor" }],
    [null, { TMUX_PANE: "%3; rm -rf /" }],
    [null, {}],
  ])("%s", (name, env) => {
    expect(named(env)).toBe(name);
  });
  test("is its tty if nothing else is known", () => {
    expect(named({}, "/dev/pts/7")).toBe("pts/7");
    expect(nameTerminal(null)).toBeNull();
  });
  test("is shortened and cleaned if beckon does not know the program", () => {
    expect(named({ TERM_PROGRAM: "a\u202eb\x1b[1m-very-long-name-of-a-terminal" })).toBe(
      "ab-very-long-name-o…",
    );
  });
});
