/**
 * The environment variables that show where a session's terminal is. The forwarder sends them with every event, so this
 * file must cost nothing to load: no regular expressions, and plain loops.
 */
import { limits } from "./limits.ts";

/** By name, not by prefix: beside the window ids there are WARP_API_KEY and KONSOLE_DBUS_ACTIVATION_COOKIE. */
export const terminalVariables = [
  "TERM",
  "TERM_PROGRAM",
  "TERM_PROGRAM_VERSION",
  "TERMINAL_EMULATOR",
  "LC_TERMINAL",
  "__CFBundleIdentifier",
  "TMUX",
  "TMUX_PANE",
  "STY",
  "WINDOW",
  "ZELLIJ",
  "ZELLIJ_SESSION_NAME",
  "ZELLIJ_PANE_ID",
  "WINDOWID",
  "KITTY_WINDOW_ID",
  "KITTY_LISTEN_ON",
  "KITTY_PID",
  "WEZTERM_PANE",
  "WEZTERM_UNIX_SOCKET",
  "ITERM_SESSION_ID",
  "TERM_SESSION_ID",
  "GHOSTTY_RESOURCES_DIR",
  "GHOSTTY_BIN_DIR",
  "GHOSTTY_SURFACE_ID",
  "ALACRITTY_WINDOW_ID",
  "ALACRITTY_SOCKET",
  "WARP_FOCUS_URL",
  "WARP_IS_LOCAL_SHELL_SESSION",
  "WT_SESSION",
  "VSCODE_IPC_HOOK_CLI",
  "VSCODE_PID",
  "VSCODE_CWD",
  "CURSOR_TRACE_ID",
  "TILIX_ID",
  "TERMINATOR_UUID",
  "KONSOLE_DBUS_SERVICE",
  "KONSOLE_DBUS_SESSION",
  "KONSOLE_DBUS_WINDOW",
  "GNOME_TERMINAL_SCREEN",
  "SWAYSOCK",
  "I3SOCK",
  "HYPRLAND_INSTANCE_SIGNATURE",
  "NIRI_SOCKET",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XDG_SESSION_TYPE",
  "XDG_CURRENT_DESKTOP",
  "WSL_DISTRO_NAME",
  "SSH_CONNECTION",
  "SSH_TTY",
] as const;

export type TerminalVariable = (typeof terminalVariables)[number];

/** Copies those variables that are set, and `more`. A value longer than any real one is left out. */
export function pickTerminalVariables(
  env: Readonly<Record<string, string | undefined>>,
  more: readonly string[] = [],
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const names of [terminalVariables, more]) {
    for (const name of names) {
      const value = env[name];
      if (value && value.length <= limits.maxEnvLength) picked[name] = value;
    }
  }
  return picked;
}
