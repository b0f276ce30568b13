/**
 * `_meta`: what the forwarder sees around an event. No program is run for it, and no secret goes into it.
 * Plain loops instead of map, find or a regular expression: the first use of each takes up to 0.1 ms.
 */
import { version } from "../../package.json";
import type { Forwarding } from "../agents/agent.ts";
import { limits } from "../core/limits.ts";
import { pickTerminalVariables } from "../core/terminal-variables.ts";
import type { Env } from "../system/folders.ts";
import { currentFolder } from "../system/folders.ts";

/** The agent whose hook this is. */
export interface Sender {
  readonly id: string;
  /** null if the table has no such agent. */
  readonly forwarding: Forwarding | null;
}

/** What the system tells; null: it does not. */
export interface Surroundings {
  readonly boot: string | null;
  /** Microseconds since boot, sleep included. */
  readonly seq: number | null;
  /** Equal for processes that see each other's pids. */
  readonly host: string | null;
  readonly pid: number | null;
  readonly procStart: string | null;
  readonly tty: string | null;
}

const terminalSessions = [
  "TERM_SESSION_ID",
  "ITERM_SESSION_ID",
  "WEZTERM_PANE",
  "KITTY_WINDOW_ID",
  "WT_SESSION",
  "TMUX_PANE",
  "ZELLIJ_PANE_ID",
  "GNOME_TERMINAL_SCREEN",
  "KONSOLE_DBUS_SESSION",
  "ALACRITTY_WINDOW_ID",
];

/** All of it that can be told without asking the system. */
export function describe(forwarding: Forwarding | null, env: Env) {
  const at = Date.now();
  const variables = pickTerminalVariables(env, forwarding?.metaVariables);
  return {
    id: crypto.randomUUID(),
    at,
    collected_at: new Date(at).toISOString(),
    forwarder_version: version,
    workspace_id: workspace(forwarding, env),
    terminal_session_id: firstOf(terminalSessions, variables),
    attended: forwarding?.isAttended(env) ?? null,
    env: variables,
  };
}

function firstOf(names: readonly string[], values: Readonly<Record<string, string>>): string | null {
  for (const name of names) {
    const value = values[name];
    if (value) return value;
  }
  return null;
}

function workspace(forwarding: Forwarding | null, env: Env): string | null {
  const folder = env[forwarding?.projectVariable ?? ""] || currentFolder();
  if (folder === null) return null;
  const isSeparator = (at: number) =>
    folder[at] === "/" || (process.platform === "win32" && folder[at] === "\\");
  let end = folder.length;
  while (end > 0 && isSeparator(end - 1)) end--;
  let start = end;
  while (start > 0 && !isSeparator(start - 1)) start--;
  return folder.slice(start, end).slice(0, limits.maxIdLength) || null;
}

/** On macOS and Windows the app asks the system for tty and start time, later: here it would take a program. */
export async function readSurroundings({ id, forwarding }: Sender, env: Env): Promise<Surroundings> {
  const number = Number(env[forwarding?.pidVariable ?? ""]);
  const named = Number.isInteger(number) && number > 1 ? number : null;
  if (process.platform !== "linux") {
    const { hostname } = await import("node:os");
    return { boot: null, seq: null, host: hostname() || null, pid: named, procStart: null, tty: null };
  }
  // All started before the first is waited for.
  const readingBoot = read("/proc/sys/kernel/random/boot_id");
  const readingUptime = read("/proc/uptime");
  // The namespace's number is the link's inode; reading the link itself would need node:fs.
  const findingSpace = Bun.file("/proc/self/ns/pid").stat().catch(nothing);
  const finding = named === null ? findAgentProcess(id) : readStat(named);
  const boot = (await readingBoot)?.trim() || null;
  const space = (await findingSpace)?.ino ?? null;
  const found = await finding;
  return {
    boot,
    seq: microseconds(await readingUptime),
    host: boot === null || space === null ? null : `${boot}/pid:[${space}]`,
    pid: named ?? found?.pid ?? null,
    procStart: found?.start ?? null,
    tty: found ? ttyName(found.tty) : null,
  };
}

/** In steps of 10 ms. Bun's process.hrtime and performance.now count from the start of their own process. */
function microseconds(uptime: string | null): number | null {
  const seconds = Number.parseFloat(uptime ?? "");
  return Number.isFinite(seconds) ? Math.round(seconds * 1e6) : null;
}

const nothing = () => null;
const read = (path: string): Promise<string | null> => Bun.file(path).text().catch(nothing);

/** null: it is not there, or no file to be read: opening a pipe would wait for a writer. */
export async function readSmall(path: string): Promise<string | null> {
  const file = Bun.file(path);
  const found = await file.stat().catch(nothing);
  return found?.isFile() && found.size <= limits.maxSmallFileBytes ? file.text().catch(nothing) : null;
}

interface Stat {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly tty: number;
  readonly start: string;
}

export async function readStat(pid: number): Promise<Stat | null> {
  const text = await read(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name may hold spaces and parentheses: fields are counted from the last one.
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const start = fields[19];
  if (end < 0 || start === undefined) return null;
  const name = text.slice(text.indexOf("(") + 1, end);
  return { pid, name, parent: Number(fields[1]), tty: Number(fields[4]), start };
}

/** What an agent's process is called, beside its own name. Newer versions of Node call theirs MainThread. */
const runtimes: ReadonlySet<string> = new Set(["node", "MainThread", "bun", "deno", "python", "python3"]);
const maxParents = 6;

/** The agent is the parent, or the parent of the shell it runs hooks with. A wrapper like `timeout` is not it. */
export async function findAgentProcess(id: string): Promise<Stat | null> {
  let pid = process.ppid;
  for (let step = 0; step < maxParents && pid > 1; step++) {
    const stat = await readStat(pid);
    if (stat === null) return null;
    if (stat.name === id || runtimes.has(stat.name)) return stat;
    pid = stat.parent;
  }
  return null;
}

/** tty_nr of /proc/PID/stat: the device's minor number is in bits 31–20 and 7–0, its major in bits 15–8. */
export function ttyName(number: number): string | null {
  const major = (number >> 8) & 0xfff;
  const minor = (number & 0xff) | ((number >>> 12) & 0xfff00);
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`;
  if (major === 4) return minor < 64 ? `/dev/tty${minor}` : `/dev/ttyS${minor - 64}`;
  return null;
}
