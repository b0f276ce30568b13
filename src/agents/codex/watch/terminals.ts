/**
 * Finds the terminal that shows a session of the shared server. The server runs the sessions of all terminals and knows none of
 * them: the only bridge is the title, `<thread name> | <project>` (measured). tmux says what the title of a pane is, and the
 * desktop what the title of a window is; a tab that is not shown has none.
 */
import { basename } from "node:path";
import type { Exec, ListWindows } from "../../../core/interfaces/index.ts";
import type { Place } from "../../../core/session/event.ts";
import type { DesktopWindow } from "../../../core/terminals/plan.ts";
import { pickTerminalVariables } from "../../../core/terminals/sent-variables.ts";
import { commonVariables, readVariable } from "../../../core/terminals/variables.ts";
import {
  listAncestors,
  listPids,
  readCommandLine,
  readEnvironment,
  readStat,
} from "../../../system/processes.ts";
import { findRepository } from "../../../system/repository.ts";
import { isOwnSocket as isOwnSocketFile } from "../../watch/own-socket.ts";

/** A terminal that runs `codex`. */
export interface CodexTerminal {
  readonly pid: number;
  readonly procStart: string | null;
  readonly tty: string;
  readonly env: Readonly<Record<string, string>>;
  /** The pids of its parents. */
  readonly ancestors: readonly number[];
  /** Whether it shows a session of the shared server, not one of its own (`--no-daemon`). */
  readonly isShared: boolean;
}

export type FoundTerminal =
  | { readonly kind: "found"; readonly place: Place }
  | { readonly kind: "none"; readonly why: string };

export interface TerminalSearch {
  readonly exec: Exec;
  readonly listWindows: ListWindows;
  readonly listTerminals?: () => readonly CodexTerminal[];
  /** A tmux server can make its clients run commands, so only the user's own is asked. */
  readonly isOwnSocket?: (path: string) => boolean;
}

const titleTimeoutMs = 1_000;
const separator = "\t";

/** What a thread's title is made of. */
export interface TitledThread {
  readonly name: string | null;
  readonly cwd: string | null;
}

export async function findTerminal(
  thread: TitledThread,
  { exec, listWindows, listTerminals = listCodexTerminals, isOwnSocket = isOwnSocketFile }: TerminalSearch,
): Promise<FoundTerminal> {
  const none = (why: string): FoundTerminal => ({ kind: "none", why });
  const ownTitles = listTitles(thread);
  if (ownTitles.length === 0) return none("it has no title yet to find its terminal by");
  const terminals = listTerminals();
  if (!terminals.some(({ isShared }) => isShared))
    return none("no terminal on this machine shows a session of that server");
  const titles = await Promise.all(terminals.map((terminal) => readPaneTitle(terminal, exec, isOwnSocket)));
  const inPanes = terminals.filter(({ isShared }, n) => isShared && isTitle(titles[n] ?? "", ownTitles));
  const outside = terminals.filter((_, n) => titles[n] === null);
  const windows = outside.length === 0 ? [] : await listWindows();
  const inWindows = windows
    .filter(({ title }) => isTitle(title, ownTitles))
    .flatMap((window) => placeInWindow(window, outside));
  const [place, ...others] = [...inPanes.map(placeOf), ...inWindows];
  if (!place)
    return none("neither a tmux pane nor a window has its title: it may be in a tab that is not shown");
  if (others.length > 0) return none("several terminals have its title");
  if (place.pid === null && readVariable(place.env, commonVariables, "WINDOWID") === null)
    return none("several terminals of the same program run codex");
  return { kind: "found", place };
}

const placeOf = ({ pid, procStart, tty, env }: CodexTerminal): Place => ({
  local: true,
  pid,
  procStart,
  tty,
  terminalSessionId: env.TMUX_PANE ?? null,
  env: pickTerminalVariables(env),
});

/** Empty if no session of the server is in that window. Of several, nothing tells which one: only the window is known then. */
function placeInWindow({ id, pid }: DesktopWindow, terminals: readonly CodexTerminal[]): readonly Place[] {
  const inside = terminals.filter(({ ancestors }) => pid !== null && ancestors.includes(pid));
  if (!inside.some(({ isShared }) => isShared)) return [];
  const [only, ...others] = inside;
  if (only && others.length === 0) return [placeOf(only)];
  return [
    { local: true, pid: null, procStart: null, tty: null, terminalSessionId: null, env: { WINDOWID: id } },
  ];
}

/** Codex cuts the parts of the title to these lengths, in characters that the user sees, and ends them with three dots. */
const maxNameLength = 48;
const maxFolderLength = 24;

/** The titles that the thread's terminal can have: Codex names the project's folder, or the current one. Empty without a name. */
export function listTitles({ name, cwd }: TitledThread): readonly string[] {
  if (name === null || cwd === null) return [];
  const folders = new Set(
    [cwd, findRepository(cwd) ?? cwd].map((path) => cutPart(basename(path), maxFolderLength)),
  );
  return [...folders].map((folder) => `${cutPart(name, maxNameLength)} | ${folder}`);
}

function cutPart(text: string, max: number): string {
  const characters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  return characters.length <= max ? text : `${characters.slice(0, max - 3).join("")}...`;
}

/** Before the title stands a spinner while it works, and `[ . ] Action Required | ` while it waits. */
export const isTitle = (title: string, ownTitles: readonly string[]): boolean =>
  ownTitles.some(
    (own) =>
      title.endsWith(own) &&
      /^(?:\[ \S \] Action Required \| )?(?:[\u2800-\u28ff] )?$/.test(title.slice(0, -own.length)),
  );

/** null if the terminal is not a pane of tmux. It may have been started from one, and then has inherited its variables. */
async function readPaneTitle(
  { env, tty: ownTty }: CodexTerminal,
  exec: Exec,
  isOwnSocket: (path: string) => boolean,
): Promise<string | null> {
  const { TMUX: server, TMUX_PANE: pane } = env;
  const socket = server?.split(",")[0];
  if (!socket || !pane || !isOwnSocket(socket)) return null;
  const format = ["#{pane_tty}", "#{pane_title}"].join(separator);
  const command = ["tmux", "-u", "-S", socket, "display-message", "-p", "-t", pane, format];
  const { code, stdout } = await exec(command, { timeoutMs: titleTimeoutMs });
  const [tty = "", title = ""] = stdout.replace(/\n$/, "").split(separator);
  return code === 0 && tty === ownTty ? title : null;
}

const withoutScreen = /^(?:app-server|exec)$/;

/** The processes of `codex` that show a session in a terminal. Empty on other systems than Linux. */
function listCodexTerminals(): readonly CodexTerminal[] {
  if (process.platform !== "linux") return [];
  return listPids().flatMap((pid) => {
    const { name, tty, start } = readStat(pid) ?? { tty: null };
    if (name !== "codex" || tty === null) return [];
    const args = readCommandLine(pid);
    if (args.some((arg) => withoutScreen.test(arg))) return [];
    const env = readEnvironment(pid);
    // It has ended, or belongs to another user.
    if (env === null) return [];
    const ancestors = listAncestors(pid);
    return [{ pid, procStart: start, tty, env, ancestors, isShared: !args.includes("--no-daemon") }];
  });
}
