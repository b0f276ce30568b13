/** A terminal as its person calls it. Nothing is done with the name but to show it. */
import type { Place } from "../session/event.ts";
import { truncateEnd } from "../text/text.ts";

type Env = Place["env"];

const maxName = 20;

/** TERM_PROGRAM, as each sets it. */
const programs: Readonly<Record<string, string>> = {
  "iTerm.app": "iTerm2",
  Apple_Terminal: "Terminal",
  ghostty: "Ghostty",
  WarpTerminal: "Warp",
  zed: "Zed",
};

/** Those that name themselves in a variable of their own, which what they start inherits. */
const byVariable: readonly (readonly [variable: string, name: string])[] = [
  ["KITTY_WINDOW_ID", "kitty"],
  ["ALACRITTY_WINDOW_ID", "Alacritty"],
  ["WEZTERM_PANE", "WezTerm"],
  ["GHOSTTY_RESOURCES_DIR", "Ghostty"],
  ["ITERM_SESSION_ID", "iTerm2"],
  ["KONSOLE_DBUS_SESSION", "Konsole"],
  ["GNOME_TERMINAL_SCREEN", "GNOME Terminal"],
  ["TILIX_ID", "Tilix"],
  ["TERMINATOR_UUID", "Terminator"],
  ["WT_SESSION", "Windows Terminal"],
];

/** "tmux %3", "kitty", "VS Code over SSH"; null: nothing is known. */
export function nameTerminal(place: Place | null): string | null {
  if (place === null) return null;
  const { env, tty } = place;
  const name =
    multiplexer(env) ?? emulator(env) ?? (tty && truncateEnd(tty.replace(/^\/dev\//, ""), maxName));
  if (!name) return env.SSH_CONNECTION ? "over SSH" : null;
  if (env.SSH_CONNECTION) return `${name} over SSH`;
  return env.WSL_DISTRO_NAME ? `${name} (WSL)` : name;
}

function multiplexer({ TMUX_PANE, ZELLIJ_PANE_ID, ZELLIJ, STY }: Env): string | null {
  if (TMUX_PANE && /^%\d{1,6}$/.test(TMUX_PANE)) return `tmux ${TMUX_PANE}`;
  if (ZELLIJ_PANE_ID && /^\d{1,6}$/.test(ZELLIJ_PANE_ID)) return `zellij pane ${ZELLIJ_PANE_ID}`;
  return ZELLIJ ? "zellij" : STY ? "screen" : null;
}

function emulator(env: Env): string | null {
  const { TERM, TERM_PROGRAM, TERMINAL_EMULATOR } = env;
  // A kitty that VS Code started inherits TERM_PROGRAM=vscode, but sets its own TERM.
  if (TERM === "xterm-kitty") return "kitty";
  if (TERM === "alacritty") return "Alacritty";
  if (TERM_PROGRAM === "vscode") return env.CURSOR_TRACE_ID ? "Cursor" : "VS Code";
  if (TERM_PROGRAM && TERM_PROGRAM !== "tmux") {
    return Object.hasOwn(programs, TERM_PROGRAM)
      ? (programs[TERM_PROGRAM] ?? null)
      : truncateEnd(TERM_PROGRAM, maxName) || null;
  }
  if (TERMINAL_EMULATOR?.startsWith("JetBrains")) return "JetBrains";
  return byVariable.find(([variable]) => env[variable])?.[1] ?? null;
}
