/** Which of the terminals beckon knows are here, and how far a click gets in each: what `beckon doctor` lists. */
import { howTo } from "./kitty.ts";

export interface Known {
  /** As in the table. */
  readonly name: string;
  readonly reach: "pane" | "all" | "window";
  /** What to switch on for more. */
  readonly more: string | null;
}

interface Way extends Known {
  /** Programs by name, macOS' applications by path. */
  readonly found: readonly string[];
}

const pane = (name: string, ...found: string[]): Way => ({ name, found, reach: "pane", more: null });
/** One session a window: the window is all there is. */
const whole = (name: string, ...found: string[]): Way => ({ name, found, reach: "all", more: null });
const window = (name: string, ...found: string[]): Way => ({ name, found, reach: "window", more: null });
const app = (name: string): string => `/Applications/${name}.app`;

export interface InstalledPrograms {
  readonly platform: NodeJS.Platform;
  /** Is there such a program, or application? */
  readonly has: (program: string) => boolean;
  /** A session that beckon knows runs in it. */
  readonly usesKitty: boolean;
  /** The text of kitty.conf; null: there is none. */
  readonly kittyConf: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const ways = ({ platform, kittyConf, env, usesKitty }: InstalledPrograms): readonly Way[] => [
  pane("tmux", "tmux"),
  pane("screen", "screen"),
  pane("zellij", "zellij"),
  ...[
    takesOrders(kittyConf) || env.KITTY_LISTEN_ON
      ? pane("kitty")
      : // Who has it for nothing but its being there needs no lesson on it.
        { ...window("kitty"), more: env.KITTY_WINDOW_ID || usesKitty ? howTo : null },
  ].map((kitty) => ({ ...kitty, found: ["kitty", app("kitty")] })),
  pane("WezTerm", "wezterm", app("WezTerm")),
  (platform === "darwin" ? pane : window)("Ghostty", "ghostty", app("Ghostty")),
  pane("Konsole", "konsole"),
  pane("iTerm2", app("iTerm")),
  pane("Terminal", "/System/Applications/Utilities/Terminal.app"),
  whole("xterm", "xterm"),
  whole("Alacritty", "alacritty", app("Alacritty")),
  whole("foot", "foot"),
  whole("urxvt", "urxvt"),
  whole("st", "st"),
  whole("mlterm", "mlterm"),
  window("Warp", "warp-terminal", app("Warp")),
  window("GNOME Terminal", "gnome-terminal"),
  window("Windows Terminal", "wt.exe"),
  window("VS Code", "code", "codium", "cursor", "windsurf", app("Visual Studio Code"), app("Cursor")),
  window("JetBrains", "idea", "pycharm", "webstorm", "goland", "clion", "rider", "phpstorm", "rustrover"),
  window("Zed", "zed", "zeditor", app("Zed")),
  window("Xfce Terminal", "xfce4-terminal"),
  window("MATE Terminal", "mate-terminal"),
  window("LXTerminal", "lxterminal"),
  window("QTerminal", "qterminal"),
  window("Terminator", "terminator"),
  window("Tilix", "tilix"),
  window("Ptyxis", "ptyxis"),
  window("GNOME Console", "kgx"),
  window("Rio", "rio"),
  window("Tabby", "tabby"),
  window("Hyper", "hyper"),
];

/** Its remote control, as kitty.conf has it; the last word counts. */
function takesOrders(conf: string | null): boolean {
  const last = (name: string) =>
    [...(conf ?? "").matchAll(new RegExp(`^\\s*${name}\\s+(\\S+)`, "gm"))].at(-1)?.[1];
  const allowed = last("allow_remote_control") ?? "no";
  return !/^(no|n|false|password)$/.test(allowed) && (last("listen_on") ?? "none") !== "none";
}

export function terminalsHere(machine: InstalledPrograms): readonly Known[] {
  return ways(machine)
    .filter(({ found }) => found.some(machine.has))
    .map(({ name, reach, more }) => ({ name, reach, more }));
}
