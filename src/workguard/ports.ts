/** Ports: named pieces of work in a project, and who works on them. Pure. */
import { findLongest } from "../core/config/work-guard.ts";
import type { PortSummary, PortView } from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";

export interface Port {
  readonly id: string;
  readonly title: string;
  readonly dependsOn: readonly string[];
  /** Wall time, like every time here. */
  readonly createdAt: number;
  /** null while it has not ended. */
  readonly endedAt: number | null;
  /** What the user wrote down at its end. null if nothing. */
  readonly note: string | null;
}

/** Somebody works on a port: a session, or everybody in the project's folder. */
export interface PortRun {
  readonly project: string;
  readonly port: string;
  readonly startedAt: number;
  /** null if it was started outside of a session: it counts for every session of the project without a port of its own. */
  readonly session: SessionIdentity | null;
}

/** What tells one session from another. Each field is null if unknown. */
export interface SessionIdentity {
  readonly agent: string | null;
  readonly sessionId: string | null;
  /** Of the first folder, terminal, process and its start time. */
  readonly fingerprint: string | null;
  readonly pid: number | null;
  readonly procStart: string | null;
  readonly terminalSessionId: string | null;
}

export const unknownSession: SessionIdentity = {
  agent: null,
  sessionId: null,
  fingerprint: null,
  pid: null,
  procStart: null,
  terminalSessionId: null,
};

/** Every port and run that is known. A project is an absolute folder. */
export interface PortBook {
  readonly projects: Readonly<Record<string, readonly Port[]>>;
  readonly runs: readonly PortRun[];
}

export const emptyBook: PortBook = { projects: {}, runs: [] };

/** As trackers write them, too: `ENG-42`, `SHOP_7`. */
const idPattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;

/** Says what is wrong with an id. null if it is valid. */
export function findIdMistake(id: string): string | null {
  if (idPattern.test(id)) return null;
  return "a port's id has 1 to 64 letters A-Z or a-z, digits, dots, dashes and underscores, and begins and ends with a letter or digit";
}

/** Equal for ids that name the same port: case is kept, but does not count. */
export const foldId = (id: string): string => id.toLowerCase();

/** Says what is wrong with a title. null if it is valid. */
export function findTitleMistake(title: string): string | null {
  if (title.trim() === "") return "a port needs a title";
  if (title.length > limits.maxPortTitleLength)
    return `a title has at most ${limits.maxPortTitleLength} characters`;
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(title)
    ? "a title is one line without control characters or marks that change the direction of text"
    : null;
}

/** A hook can name a folder like a field that every object has, such as "constructor". */
export const listPorts = ({ projects }: PortBook, project: string): readonly Port[] =>
  Object.hasOwn(projects, project) ? (projects[project] ?? []) : [];

/** The id may be in any case. */
export const findPort = (book: PortBook, project: string, id: string): Port | null =>
  indexPorts(listPorts(book, project)).get(foldId(id)) ?? null;

/** A list never changes, so each is indexed once. */
const indexes = new WeakMap<readonly Port[], ReadonlyMap<string, Port>>();

function indexPorts(ports: readonly Port[]): ReadonlyMap<string, Port> {
  const index = indexes.get(ports) ?? new Map(ports.map((port) => [foldId(port.id), port]));
  indexes.set(ports, index);
  return index;
}

export function portStatus(book: PortBook, project: string, { id, endedAt }: Port): PortSummary["status"] {
  if (endedAt !== null) return "ended";
  return book.runs.some((run) => run.project === project && run.port === id) ? "running" : "open";
}

export function summarizePort(book: PortBook, project: string, port: Port): PortSummary {
  const { id, title, dependsOn } = port;
  const isOpen = (other: string) => findPort(book, project, other)?.endedAt === null;
  return {
    id,
    title,
    status: portStatus(book, project, port),
    open_dependencies: dependsOn.filter(isOpen),
  };
}

const maxEndedListed = 100;

/** The ports of all projects: those that run, then the open ones, then those that ended last. */
export function listPortViews(book: PortBook): readonly PortView[] {
  const all = Object.entries(book.projects).flatMap(([project, ports]) =>
    ports.map((port) => createPortView(book, project, port)),
  );
  const withStatus = (status: PortView["status"]) => all.filter((port) => port.status === status);
  const newestFirst = (a: PortView, b: PortView) => (b.endedAt ?? b.createdAt) - (a.endedAt ?? a.createdAt);
  return [
    ...withStatus("running").sort(newestFirst),
    ...withStatus("open").sort(newestFirst),
    ...withStatus("ended").sort(newestFirst).slice(0, maxEndedListed),
  ];
}

function createPortView(book: PortBook, project: string, port: Port): PortView {
  const { status, open_dependencies: openDependencies } = summarizePort(book, project, port);
  const isForEverybody = book.runs.some(
    (run) => run.project === project && run.port === port.id && run.session === null,
  );
  return { project, ...port, status, openDependencies, isForEverybody };
}

/** A change of the book that was refused. The message is for the user. */
export class PortError extends Error {}

export interface NewPort {
  readonly id: string;
  readonly title: string;
  readonly dependsOn: readonly string[];
}

