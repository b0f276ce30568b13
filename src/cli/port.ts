/** `beckon port`: named pieces of work in a project, which edits belong to. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { defaultAgent, loadAgents } from "../agents/index.ts";
import { createOtherChanges } from "../answers/other-changes.ts";
import type { HookOutput } from "../core/interfaces/wire.ts";
import { isRecord, parseJson } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { formatAge } from "../core/view/figures.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { createClock } from "../system/clock.ts";
import { createWorkGuard } from "../workguard/index.ts";
import { findOwnSession, identifyView } from "../workguard/own-session.ts";
import {
  createPort,
  endPort,
  findPort,
  findRun,
  listPorts,
  type Port,
  type PortBook,
  PortError,
  type PortRun,
  portStatus,
  type SessionIdentity,
  startPort,
  summarizePort,
  unknownSession,
} from "../workguard/ports.ts";
import { openProject, type Project } from "../workguard/project.ts";
import { changePorts } from "../workguard/store.ts";
import { parseArguments, quote, readSubcommand, usageError } from "./args.ts";
import { callApi, fetchSessions } from "./client.ts";
import type { Callable } from "./command.ts";
import {
  portCheck,
  portCommand,
  portCreate,
  portEnd,
  portList,
  portShow,
  portStart,
} from "./commands/port.ts";
import { fetchSession } from "./find-session.ts";
import {
  bold,
  dim,
  formatJson,
  hasColour,
  padText,
  paint,
  print,
  printLines,
  stripControls,
} from "./output.ts";

const subcommands = { create, start, end, list, show, check };

export async function port(args: string[], table: readonly Agent[]): Promise<number> {
  const called = readSubcommand(args, portCommand);
  return subcommands[called.subcommand](called.args, table);
}

/** The project of the current folder, or of the one that the user named. */
const findProject = (paths: Paths, chosen: string | undefined): Project =>
  openProject(paths, readConfigFile(paths.config).config.workGuard, resolve(chosen ?? process.cwd()));

/** The id, which must be the only argument. */
function readId({ name }: Callable, rest: readonly string[]): string {
  const [id, ...others] = rest;
  if (id === undefined) throw usageError(`${name} needs the id of a port`);
  if (others.length > 0) throw usageError(`${name} takes one id, but got ${quote(others.join(" "))}`);
  return id;
}

async function create(args: string[]): Promise<number> {
  const parsed = parseArguments(args, portCreate);
  const id = readId(portCreate, parsed.rest);
  const { "--title": title, "--depends-on": dependsOn = [] } = parsed.values;
  if (parsed.values["--depends-on"]?.length === 0)
    throw usageError("--depends-on needs a value: --depends-on ID");
  if (title === undefined) throw usageError('port create needs a title: --title "Log in with a passkey"');
  const paths = resolvePaths();
  const { folder, isShared, settings } = findProject(paths, parsed.values["--project"]);
  await changePorts(paths, folder, isShared, (book) =>
    createPort(book, folder, { id, title, dependsOn }, Date.now()),
  );
  printLines([
    `Created the port ${id} in ${folder}. To work on it, run: beckon port start ${id}`,
    ...(settings.mode === "off" ? [guardOff] : []),
  ]);
  return 0;
}

const guardOff =
  'The work guard is off here, so nothing is refused. To turn it on: "workGuard" in config.json.';

async function start(args: string[], table: readonly Agent[]): Promise<number> {
  const parsed = parseArguments(args, portStart);
  const id = readId(portStart, parsed.rest);
  const paths = resolvePaths();
  const { folder, isShared } = findProject(paths, parsed.values["--project"]);
  const named = parsed.values["--session"];
  const session =
    named === undefined ? await findCaller(paths, table) : identifyView(await fetchSession(paths, named));
  const book = await changePorts(paths, folder, isShared, (known) =>
    startPort(known, folder, id, session, Date.now()),
  );
  const started = findPort(book, folder, id) as Port;
  const { open_dependencies: open } = summarizePort(book, folder, started);
  const who = session === null ? `every session in ${folder}` : `the session ${formatSession(session)}`;
  printLines([
    `Started the port ${started.id} (${started.title}) for ${who}.`,
    ...(open.length > 0 ? [`It depends on ${open.join(", ")}, not ended yet.`] : []),
  ]);
  return 0;
}

