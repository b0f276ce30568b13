/** A process and its parents: which of them is the terminal, and what is known about its window. */
import { findConsoleOwner, type Plan, type ProcessInfo, readEnvironment, readLineage } from "./plan.ts";
import type { PaneLocation, WindowQuery } from "./terminal.ts";

/** Matches by the name of the process or of the file it runs. */
export function matchProcess(names: readonly string[]): (process: ProcessInfo) => boolean {
  const known = new Set(names.map((name) => name.toLowerCase()));
  // Linux cuts a name after 15 characters.
  const cut = new Set([...known].map((name) => name.slice(0, 15)));
  return ({ name, program }) => {
    const file = program
      .slice(Math.max(program.lastIndexOf("/"), program.lastIndexOf("\\")) + 1)
      .toLowerCase();
    return cut.has(name.toLowerCase()) || known.has(file) || known.has(file.replace(/\.exe$/, ""));
  };
}

/** They open a terminal of their own inside the one they run in, and show nothing themselves. */
const isWrapper = matchProcess([
  ...["sudo", "su", "doas", "runuser", "script", "expect", "unbuffer", "asciinema", "rlwrap", "dtach"],
  "abduco",
]);

/** They start terminals, and have windows that are not terminals: panels, the desktop's icons. */
const isLauncher = matchProcess([
  ...["explorer", "gnome-shell", "plasmashell", "kwin_x11", "kwin_wayland", "xfce4-panel", "xfce4-session"],
  ...["xfdesktop", "lxqt-panel", "lxpanel", "mate-panel", "cinnamon", "budgie-panel", "polybar", "waybar"],
  ...["rofi", "systemd", "launchd"],
]);

/** Windows hands the console of a shell that Explorer started to the default terminal, which is not among its parents then. */
export function* addConsoleOwner(lineage: readonly ProcessInfo[]): Plan<readonly ProcessInfo[]> {
  const [agent] = lineage;
  if (agent === undefined) return lineage;
  const owner = yield* findConsoleOwner(agent.pid);
  if (owner === null || lineage.some(({ pid }) => pid === owner.pid)) return lineage;
  const end = lineage.findIndex((parent) => isLauncher(parent));
  return [...(end < 0 ? lineage : lineage.slice(0, end)), owner];
}

/**
 * The process of the terminal, and those of its parents that its window may belong to. A terminal has another controlling
 * terminal than what runs in it, or none, so it is the nearest such parent. What *that* was started from does not count:
 * kitty started from VS Code is not VS Code.
 */
export function findTerminalProcesses({
  lineage,
  tty,
}: Pick<PaneLocation, "lineage" | "tty">): readonly ProcessInfo[] {
  let innerTty = tty;
  for (const [index, parent] of lineage.entries()) {
    if (innerTty !== null && parent.tty === innerTty) continue;
    if (isLauncher(parent)) return [];
    if (isWrapper(parent)) innerTty = parent.tty;
    else return withWindowOwners(lineage.slice(index));
  }
  return [];
}

/** A terminal's window may belong to a parent that has no terminal at all, or that runs the same program. */
function withWindowOwners(processes: readonly ProcessInfo[]): readonly ProcessInfo[] {
  const end = processes.findIndex((parent, index) => {
    const child = processes[index - 1];
    if (child === undefined) return false;
    const isSameProgram = parent.program !== "" && parent.program === child.program;
    return isLauncher(parent) || (parent.tty !== null && !isSameProgram);
  });
  return end < 0 ? processes : processes.slice(0, end);
}

/** The bundle inside the program's path, on macOS. */
const application = /^\/.*?\.app(?=\/Contents\/)/;

export function queryWindow(
  location: PaneLocation,
  { ids = [], ...more }: Partial<WindowQuery> = {},
): WindowQuery {
  const processes = findTerminalProcesses(location);
  const app = processes.flatMap(({ program }) => application.exec(program)?.[0] ?? [])[0];
  return {
    pids: processes.map(({ pid }) => pid),
    ids: app === undefined ? ids : [app, ...ids],
    titles: location.title === null ? [] : [location.title],
    cwd: location.cwd,
    ...more,
  };
}

/** Where the client of a multiplexer shows a pane. Without the client itself, which is a process of the multiplexer too. */
export function* locateClient(
  { pid, tty }: Pick<ProcessInfo, "pid" | "tty">,
  { title, cwd }: PaneLocation,
): Plan<PaneLocation> {
  const lineage = yield* readLineage(pid);
  const env = (yield* readEnvironment(pid)) ?? {};
  return { lineage: lineage.slice(1), tty, env, title, cwd };
}
