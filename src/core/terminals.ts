/**
 * Every terminal, multiplexer and window system that beckon knows: its name, how it is recognised, how far focus gets in
 * it and what that needs. Detection, the name in lists, doctor and the README's table are derived from these rows.
 * The focus recipe of each row is in desktop/terminals, under the row's id.
 */
import type { TerminalVariable } from "./terminal-variables.ts";

/** How far focus gets: to the pane, the tab, the window of one session, or the window without the tab in it. */
export type Reach = "pane" | "tab" | "single" | "window";

export interface TerminalDescription {
  readonly id: string;
  /** The name that users see. */
  readonly name: string;
  readonly kind: "multiplexer" | "login" | "terminal" | "editor";
  /** Names of its processes, or of the files that they run. */
  readonly processes: readonly string[];
  /** The value of TERM that only this terminal sets. */
  readonly term?: string;
  readonly termProgram?: string;
  readonly terminalEmulator?: string;
  /** Set by this terminal alone. Programs that are started from it inherit it, so TERM and TERM_PROGRAM count first. */
  readonly ownVariables?: readonly TerminalVariable[];
  /** The variables that its recipe reads, and the shape of each. */
  readonly variables?: Partial<Readonly<Record<TerminalVariable, RegExp>>>;
  /** Names the pane for users: "tmux %3". */
  readonly paneLabel?: { readonly variable: TerminalVariable; readonly prefix: string };
  /** Another program of the same family, which sets this variable as well. */
  readonly variant?: { readonly variable: TerminalVariable; readonly name: string };
  readonly bundleId?: string;
  /** For a family of programs: what __CFBundleIdentifier may be. */
  readonly bundleIds?: RegExp;
  /** Commands in the PATH, and applications on macOS, that show that it is installed. */
  readonly commands?: readonly string[];
  readonly macApps?: readonly string[];
  readonly reach: Reach;
  readonly reachOnMac?: Reach;
  /** What focus needs to get that far. */
  readonly needs?: string;
  /** A sentence about it for the README. */
  readonly remark?: string;
  /** Whether beckon's tests run it. If not, its recipe follows the program's documentation. */
  readonly isTested: boolean;
}

const digits = (most: number): RegExp => new RegExp(`^\\d{1,${most}}$`);
const uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
/** The path of a socket or folder, without anything that a shell, an option or `..` could be made of. */
const path = "(?:/(?!\\.\\.?(?:/|$))[\\p{L}\\p{N}_.@+][\\p{L}\\p{N}_.@+ -]{0,99}){1,20}";
const wholePath = new RegExp(`^${path}$`, "u");
const inApplications = (name: string): string => `/Applications/${name}.app`;

/** A terminal with tabs that cannot be selected from outside. */
const tabbed = { kind: "terminal", reach: "window", isTested: false } as const;
/** A terminal that shows one session in each window. */
const single = { kind: "terminal", reach: "single" } as const;