/** null if no agent runs this command. */
async function findCaller(paths: Paths, table: readonly Agent[]): Promise<SessionIdentity | null> {
  const response = await fetchSessions(paths);
  return findOwnSession(table, process.env, typeof response === "string" ? null : response.sessions);
}

const formatSession = ({ sessionId, pid }: SessionIdentity): string =>
  stripControls(sessionId?.slice(0, 8) ?? `of process ${pid}`);

async function end(args: string[], table: readonly Agent[]): Promise<number> {
  const parsed = parseArguments(args, portEnd);
  const paths = resolvePaths();
  const { folder, isShared, book } = findProject(paths, parsed.values["--project"]);
  const id =
    parsed.rest.length > 0 ? readId(portEnd, parsed.rest) : await findRunning(paths, table, folder, book);
  const note = parsed.values["--note"] ?? null;
  if (note !== null && note.length > limits.maxTextLength)
    throw usageError(`a note has at most ${limits.maxTextLength} characters`);
  const after = await changePorts(paths, folder, isShared, (known) =>
    endPort(known, folder, id, note, Date.now()),
  );
  const ended = findPort(after, folder, id) as Port;
  const waiting = listPorts(after, folder).filter(
    ({ dependsOn, endedAt }) => endedAt === null && dependsOn.includes(ended.id),
  );
  printLines([
    `Ended the port ${ended.id}.`,
    ...waiting.map((port) => `${port.id} (${port.title}) depended on it.`),
  ]);
  return 0;
}

/** The port that the caller works on. */
async function findRunning(
  paths: Paths,
  table: readonly Agent[],
  folder: string,
  book: PortBook,
): Promise<string> {
  const run = findRun(book, folder, (await findCaller(paths, table)) ?? unknownSession, () => true);
  if (run) return run.port;
  throw usageError("no port is running here: name the one to end");
}

async function list(args: string[]): Promise<number> {
  const { flags, values } = parseArguments(args, portList);
  const paths = resolvePaths();
  const { folder, book, settings } = findProject(paths, values["--project"]);
  const all = listPorts(book, folder);
  const ports = flags.has("--all") ? all : all.filter(({ endedAt }) => endedAt === null);
  if (flags.has("--json")) {
    print(
      formatJson({
        project: folder,
        mode: settings.mode,
        ports: ports.map((port) => describe(book, folder, port)),
      }),
    );
    return 0;
  }
  const hidden = all.length - ports.length;
  const none =
    all.length === 0 ? 'No ports. To create one: beckon port create ID --title "TITLE"' : "No open ports.";
  print(
    formatTable(book, folder, ports, Date.now())
      .map((line) => `${line}\n`)
      .join(""),
  );
  const unused = join(folder, ".beckon", "ports.json");
  const isUnused = all.length === 0 && settings.store === "state" && existsSync(unused);
  printLines([
    ...(ports.length === 0 ? [none] : []),
    ...(isUnused ? [`There are ports in ${unused}. To use them: "store": "project" in config.json.`] : []),
    ...(hidden > 0 ? [`${hidden} ended: beckon port list --all`] : []),
    ...(settings.mode === "off" ? [guardOff] : []),
  ]);
  return 0;
}

function describe(book: PortBook, folder: string, port: Port) {
  const { status, open_dependencies } = summarizePort(book, folder, port);
  const runs = book.runs.filter((run) => run.project === folder && run.port === port.id);
  return { ...port, status, openDependencies: open_dependencies, runs };
}

function formatTable(book: PortBook, folder: string, ports: readonly Port[], now: number): string[] {
  const width = Math.max(0, ...ports.map(({ id }) => id.length));
  const options = { colour: hasColour() };
  return ports.map((port) => {
    const status = portStatus(book, folder, port);
    const runs = book.runs.filter((run) => run.project === folder && run.port === port.id);
    const about = [...runs.map((run) => formatRun(run, now)), ...formatDependencies(book, folder, port)].join(
      ", ",
    );
    const more = about === "" ? "" : paint(`  ${about}`, dim, options);
    return `${paint(padText(port.id, width), bold, options)}  ${status.padEnd(7)}  ${stripControls(port.title)}${more}`;
  });
}

