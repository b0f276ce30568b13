/** Which terminal is a process shown in, and which window systems run here? Recognition is described in core/terminals.ts. */
import {
  readVariable,
  recogniseTerminal,
  type TerminalDescription,
  type TerminalId,
  terminals,
  type WindowSystemDescription,
  type WindowSystemId,
  windowSystems,
} from "../../core/terminals.ts";
import type { ProcessInfo } from "./plan.ts";
import type { PaneLocation, TerminalContext, WindowQuery } from "./recipe.ts";

/** Matches by the name of the process or of the file it runs. */
function matchProcess(names: readonly string[]): (process: ProcessInfo) => boolean {
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

export const isSshClient = matchProcess(["ssh"]);

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

const matchers: readonly (readonly [TerminalDescription, (process: ProcessInfo) => boolean])[] =
  terminals.map((terminal) => [terminal, matchProcess(terminal.processes)]);

const terminalOfProcess = (process: ProcessInfo): TerminalDescription | null =>
  matchers.find(([, matches]) => matches(process))?.[0] ?? null;

export const isTerminal = (process: ProcessInfo): boolean => terminalOfProcess(process) !== null;

export const isProcessOf =
  (id: TerminalId) =>
  (process: ProcessInfo): boolean =>
    matchers.some(([terminal, matches]) => terminal.id === id && matches(process));

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
  for (const [index, process] of lineage.entries()) {
    if (innerTty !== null && process.tty === innerTty) continue;
    if (isLauncher(process)) return [];
    if (isWrapper(process)) innerTty = process.tty;
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

/** By processes first: programs that are started from a terminal inherit its variables. */
export function detectTerminal(location: PaneLocation): TerminalDescription | null {
  const processes = findTerminalProcesses(location);
  for (const process of processes) {
    const terminal = terminalOfProcess(process);
    if (terminal) return terminal;
  }
  const [unknown] = processes;
  if (unknown && unknown.tty !== null) return null;
  const terminal = recogniseTerminal(location.env);
  // TERM is sent along with an SSH login: the terminal is on the other machine.
  const isRemote = readVariable(location.env, "SSH_CONNECTION") !== null && terminal?.kind !== "multiplexer";
  return isRemote ? (terminals.find(({ id }) => id === "ssh") ?? null) : terminal;
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

export type WindowSystem = WindowSystemDescription & { readonly id: WindowSystemId };

/** In the order in which they are to be tried. */
export function detectWindowSystems({ platform, env }: TerminalContext): readonly WindowSystem[] {
  const all: readonly WindowSystem[] = windowSystems;
  return all.filter(
    ({ platforms, variables = {} }) =>
      platforms.includes(platform) &&
      Object.entries(variables).every(([name, shape]) => shape.test(env[name] ?? "")),
  );
}