export const terminals = [
  {
    id: "tmux",
    name: "tmux",
    kind: "multiplexer",
    processes: ["tmux", "tmux: server"],
    ownVariables: ["TMUX_PANE"],
    // TMUX is socket,pid,session.
    variables: { TMUX: new RegExp(`^${path},\\d{1,10},\\d{1,10}$`, "u"), TMUX_PANE: /^%\d{1,9}$/ },
    paneLabel: { variable: "TMUX_PANE", prefix: "tmux " },
    commands: ["tmux"],
    reach: "pane",
    remark: "If no terminal shows it, beckon says how to attach one",
    isTested: true,
  },
  {
    id: "zellij",
    name: "zellij",
    kind: "multiplexer",
    processes: ["zellij"],
    ownVariables: ["ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME", "ZELLIJ"],
    variables: {
      ZELLIJ: digits(9),
      ZELLIJ_SESSION_NAME: /^[\p{L}\p{N}_.][\p{L}\p{N}_. -]{0,99}$/u,
      ZELLIJ_PANE_ID: digits(9),
    },
    paneLabel: { variable: "ZELLIJ_PANE_ID", prefix: "zellij pane " },
    commands: ["zellij"],
    reach: "pane",
    needs: "zellij 0.44 or newer",
    isTested: false,
  },
  {
    id: "screen",
    name: "screen",
    kind: "multiplexer",
    processes: ["screen"],
    ownVariables: ["STY"],
    // STY is pid.tty.host or pid.name.
    variables: { STY: /^\d{1,10}\.[\w.@+-]{1,100}$/, WINDOW: digits(5) },
    commands: ["screen"],
    reach: "pane",
    isTested: true,
  },
  {
    id: "ssh",
    name: "ssh",
    kind: "login",
    processes: ["sshd", "sshd-session", "mosh-server"],
    variables: { SSH_CONNECTION: /^[0-9A-Fa-f.:%\w]{2,60} \d{1,5} [0-9A-Fa-f.:%\w]{2,60} \d{1,5}$/ },
    reach: "window",
    remark: "the window on this machine that runs `ssh`, if it can be found",
    isTested: false,
  },
  {
    id: "kitty",
    name: "kitty",
    kind: "terminal",
    processes: ["kitty"],
    term: "xterm-kitty",
    termProgram: "kitty",
    ownVariables: ["KITTY_WINDOW_ID"],
    variables: {
      KITTY_WINDOW_ID: digits(9),
      // On this machine only. `@` is a socket without a file.
      KITTY_LISTEN_ON: new RegExp(
        `^(?:unix:(?:@[\\w.-]{1,100}|${path})|tcp:(?:127\\.0\\.0\\.1|localhost):\\d{1,5})$`,
        "u",
      ),
    },
    bundleId: "net.kovidgoyal.kitty",
    commands: ["kitty"],
    macApps: [inApplications("kitty")],
    reach: "pane",
    needs: "remote control turned on in kitty.conf",
    remark: "Without it, the window",
    isTested: true,
  },
  {
    id: "wezterm",
    name: "WezTerm",
    kind: "terminal",
    processes: ["wezterm-gui", "wezterm", "wezterm-mux-server"],
    termProgram: "WezTerm",
    ownVariables: ["WEZTERM_PANE"],
    variables: { WEZTERM_PANE: digits(9), WEZTERM_UNIX_SOCKET: wholePath },
    bundleId: "com.github.wez.wezterm",
    commands: ["wezterm"],
    macApps: [inApplications("WezTerm")],
    reach: "pane",
    isTested: false,
  },
  {
    id: "ghostty",
    name: "Ghostty",
    kind: "terminal",
    processes: ["ghostty"],
    term: "xterm-ghostty",
    termProgram: "ghostty",
    ownVariables: ["GHOSTTY_RESOURCES_DIR"],
    variables: { GHOSTTY_RESOURCES_DIR: wholePath },
    bundleId: "com.mitchellh.ghostty",
    commands: ["ghostty"],
    macApps: [inApplications("Ghostty")],
    reach: "window",
    reachOnMac: "pane",
    isTested: false,
  },
  {
    id: "konsole",
    name: "Konsole",
    kind: "terminal",
    processes: ["konsole", "yakuake", "dolphin", "kate"],
    ownVariables: ["KONSOLE_DBUS_SESSION"],
    variables: {
      KONSOLE_DBUS_SERVICE: /^(?::\d{1,5}\.\d{1,9}|org\.kde\.[a-z]+(?:-\d{1,10})?)$/,
      KONSOLE_DBUS_SESSION: /^\/Sessions\/\d{1,9}$/,
      KONSOLE_DBUS_WINDOW: /^\/Windows\/\d{1,9}$/,
    },
    commands: ["konsole"],
    reach: "tab",
    isTested: true,
  },
  {
    id: "gnome-terminal",
    name: "GNOME Terminal",
    kind: "terminal",
    processes: ["gnome-terminal-server"],
    ownVariables: ["GNOME_TERMINAL_SCREEN"],
    variables: {
      GNOME_TERMINAL_SCREEN: /^\/org\/gnome\/Terminal\/screen\/[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}$/,
    },
    commands: ["gnome-terminal"],
    reach: "window",
    remark: "The tab too, if it was built with its search provider",
    isTested: true,
  },
  {
    id: "warp",
    name: "Warp",
    kind: "terminal",
    processes: ["warp", "warp-terminal", "stable", "warp-terminal-preview", "warp-oss"],
    termProgram: "WarpTerminal",
    variables: { WARP_FOCUS_URL: /^warp(?:oss|preview|dev|local)?:\/\/session\/[0-9a-f]{32}$/ },
    bundleId: "dev.warp.Warp-Stable",
    commands: ["warp-terminal"],
    macApps: [inApplications("Warp")],
    reach: "tab",
    needs: "Warp of May 2026 or newer",
    isTested: false,
  },
  {
    id: "iterm2",
    name: "iTerm2",
    kind: "terminal",
    processes: ["iTerm2"],
    termProgram: "iTerm.app",
    ownVariables: ["ITERM_SESSION_ID"],
    variables: {
      ITERM_SESSION_ID: /^w\d{1,5}t\d{1,5}p\d{1,5}:[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/,
    },
    bundleId: "com.googlecode.iterm2",
    macApps: [inApplications("iTerm")],
    reach: "pane",
    isTested: false,
  },
  {
    id: "terminal-app",
    name: "Terminal",
    kind: "terminal",
    processes: ["Terminal"],
    termProgram: "Apple_Terminal",
    bundleId: "com.apple.Terminal",
    macApps: ["/System/Applications/Utilities/Terminal.app"],
    reach: "tab",
    remark: "This is the Terminal of macOS",
    isTested: false,
  },
  {
    id: "windows-terminal",
    name: "Windows Terminal",
    ...tabbed,
    processes: ["WindowsTerminal", "WindowsTerminalPreview"],
    ownVariables: ["WT_SESSION"],
    variables: { WT_SESSION: new RegExp(`^${uuid}$`) },
    commands: ["wt.exe"],
  },
  {
    id: "vscode",
    name: "VS Code",
    ...tabbed,
    kind: "editor",
    processes: [
      ...["code", "code-insiders", "codium", "code-oss", "Code Helper", "Code Helper (Plugin)", "Electron"],
      ...["cursor", "Cursor Helper", "Cursor Helper (Plugin)"],
      ...["windsurf", "positron", "trae", "antigravity"],
    ],
    termProgram: "vscode",
    variables: { CURSOR_TRACE_ID: /^[\w-]{1,100}$/ },
    variant: { variable: "CURSOR_TRACE_ID", name: "Cursor" },
    bundleIds:
      /^(?:com\.microsoft\.VSCode(?:Insiders)?|com\.visualstudio\.code\.oss|com\.vscodium|com\.todesktop\.[0-9a-z]+|com\.exafunction\.windsurf)$/,
    commands: ["code", "codium", "cursor", "windsurf"],
    macApps: [inApplications("Visual Studio Code"), inApplications("Cursor")],
    remark: "Also Cursor, Windsurf and VSCodium",
  },
  {
    id: "jetbrains",
    name: "JetBrains",
    ...tabbed,
    kind: "editor",
    processes: [
      ...["idea", "pycharm", "webstorm", "goland", "clion", "rider", "phpstorm", "rubymine", "rustrover"],
      ...["datagrip", "studio"],
      ...["idea64", "pycharm64", "webstorm64", "goland64", "clion64", "rider64", "phpstorm64"],
      "rustrover64",
    ],
    terminalEmulator: "JetBrains-JediTerm",
    bundleIds: /^com\.(?:jetbrains\.[A-Za-z.-]+|google\.android\.studio)$/,
    commands: ["idea", "pycharm", "webstorm", "goland", "clion", "rider", "phpstorm", "rustrover"],
  },
  {
    id: "zed",
    name: "Zed",
    ...tabbed,
    kind: "editor",
    processes: ["zed", "zed-editor", "zeditor"],
    termProgram: "zed",
    bundleIds: /^dev\.zed\.Zed(?:-Preview)?$/,
    commands: ["zed", "zeditor"],
    macApps: [inApplications("Zed")],
  },
  { id: "xterm", name: "xterm", ...single, processes: ["xterm"], commands: ["xterm"], isTested: true },
  {
    id: "alacritty",
    name: "Alacritty",
    ...single,
    processes: ["alacritty"],
    term: "alacritty",
    ownVariables: ["ALACRITTY_WINDOW_ID"],
    variables: { ALACRITTY_WINDOW_ID: digits(19) },
    bundleId: "org.alacritty",
    commands: ["alacritty"],
    macApps: [inApplications("Alacritty")],
    isTested: true,
  },
  {
    id: "foot",
    name: "foot",
    ...single,
    processes: ["foot", "footclient"],
    term: "foot",
    commands: ["foot"],
    isTested: true,
  },
  {
    id: "urxvt",
    name: "urxvt",
    ...single,
    processes: ["urxvt", "rxvt", "urxvtd"],
    commands: ["urxvt"],
    isTested: false,
  },
  { id: "st", name: "st", ...single, processes: ["st"], commands: ["st"], isTested: false },
  { id: "mlterm", name: "mlterm", ...single, processes: ["mlterm"], commands: ["mlterm"], isTested: false },
  {
    id: "xfce-terminal",
    name: "Xfce Terminal",
    ...tabbed,
    processes: ["xfce4-terminal"],
    commands: ["xfce4-terminal"],
  },
  {
    id: "mate-terminal",
    name: "MATE Terminal",
    ...tabbed,
    processes: ["mate-terminal"],
    commands: ["mate-terminal"],
  },
  { id: "lxterminal", name: "LXTerminal", ...tabbed, processes: ["lxterminal"], commands: ["lxterminal"] },
  { id: "qterminal", name: "QTerminal", ...tabbed, processes: ["qterminal"], commands: ["qterminal"] },
  {
    id: "terminator",
    name: "Terminator",
    ...tabbed,
    processes: ["terminator"],
    ownVariables: ["TERMINATOR_UUID"],
    variables: { TERMINATOR_UUID: new RegExp(`^urn:uuid:${uuid}$`) },
    commands: ["terminator"],
  },
  {
    id: "tilix",
    name: "Tilix",
    ...tabbed,
    processes: ["tilix"],
    ownVariables: ["TILIX_ID"],
    variables: { TILIX_ID: new RegExp(`^${uuid}$`) },
    commands: ["tilix"],
  },
  { id: "ptyxis", name: "Ptyxis", ...tabbed, processes: ["ptyxis", "ptyxis-agent"], commands: ["ptyxis"] },
  { id: "gnome-console", name: "GNOME Console", ...tabbed, processes: ["kgx"], commands: ["kgx"] },
  {
    id: "rio",
    name: "Rio",
    ...tabbed,
    processes: ["rio"],
    termProgram: "rio",
    bundleId: "com.raphaelamorim.rio",
    commands: ["rio"],
  },
  {
    id: "tabby",
    name: "Tabby",
    ...tabbed,
    processes: ["tabby"],
    termProgram: "Tabby",
    bundleId: "org.tabby",
    commands: ["tabby"],
  },
  {
    id: "hyper",
    name: "Hyper",
    ...tabbed,
    processes: ["hyper"],
    termProgram: "Hyper",
    bundleId: "co.zeit.hyper",
    commands: ["hyper"],
  },
] as const satisfies readonly TerminalDescription[];

export type TerminalId = (typeof terminals)[number]["id"];

export function describeTerminal<Id extends TerminalId>(
  id: Id,
): Extract<(typeof terminals)[number], { readonly id: Id }> {
  return terminals.find((terminal) => terminal.id === id) as Extract<
    (typeof terminals)[number],
    { readonly id: Id }
  >;
}

export interface WindowSystemDescription {
  readonly id: string;
  readonly name: string;
  /** It runs on these platforms, if beckon's own environment has these variables. */
  readonly platforms: readonly NodeJS.Platform[];
  readonly variables?: Partial<Readonly<Record<TerminalVariable, RegExp>>>;
  readonly remark?: string;
  readonly isTested: boolean;
}

const isSet = /./;

/** In the order in which they are tried: several can be active, like KDE and the X11 server inside it. */
export const windowSystems = [
  { id: "sway", name: "sway", platforms: ["linux"], variables: { SWAYSOCK: isSet }, isTested: true },
  {
    id: "hyprland",
    name: "Hyprland",
    platforms: ["linux"],
    variables: { HYPRLAND_INSTANCE_SIGNATURE: isSet },
    isTested: false,
  },
  { id: "niri", name: "niri", platforms: ["linux"], variables: { NIRI_SOCKET: isSet }, isTested: false },
  {
    id: "kde",
    name: "KDE",
    platforms: ["linux"],
    variables: { WAYLAND_DISPLAY: isSet, XDG_CURRENT_DESKTOP: /\bKDE\b/i },
    remark: "Plasma on Wayland",
    isTested: true,
  },
  {
    id: "x11",
    name: "X11",
    platforms: ["linux", "darwin", "freebsd", "openbsd"],
    // A display of this machine: `:0`, `:0.0`, `unix:0`.
    variables: { DISPLAY: /^(?:unix)?:\d{1,5}(?:\.\d{1,3})?$/ },
    remark: "any window manager that follows EWMH",
    isTested: true,
  },
  {
    id: "gnome-wayland",
    name: "GNOME on Wayland",
    platforms: ["linux"],
    variables: { WAYLAND_DISPLAY: isSet, XDG_CURRENT_DESKTOP: /\bGNOME\b/i },
    remark: "not possible: GNOME does not allow it, and beckon says so",
    isTested: false,
  },
  { id: "macos", name: "macOS", platforms: ["darwin"], isTested: false },
  { id: "windows", name: "Windows", platforms: ["win32"], isTested: false },
] as const satisfies readonly WindowSystemDescription[];

export type WindowSystemId = (typeof windowSystems)[number]["id"];

/** Variables that do not belong to one terminal. */
const commonVariables = {
  WINDOWID: digits(10),
  __CFBundleIdentifier: /^[A-Za-z0-9][A-Za-z0-9-]{0,60}(?:\.[A-Za-z0-9-]{1,60}){1,8}$/,
  WSL_DISTRO_NAME: /^[\w.+-]{1,64}$/,
} satisfies TerminalDescription["variables"];

const rows: readonly TerminalDescription[] = terminals;
const shapes: Partial<Readonly<Record<TerminalVariable, RegExp>>> = Object.assign(
  {},
  commonVariables,
  ...rows.map(({ variables }) => variables),
);

/** The variables that have a shape, and so can be read. */
export const shapedVariables = Object.keys(shapes) as readonly TerminalVariable[];

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The value of a variable, which may go into a command. null if it is not set or does not have its shape: any program
 * can have set it, and events carry it.
 */
export function readVariable(env: Env, name: TerminalVariable): string | null {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value !== undefined && shapes[name]?.test(value) ? value : null;
}

const ttyShape = /^\/dev\/(?:pts\/\d{1,6}|tty[sS]?[0-9a-zA-Z]{1,8})$/;

/** Whether it is the path of a terminal, and may go into a command. */
export const isTtyPath = (tty: string | null): tty is string => tty !== null && ttyShape.test(tty);

/**
 * The terminal that the variables name; null if they name none, or one that beckon does not know. A program that is
 * started from a terminal inherits its variables: kitty started from VS Code has TERM_PROGRAM=vscode, but its own TERM.
 */
export function recogniseTerminal(env: Env): TerminalDescription | null {
  const { TERM, TERM_PROGRAM, TERMINAL_EMULATOR } = env;
  const setsOwn = ({ ownVariables = [] }: TerminalDescription) =>
    ownVariables.some((name) => readVariable(env, name) !== null);
  const multiplexer = rows.find((row) => row.kind === "multiplexer" && setsOwn(row));
  if (multiplexer) return multiplexer;
  const byTerm = rows.find(({ term }) => term !== undefined && term === TERM);
  if (byTerm) return byTerm;
  if (TERM_PROGRAM && TERM_PROGRAM !== "tmux") {
    return rows.find(({ termProgram }) => termProgram === TERM_PROGRAM) ?? null;
  }
  const byEmulator = rows.find(
    ({ terminalEmulator }) => terminalEmulator !== undefined && terminalEmulator === TERMINAL_EMULATOR,
  );
  return byEmulator ?? rows.find(setsOwn) ?? null;
}

/** A terminal that is installed on this machine. */
export interface InstalledTerminal {
  readonly name: string;
  readonly reach: Reach;
  /** How to let focus get further; null if it needs nothing. */
  readonly advice: string | null;
}