function formatRun({ startedAt, session }: PortRun, now: number): string {
  const who = session === null ? "every session" : `session ${formatSession(session)}`;
  return `${who} for ${formatAge(now - startedAt)}`;
}

function formatDependencies(book: PortBook, folder: string, port: Port): string[] {
  const { open_dependencies: open } = summarizePort(book, folder, port);
  return open.length === 0 ? [] : [`waits for ${open.join(", ")}`];
}

async function show(args: string[]): Promise<number> {
  const parsed = parseArguments(args, portShow);
  const id = readId(portShow, parsed.rest);
  const paths = resolvePaths();
  const { folder, book } = findProject(paths, parsed.values["--project"]);
  const shown = findPort(book, folder, id);
  if (!shown) throw new PortError(`there is no port ${id} in ${folder}. See them: beckon port list`);
  const described = describe(book, folder, shown);
  if (parsed.flags.has("--json")) {
    print(formatJson({ project: folder, ...described }));
    return 0;
  }
  const now = Date.now();
  const age = (at: number) => `${formatAge(now - at)} ago`;
  printLines([
    `${shown.id}: ${shown.title}`,
    `status      ${described.status}`,
    `project     ${folder}`,
    `created     ${age(shown.createdAt)}`,
    ...(shown.dependsOn.length > 0
      ? [`depends on  ${shown.dependsOn.map((other) => formatDependency(book, folder, other)).join(", ")}`]
      : []),
    ...described.runs.map((run) => `worked on   ${formatRun(run, now)}`),
    ...(shown.endedAt === null ? [] : [`ended       ${age(shown.endedAt)}`]),
    ...(shown.note === null ? [] : [`note        ${shown.note}`]),
  ]);
  return 0;
}

function formatDependency(book: PortBook, folder: string, id: string): string {
  const other = findPort(book, folder, id);
  return other ? `${id} (${portStatus(book, folder, other)})` : `${id} (unknown)`;
}

/** Answers a hook's payload on standard input as the work guard would, and records nothing. */
async function check(args: string[], table: readonly Agent[]): Promise<number> {
  parseArguments(args, portCheck);
  const paths = resolvePaths();
  const payload = parsePayload(await Bun.stdin.text());
  const output = await askGuard(paths, table, { cwd: process.cwd(), ...payload });
  print(formatJson(output));
  for (const { level, title, message } of output.notifications)
    if (level !== "info") process.stderr.write(`beckon: ${stripControls(`${title}. ${message}`)}\n`);
  return 0;
}

function parsePayload(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  if (isRecord(value)) return value;
  throw usageError("port check needs a hook's payload on standard input: a JSON object");
}

/** The running beckon knows the sessions. Without it, the ports and the settings decide. */
async function askGuard(paths: Paths, table: readonly Agent[], body: object): Promise<HookOutput> {
  const response = await callApi(paths, "/api/guard?check", { body });
  if (typeof response !== "string") {
    if (response.status !== 200) throw new Error(String(response.body.error));
    return response.body as unknown as HookOutput;
  }
  const { config } = readConfigFile(paths.config);
  const clock = createClock();
  const guard = createWorkGuard({
    paths,
    agents: await loadAgents(table),
    defaultProvider: process.env.BECKON_PROVIDER || defaultAgent,
    config: () => config,
    clock,
    sessions: () => [],
    get: () => null,
    dispatch: () => {},
    publish: () => {},
    schedule: () => () => {},
    command: () => "beckon",
    otherChanges: createOtherChanges(clock),
    onProblem: (text) => process.stderr.write(`beckon: ${stripControls(text)}\n`),
  });
  const output = await guard.check({ ...body }, true);
  if (typeof output === "string") throw new Error(output);
  return output;
}
