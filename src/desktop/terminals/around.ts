/** Which of a process's parents is the terminal it is shown in? */
import type { Process } from "./plan.ts";
import { named, type PaneLocation, type Wanted } from "./row.ts";

/** They open a terminal of their own inside the one they run in, and show nothing themselves. */
const isRelay = named(
  "sudo",
  "su",
  "doas",
  "runuser",
  "script",
  "expect",
  "unbuffer",
  "asciinema",
  "rlwrap",
  "dtach",
  "abduco",
);

/** They start terminals, and have windows that are none: panels, the desktop's icons. */
const isLauncher = named(
  "explorer",
  "gnome-shell",
  "plasmashell",
  "kwin_x11",
  "kwin_wayland",
  "xfce4-panel",
  "xfce4-session",
  "xfdesktop",
  "lxqt-panel",
  "lxpanel",
  "mate-panel",
  "cinnamon",
  "budgie-panel",
  "polybar",
  "waybar",
  "rofi",
  "systemd",
  "launchd",
);

/**
 * The terminal has another controlling terminal than what runs in it, or none. So the nearest such parent is it, and
 * what *that* was started from does not count: kitty started from VS Code is not VS Code.
 */
export function terminalOf({ lineage, tty }: Pick<PaneLocation, "lineage" | "tty">): readonly Process[] {
  let inner = tty;
  for (const [at, process] of lineage.entries()) {
    if (inner !== null && process.tty === inner) continue;
    if (isLauncher(process)) return [];
    if (isRelay(process)) inner = process.tty;
    else return withOwnParents(lineage.slice(at));
  }
  return [];
}

/** Its window may belong to a parent: one of no terminal at all, or of the same program as the process before it. */
function withOwnParents(line: readonly Process[]): readonly Process[] {
  const end = line.findIndex((parent, at) => {
    const child = line[at - 1];
    if (child === undefined) return false;
    const isSame = parent.program !== "" && parent.program === child.program;
    return isLauncher(parent) || (parent.tty !== null && !isSame);
  });
  return end < 0 ? line : line.slice(0, end);
}

const application = /^\/.*?\.app(?=\/Contents\/)/;

export function wantedOf(spot: PaneLocation, { ids = [], ...more }: Partial<Wanted> = {}): Wanted {
  const terminal = terminalOf(spot);
  const app = terminal.flatMap(({ program }) => application.exec(program)?.[0] ?? [])[0];
  return {
    pids: terminal.map(({ pid }) => pid),
    ids: app === undefined ? ids : [app, ...ids],
    titles: spot.title === null ? [] : [spot.title],
    cwd: spot.cwd,
    ...more,
  };
}
