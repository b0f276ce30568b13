/**
 * `_meta`: where and when an event happened. It takes no program to collect, and holds no secrets.
 * Plain loops instead of map, find or a regular expression: the first use of each takes up to 0.1 ms.
 */
import { version } from "../../package.json";
import type { Agent, Forwarding } from "../agents/agent.ts";
import { findCaller } from "../agents/callers.ts";
import { findAgent } from "../agents/index.ts";
import type { JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { findTerminalSession, pickTerminalVariables } from "../core/terminals/sent-variables.ts";
import type { Paths } from "../storage/paths.ts";
import type { Env } from "../system/folders.ts";
import { currentFolder } from "../system/folders.ts";
import { nameInstallation } from "../system/installation.ts";
import { agentPidVariable, isAgentProcess, type ProcessStat, parseStat } from "../system/process-stat.ts";
import { readTokenLine } from "./own-file.ts";

/** The agent whose hook this is. */
export interface Sender {
  readonly id: string;
  /** null if the table has no such agent. */
  readonly forwarding: Forwarding | null;
}

/** Some agents run the hooks of other agents too. null if it is one that beckon does not know. */
export function findRealSender(called: Sender, payload: JsonRecord, table: readonly Agent[]): Sender | null {
  const id = findCaller(called.id, payload, process.env);
  return id === called.id ? called : findAgent(id, table);
}

/** What has to be read from the system. Each field is null if unknown. */
export interface Surroundings {
  readonly boot: string | null;
  /** Microseconds since boot, sleep included. */
  readonly seq: number | null;
  /** The same for processes that see each other's pids. */
  readonly host: string | null;
  readonly pid: number | null;
  /** What started the hook, where it would take a program to find the agent. */
  readonly ppid?: number;
  readonly procStart: string | null;
  readonly tty: string | null;
}

export type EventDescription = ReturnType<typeof describeEvent>;

/** Everything that needs no reading from the system. */
export function describeEvent(forwarding: Forwarding | null, env: Env) {
  const at = Date.now();
  const variables = pickTerminalVariables(env, forwarding?.metaVariables);
  return {
    id: crypto.randomUUID(),
    at,
    collected_at: new Date(at).toISOString(),
    forwarder_version: version,
    workspace_id: nameWorkspace(forwarding, env),
    terminal_session_id: findTerminalSession(variables),
    attended: forwarding?.isAttended(env) ?? null,
    env: variables,
  };
}

/** The last part of the project folder's path. */
function nameWorkspace(forwarding: Forwarding | null, env: Env): string | null {
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

/** The state folder, once it is known to be the user's. */
type ChoosingFolders = Promise<{ readonly paths: Pick<Paths, "authHeader"> }>;

export async function readSurroundings(
  { id, forwarding }: Sender,
  env: Env,
  choosingFolders: ChoosingFolders,
): Promise<Surroundings> {
  const agentPid = readPid(env[forwarding?.pidVariable ?? agentPidVariable]);
  if (process.platform !== "linux") return describeSurroundings(agentPid, choosingFolders);
  // All reads are started before the first one is awaited.
  const readingBoot = readText("/proc/sys/kernel/random/boot_id");
  const readingUptime = readText("/proc/uptime");
  // The number of the namespace is the inode of the link. Reading the link itself would need node:fs.
  const readingNamespace = Bun.file("/proc/self/ns/pid").stat().catch(returnNull);
  const readingProcess = agentPid === null ? findAgentProcess(id) : readProcess(agentPid);
  const boot = (await readingBoot)?.trim() || null;
  const namespace = (await readingNamespace)?.ino ?? null;
  const agentProcess = await readingProcess;
  return {
    boot,
    seq: parseUptime(await readingUptime),
    host: boot === null || namespace === null ? null : `${boot}/pid:[${namespace}]`,
    pid: agentPid ?? agentProcess?.pid ?? null,
    procStart: agentProcess?.start ?? null,
    tty: agentProcess?.tty ?? null,
  };
}

function readPid(text: string | undefined): number | null {
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

/** On macOS and Windows the app finds the process and its tty: here it would take a program. */
export async function describeSurroundings(
  agentPid: number | null,
  choosingFolders: ChoosingFolders,
): Promise<Surroundings> {
  const line = await readTokenLine((await choosingFolders).paths.authHeader);
  const host = line === null ? null : nameInstallation(line.slice(line.lastIndexOf(" ") + 1));
  const about = { boot: null, seq: null, host, pid: agentPid, procStart: null, tty: null };
  return agentPid === null ? { ...about, ppid: process.ppid } : about;
}

/** In microseconds, in steps of 10 ms. Bun's process.hrtime and performance.now count from the start of their own process. */
function parseUptime(uptime: string | null): number | null {
  const seconds = Number.parseFloat(uptime ?? "");
  return Number.isFinite(seconds) ? Math.round(seconds * 1e6) : null;
}

const returnNull = () => null;
const readText = (path: string): Promise<string | null> => Bun.file(path).text().catch(returnNull);

/** Null if there is no such file, or it is too large or not a regular file: opening a pipe would wait for a writer. */
export async function readSmall(path: string): Promise<string | null> {
  const file = Bun.file(path);
  const stat = await file.stat().catch(returnNull);
  return stat?.isFile() && stat.size <= limits.maxSmallFileBytes ? file.text().catch(returnNull) : null;
}

/** Null if there is no such process. */
export async function readProcess(pid: number): Promise<ProcessStat | null> {
  return parseStat((await readText(`/proc/${pid}/stat`)) ?? "");
}

export const maxParents = 6;

/** The parent, or the parent of the shell that runs the hook. A wrapper such as `timeout` is passed over. */
export async function findAgentProcess(id: string): Promise<ProcessStat | null> {
  let pid = process.ppid;
  for (let step = 0; step < maxParents && pid > 1; step++) {
    const ancestor = await readProcess(pid);
    if (ancestor === null) return null;
    if (isAgentProcess(id, ancestor.name)) return ancestor;
    pid = ancestor.parent;
  }
  return null;
}
