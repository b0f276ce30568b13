/**
 * Ports on disk: ports.json in the state folder, and for projects with `store: "project"` their ports in .beckon/ports.json of
 * the project, which a team can commit. Who works on a port is always in the state folder.
 */
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { asList, isRecord, readPositive, readText } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { isAbsolute } from "../core/text/paths.ts";
import {
  ensurePrivateFolder,
  errorCode,
  ignoreErrors,
  readFileStamp,
  readOwnFile,
  readSmallFile,
  renameFile,
  writePrivateFile,
} from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { withFileLock } from "../user-files/file-lock.ts";
import {
  findIdMistake,
  findPort,
  findTitleMistake,
  foldId,
  type Port,
  type PortBook,
  PortError,
  type PortRun,
} from "./ports.ts";

export type StorePaths = Pick<Paths, "state" | "ports">;

const projectFileOf = (project: string): string => join(project, ".beckon", "ports.json");

const formatVersion = 1;

/**
 * Throws a PortError if a file is damaged: nothing is overwritten then. `onDamaged` is called instead for the file of a project, and
 * returns the ports that count there.
 */
export function readPorts(
  paths: StorePaths,
  sharedProjects: Iterable<string> = [],
  onDamaged?: (project: string, error: unknown) => readonly Port[],
): PortBook {
  const book = readStateFile(paths.ports);
  const read = (project: string): readonly Port[] | null => {
    try {
      return readProjectFile(project);
    } catch (error) {
      if (!onDamaged) throw error;
      return onDamaged(project, error);
    }
  };
  const shared = [...sharedProjects].map((project) => [project, read(project)] as const);
  const known = shared.filter((entry): entry is readonly [string, readonly Port[]] => entry[1] !== null);
  const all =
    known.length === 0 ? book : { ...book, projects: { ...book.projects, ...Object.fromEntries(known) } };
  // A team can change the case of an id in its file while somebody works on the port.
  const findId = ({ project, port }: PortRun) => findPort(all, project, port)?.id ?? port;
  return { ...all, runs: all.runs.map((run) => ({ ...run, port: findId(run) })) };
}

function readStateFile(path: string): PortBook {
  const value = readJson(path, (max) => readOwnFile(path, max));
  if (value === null) return { projects: {}, runs: [] };
  const { projects, runs } = isRecord(value) ? value : {};
  if (!isRecord(projects) || !Array.isArray(runs)) throw damaged(path);
  const entries = Object.entries(projects).filter(([folder]) => isAbsolute(folder));
  return {
    projects: Object.fromEntries(entries.map(([folder, ports]) => [folder, parsePorts(path, ports)])),
    runs: runs.flatMap(parseRun),
  };
}

/** null if the project has no such file. */
function readProjectFile(project: string): readonly Port[] | null {
  const path = projectFileOf(project);
  const value = readJson(path, (max) => readSmallFile(path, max));
  return value === null ? null : parsePorts(path, isRecord(value) ? value.ports : null);
}

