/** What a variable of a stranger must look like before it may go into an argv. */
import type { Env } from "./plan.ts";

const number = /^\d{1,19}$/;
const uuid = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** Of a socket: nothing a shell, an option or a step upwards could be made of. */
const path = "(?:/(?!\\.\\.?(?:/|$))[\\p{L}\\p{N}_.@+][\\p{L}\\p{N}_.@+ -]{0,99}){1,20}";

const shapes = {
  /** socket,pid,session */
  TMUX: new RegExp(`^${path},\\d{1,10},\\d{1,10}$`, "u"),
  TMUX_PANE: /^%\d{1,9}$/,
  /** pid.tty.host or pid.name */
  STY: /^\d{1,10}\.[\w.@+-]{1,100}$/,
  WINDOW: /^\d{1,5}$/,
  ZELLIJ_SESSION_NAME: /^[\p{L}\p{N}_.][\p{L}\p{N}_. -]{0,99}$/u,
  ZELLIJ_PANE_ID: /^\d{1,9}$/,
  WINDOWID: /^\d{1,10}$/,
  ALACRITTY_WINDOW_ID: number,
  KITTY_WINDOW_ID: /^\d{1,9}$/,
  /** On this machine only; `@` is a socket without a file. */
  KITTY_LISTEN_ON: new RegExp(
    `^(?:unix:(?:@[\\w.-]{1,100}|${path})|tcp:(?:127\\.0\\.0\\.1|localhost):\\d{1,5})$`,
    "u",
  ),
  WEZTERM_PANE: /^\d{1,9}$/,
  WEZTERM_UNIX_SOCKET: new RegExp(`^${path}$`, "u"),
  ITERM_SESSION_ID: /^w\d{1,5}t\d{1,5}p\d{1,5}:[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/,
  GHOSTTY_SURFACE_ID: /^[0-9A-Za-z-]{1,64}$/,
  WARP_FOCUS_URL: /^warp(?:oss|preview|dev|local)?:\/\/session\/[0-9a-f]{32}$/,
  WT_SESSION: uuid,
  KONSOLE_DBUS_SERVICE: /^(?::\d{1,5}\.\d{1,9}|org\.kde\.[a-z]+(?:-\d{1,10})?)$/,
  KONSOLE_DBUS_SESSION: /^\/Sessions\/\d{1,9}$/,
  KONSOLE_DBUS_WINDOW: /^\/Windows\/\d{1,9}$/,
  GNOME_TERMINAL_SCREEN: /^\/org\/gnome\/Terminal\/screen\/[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}$/,
  __CFBundleIdentifier: /^[A-Za-z0-9][A-Za-z0-9-]{0,60}(?:\.[A-Za-z0-9-]{1,60}){1,8}$/,
  SSH_CONNECTION: /^[0-9A-Fa-f.:%\w]{2,60} \d{1,5} [0-9A-Fa-f.:%\w]{2,60} \d{1,5}$/,
  WSL_DISTRO_NAME: /^[\w.+-]{1,64}$/,
  TERM_PROGRAM: /^[\w.+ -]{1,64}$/,
  TERMINAL_EMULATOR: /^[\w.+ -]{1,64}$/,
} as const;

export type Claim = keyof typeof shapes;
export const claims = Object.keys(shapes) as readonly Claim[];

/** null: not there, or it does not look like one. */
export function claimed(env: Env, name: Claim): string | null {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return typeof value === "string" && shapes[name].test(value) ? value : null;
}

/** A folder to hand to a program: absolute, and nothing that could be taken for an option. */
export function folder(path: string | null): string | null {
  if (path === null || path.length > 4_096 || /\p{C}/u.test(path)) return null;
  return path.startsWith("/") || /^[A-Za-z]:\\/.test(path) ? path : null;
}

const ttyShape = /^\/dev\/(?:pts\/\d{1,6}|tty[sS]?[0-9a-zA-Z]{1,8})$/;

export const isTty = (tty: string | null): tty is string => tty !== null && ttyShape.test(tty);