export function createPort(book: PortBook, project: string, port: NewPort, now: number): PortBook {
  const { id, title, dependsOn } = port;
  const mistake = findIdMistake(id) ?? findTitleMistake(title);
  if (mistake !== null) throw new PortError(mistake);
  const known = listPorts(book, project);
  const same = findPort(book, project, id);
  if (same) {
    const ended = same.endedAt === null ? "" : ", which has ended. Choose another id";
    throw new PortError(`there is a port ${same.id} already${ended}`);
  }
  if (dependsOn.some((other) => foldId(other) === foldId(id)))
    throw new PortError(`the port ${id} cannot depend on itself`);
  if (known.length >= limits.maxPorts) throw new PortError(`a project has at most ${limits.maxPorts} ports`);
  const missing = dependsOn.filter((other) => findPort(book, project, other) === null);
  if (missing.length > 0)
    throw new PortError(`there is no port ${missing.join(", ")} to depend on: create it first`);
  if (dependsOn.length > limits.maxPortDependencies)
    throw new PortError(`a port depends on at most ${limits.maxPortDependencies} others`);
  const created: Port = {
    id,
    title,
    dependsOn: [...new Set(dependsOn.map((other) => findPort(book, project, other)?.id ?? other))],
    createdAt: now,
    endedAt: null,
    note: null,
  };
  return setPorts(book, project, [...known, created]);
}

function setPorts(book: PortBook, project: string, ports: readonly Port[]): PortBook {
  return { ...book, projects: { ...book.projects, [project]: ports } };
}

function requireOpen(book: PortBook, project: string, id: string): Port {
  const port = findPort(book, project, id);
  if (!port) throw new PortError(`there is no port ${id} in ${project}. See them: beckon port list`);
  if (port.endedAt !== null)
    throw new PortError(
      `the port ${port.id} has ended. For more work, create another one: beckon port create ID --title TITLE`,
    );
  return port;
}

/** A session, or the project, works on one port at a time: what it worked on before is open again. */
export function startPort(
  book: PortBook,
  project: string,
  named: string,
  session: SessionIdentity | null,
  now: number,
): PortBook {
  const { id } = requireOpen(book, project, named);
  const isSame = (run: PortRun) =>
    run.project === project &&
    (session === null || run.session === null
      ? session === run.session
      : isSameSession(run.session, session, () => false));
  const known = book.runs.find((run) => run.port === id && isSame(run));
  const started: PortRun = { project, port: id, startedAt: known?.startedAt ?? now, session };
  return { ...book, runs: [...book.runs.filter((run) => !isSame(run)), started] };
}

/** Nobody works on it any more. */
export function endPort(
  book: PortBook,
  project: string,
  named: string,
  note: string | null,
  now: number,
): PortBook {
  const { id } = requireOpen(book, project, named);
  const ports = listPorts(book, project).map((port) =>
    port.id === id ? { ...port, endedAt: now, note } : port,
  );
  const runs = book.runs.filter((run) => run.project !== project || run.port !== id);
  return { ...setPorts(book, project, ports), runs };
}

/**
 * The same process is the same session: after /clear it has another id. The same id in another process is the same session
 * too, resumed, unless the first process still runs: then two terminals continue one conversation, and only the first has
 * the port. Without a process, the terminal counts, and last the id.
 */
function isSameSession(
  bound: SessionIdentity,
  session: SessionIdentity,
  isAlive: (pid: number, procStart: string | null) => boolean,
): boolean {
  if (bound.fingerprint !== null && bound.fingerprint === session.fingerprint) return true;
  const isSameId = bound.sessionId !== null && bound.sessionId === session.sessionId;
  const isSameAgent = bound.agent === null || session.agent === null || bound.agent === session.agent;
  if (bound.pid !== null && session.pid !== null) {
    if (bound.pid === session.pid && isSameStart(bound.procStart, session.procStart)) return true;
    return isSameId && isSameAgent && !isAlive(bound.pid, bound.procStart);
  }
  if (isSameId && isSameAgent) return true;
  const hasProcess = bound.pid !== null || session.pid !== null;
  return (
    !hasProcess && bound.terminalSessionId !== null && bound.terminalSessionId === session.terminalSessionId
  );
}

const isSameStart = (a: string | null, b: string | null): boolean => a === null || b === null || a === b;

/** The run that the session's edits belong to: its own, or the project's. null if there is none. */
export function findRun(
  book: PortBook,
  project: string,
  session: SessionIdentity,
  isAlive: (pid: number, procStart: string | null) => boolean,
): PortRun | null {
  const inProject = book.runs.filter((run) => run.project === project);
  const own = inProject.findLast(
    (run) => run.session !== null && isSameSession(run.session, session, isAlive),
  );
  return own ?? inProject.findLast((run) => run.session === null) ?? null;
}

/** The folder whose ports count in `folder`: the longest that has settings or ports. `fallback` if there is none. */
export function findProject(
  book: PortBook,
  configured: Iterable<string>,
  folder: string,
  fallback: string,
): string {
  return findLongest([...configured, ...Object.keys(book.projects)], folder) ?? fallback;
}