/** null if there is no file. */
function readJson(path: string, read: (maxBytes: number) => string): unknown {
  let text: string;
  try {
    text = read(limits.maxPortsBytes);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return null;
    throw new PortError(`${path} cannot be read (${errorCode(error)})`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(path);
  }
}

const damaged = (path: string): PortError =>
  new PortError(`${path} is not a file of ports that beckon can read. Repair it, or move it away.`);

/** A project's file can come from others, so every field is checked. */
function parsePorts(path: string, value: unknown): readonly Port[] {
  if (!Array.isArray(value)) throw damaged(path);
  const ports = value.slice(0, limits.maxPorts).flatMap(parsePort);
  const byId = new Map(ports.map((port) => [foldId(port.id), port]));
  const findId = (id: string) => byId.get(foldId(id))?.id ?? id;
  return [...byId.values()].map((port) => ({ ...port, dependsOn: [...new Set(port.dependsOn.map(findId))] }));
}

function parsePort(value: unknown): Port[] {
  if (!isRecord(value)) return [];
  const { id, title, dependsOn, createdAt, endedAt, note } = value;
  if (typeof id !== "string" || findIdMistake(id) !== null) return [];
  if (typeof title !== "string" || findTitleMistake(title) !== null) return [];
  const others = asList(dependsOn).filter((other) => typeof other === "string");
  return [
    {
      id,
      title,
      dependsOn: [...new Set(others.slice(0, limits.maxPortDependencies))],
      createdAt: asTime(createdAt) ?? 0,
      endedAt: asTime(endedAt),
      note: readText(note, limits.maxTextLength),
    },
  ];
}

function parseRun(value: unknown): PortRun[] {
  if (!isRecord(value)) return [];
  const project = readText(value.project, limits.maxPathLength);
  const port = readText(value.port, limits.maxIdLength);
  const startedAt = asTime(value.startedAt);
  if (project === null || port === null || startedAt === null) return [];
  if (!isRecord(value.session))
    return value.session === null ? [{ project, port, startedAt, session: null }] : [];
  const { agent, sessionId, fingerprint, pid, procStart, terminalSessionId } = value.session;
  const id = (text: unknown) => readText(text, limits.maxIdLength);
  const session = {
    agent: id(agent),
    sessionId: id(sessionId),
    fingerprint: id(fingerprint),
    pid: readPositive(pid),
    procStart: id(procStart),
    terminalSessionId: id(terminalSessionId),
  };
  return [{ project, port, startedAt, session }];
}

const asTime = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;

/**
 * Changes the ports of a project. Several processes wait for each other, so that no change is lost. `isShared`: the project's
 * ports are in its own file.
 */
export function changePorts(
  paths: StorePaths,
  project: string,
  isShared: boolean,
  change: (book: PortBook) => PortBook,
): Promise<PortBook> {
  ensurePrivateFolder(paths.state);
  const carryOut = () => {
    const before = readPorts(paths, isShared ? [project] : []);
    const after = change(before);
    const ports = after.projects[project] ?? [];
    // Ports that were kept in the state folder until now move to the project's file.
    const isMoved = isShared && ports.length > 0 && readProjectFile(project) === null;
    if (isMoved || (isShared && ports !== before.projects[project])) writeProjectFile(project, ports);
    writeStateFile(paths, after, isShared ? project : null);
    return after;
  };
  return withFileLock(paths.ports, () =>
    isShared ? withFileLock(prepareProjectFile(project), carryOut) : carryOut(),
  );
}

function writeStateFile({ ports: path }: StorePaths, book: PortBook, shared: string | null): void {
  // An empty list stays, because the app finds the projects of shared files by it.
  const projects = shared === null ? book.projects : { ...book.projects, [shared]: [] };
  const text = JSON.stringify({ version: formatVersion, projects, runs: book.runs }, null, 2);
  writePrivateFile(path, `${text}\n`);
}

/** Others may have written the project: a link in it must not lead to another file of the user's. */
function prepareProjectFile(project: string): string {
  const path = projectFileOf(project);
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new PortError(`${folder} cannot be created (${errorCode(error)})`);
  }
  if (lstatSync(folder).isSymbolicLink())
    throw new PortError(`${folder} is a link, so beckon writes no ports there. Replace it by a folder.`);
  return path;
}

/** Readable for others, unlike beckon's own files: it belongs to the project. */
function writeProjectFile(project: string, ports: readonly Port[]): void {
  const path = projectFileOf(project);
  const temporary = `${path}.${process.pid}.tmp`;
  const text = `${JSON.stringify({ version: formatVersion, ports }, null, 2)}\n`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text, { flag: "wx" });
    renameFile(temporary, path);
  } catch (error) {
    ignoreErrors(() => rmSync(temporary, { force: true }));
    throw error;
  }
}

/** Why a port could not be started now, for example because the disk is full. null if it could be. */
export function findStoreProblem({ ports: path }: StorePaths): string | null {
  const probe = `${path}.${process.pid}.tmp`;
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    rmSync(probe, { force: true });
    const fd = openSync(probe, "wx", 0o600);
    try {
      writeSync(fd, Buffer.alloc(Math.min(size, limits.maxPortsBytes) + 4_096));
    } finally {
      closeSync(fd);
    }
    return null;
  } catch (error) {
    return errorCode(error);
  } finally {
    ignoreErrors(() => rmSync(probe, { force: true }));
  }
}

/** Changes whenever the ports may have. */
export function readPortsStamp(paths: StorePaths, sharedProjects: Iterable<string> = []): string {
  return [paths.ports, ...[...sharedProjects].map(projectFileOf)].map(readFileStamp).join();
}
