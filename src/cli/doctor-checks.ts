/** The checks of `beckon doctor`. All run at once, each with its own time limit, so that doctor never hangs. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { version } from "../../package.json";
import type { Agent, Examination } from "../agents/agent.ts";
import type { Finding } from "../agents/finding.ts";
import { asList, asRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { createProbeId } from "../core/session/probe.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { listInstalledTerminals } from "../core/terminals/index.ts";
import { pickTerminalVariables } from "../core/terminals/sent-variables.ts";
import type { FocusOutcome, InstalledPrograms, InstalledTerminal } from "../core/terminals/terminal.ts";
import { openLoginItem } from "../desktop/login/index.ts";
import { createTerminals } from "../desktop/terminals/index.ts";
import { readVersion } from "../setup/binary.ts";
import {
  type AppReport,
  checkApp,
  checkChannels,
  checkCollisions,
  checkFiles,
  checkFleets,
  checkIcon,
  checkLiveTest,
  checkLogin,
  checkMachines,
  checkNotifications,
  checkStreamServer,
  checkTerminals,
  checkTraces,
  type HealthAnswer,
  type LiveApp,
  type LiveFacts,
  type ProbeReport,
  probeText,
  readFilesFacts,
  readReport,
  readTraces,
  runHook,
  runLiveTest,
} from "../setup/doctor/index.ts";
import { type InstallRecord, readInstallRecord } from "../setup/install-record.ts";
import { findUnknownFolders } from "../setup/known-folders.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { readOr, readOwnFile } from "../storage/files.ts";
import { loadJsonState } from "../storage/json-state.ts";
import { isOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { removeLastSpoolLine } from "../storage/spool.ts";
import { formatLocalTime } from "../system/clock.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { currentFolder, type Env, homeOf } from "../system/folders.ts";
import { findOwnCommand } from "../system/is-compiled.ts";
import { readStartTime } from "../system/processes.ts";
import { waitAtMost } from "../system/schedule.ts";
import { fetchChannelReports, readChannels } from "./channel-facts.ts";
import { type ApiResponse, describeFetchError, fetchApi, isRefusedConnection } from "./client.ts";
import { fetchMachineReports, listMachineNames, nameAgents } from "./machine-facts.ts";

const checkTimeoutMs = 9_500;
const hookTimeoutMs = 4_000;
/** The app asks panel, notification service and terminal before it answers. */
const reportTimeoutMs = 4_000;
/** After a start, panel and notification service appear a little later than the app. */
const desktopWaitMs = 1_000;
const pollMs = 100;

interface ExaminedAgent {
  readonly agent: Agent;
  readonly examination: Examination;
}

export async function runChecks(env: Env, table: readonly Agent[]): Promise<readonly Finding[]> {
  const paths = resolvePaths(env);
  const record = readInstallRecord(paths);
  const app = askApp(paths);
  const agents = await examinePresentAgents(env, table, paths, record);
  const isConnected = agents.some(({ examination }) => examination.isRegistered);
  const checks = [
    ...agents.flatMap(({ agent, examination }) =>
      examination.parts.map(async ({ link, findings }) => {
        const prefix = agents.length > 1 && link !== agent.name ? `${agent.name}: ` : "";
        const isChosen = examination.isRegistered || !isConnected || isRecorded(agent, record);
        const checked = await withTimeout(link, findings);
        return checked.map((finding) => {
          const { state, fix } = isChosen ? finding : softenProblem(finding, agent);
          return { ...finding, text: prefix + finding.text, state, fix };
        });
      }),
    ),
    withTimeout("app", runAppChecks({ env, paths, agents, app })),
    withTimeout("channels", runChannelsCheck(env, paths)),
    withTimeout("machines", runMachinesCheck(paths, table)),
    withTimeout("fleets", runFleetsCheck(paths)),
    withTimeout("login", runLoginCheck(env, paths)),
    withTimeout("app", runUpdateCheck(paths)),
    withTimeout("app", runCollisionsCheck(paths, agents)),
  ];
  return (await Promise.all(checks)).flat();
}

const isRecorded = ({ id }: Agent, record: InstallRecord | null): boolean =>
  record?.files.some((file) => file.agent === id) === true;

/** Many machines have the folder of an agent that its user does not use with beckon. That is not a problem. */
function softenProblem({ state, fix }: Finding, { id }: Agent): Pick<Finding, "state" | "fix"> {
  if (state !== "fail" && state !== "warn") return { state, fix };
  return { state: "info", fix: `To connect it: beckon --install --agent ${id}` };
}

async function withTimeout(link: string, check: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  const fail = (text: string): Finding[] => [
    {
      id: `${link.toLowerCase().replaceAll(" ", "-")}.late`,
      link,
      state: "fail",
      text,
      fix: "Run again: beckon doctor",
    },
  ];
  const checked = check.catch((error) => fail(`could not be checked: ${error.message}`));
  const late = fail(`could not be checked within ${checkTimeoutMs / 1_000} s`);
  return (await waitAtMost(checkTimeoutMs, checked)) ?? late;
}

/** The agent's sessions that beckon shows as running. null if it is not running. */
async function readSessionIds(paths: Paths, agent: string): Promise<ReadonlySet<string> | null> {
  const running = readEndpoint(paths);
  const response = running && (await fetchApi(paths, running, "/api/sessions").catch(() => null));
  const { sessions } = asRecord(response?.body);
  if (!Array.isArray(sessions)) return null;
  const shown = sessions
    .map(asRecord)
    .filter(({ provider, state }) => provider === agent && state !== "completed");
  return new Set(shown.map(({ sessionId }) => String(sessionId)));
}

/** The agents on this machine. If there is none, the first of the table, so that doctor says that it was not found. */
async function examinePresentAgents(
  env: Env,
  table: readonly Agent[],
  paths: Paths,
  record: InstallRecord | null,
): Promise<readonly ExaminedAgent[]> {
  const loaded = await Promise.all(
    table.map(async (agent) => {
      const setup = await agent.loadSetup();
      return { agent, setup, isPresent: isRecorded(agent, record) || setup.isPresent(env) };
    }),
  );
  const present = loaded.filter(({ isPresent }) => isPresent);
  return (present.length > 0 ? present : loaded.slice(0, 1)).map(({ agent, setup }) => {
    const examination = setup.examine({
      env,
      cwd: currentFolder(),
      exec,
      version,
      state: paths.state,
      program: record?.programs[agent.id] ?? null,
      binary: record?.binary ?? null,
      readVersion: (binary) => readVersion(binary, exec),
      readSessionIds: () => readSessionIds(paths, agent.id),
    });
    return { agent, examination };
  });
}

export async function runLoginCheck(env: Env, paths: Paths): Promise<Finding[]> {
  const login = await openLoginItem({ env, folder: paths.helpers });
  return checkLogin({ item: (await login?.state()) ?? null, isOff: isOff(paths) });
}

/** What the app has found. Doctor itself asks nobody. */
async function runUpdateCheck(paths: Paths): Promise<Finding[]> {
  if (readConfigFile(paths.config).config.updates !== "tell") return [];
  const { findNewer } = await import("../update/check.ts");
  const newer = findNewer(loadJsonState(paths.updateCheck, { readOnly: true }).value, version);
  if (newer === null) return [];
  return [{ id: "app.newer", link: "app", state: "info", text: newer.text, fix: `Run: ${newer.fix}` }];
}

async function runCollisionsCheck(paths: Paths, agents: readonly ExaminedAgent[]): Promise<Finding[]> {
  return checkCollisions({
    workGuard: readConfigFile(paths.config).config.workGuard,
    agents: agents
      .filter(({ examination }) => examination.isRegistered)
      .map(({ agent: { name, forwarding } }) => ({ name, guard: forwarding.guard })),
  });
}

async function runChannelsCheck(env: Env, paths: Paths): Promise<Finding[]> {
  const { channels, secrets } = readChannels(paths, env);
  if (channels.length === 0 && secrets.problem === null) return [];
  const reports = await fetchChannelReports(paths);
  const now = Date.now();
  return checkChannels({
    channels: channels.map(({ name, settings, checked }) => ({
      name,
      service: "problems" in checked ? settings.type : checked.service.name,
      answers: settings.answers,
      isOpen: "service" in checked && !checked.service.hasAccounts,
      mistakes: "problems" in checked ? checked.problems : [],
      report: reports?.find((report) => report.name === name) ?? null,
    })),
    problem: secrets.problem,
    isRunning: reports !== null,
    readableConfig: isReadableByOthers(paths.config) ? paths.config : null,
    formatTime: (at) => formatLocalTime(at, now),
  });
}

async function runMachinesCheck(paths: Paths, table: readonly Agent[]): Promise<Finding[]> {
  const names = listMachineNames(paths);
  if (names.length === 0) return [];
  const reports = await fetchMachineReports(paths);
  const now = Date.now();
  return checkMachines({
    machines: names.map((name) => {
      const report = reports?.find((known) => known.name === name) ?? null;
      return { name, report: report && { ...report, agents: nameAgents(report.agents, table) } };
    }),
    isRunning: reports !== null,
    version,
    formatTime: (at) => formatLocalTime(at, now),
  });
}

async function runFleetsCheck(paths: Paths): Promise<Finding[]> {
  if (!existsSync(paths.fleets)) return [];
  const [{ readFleets }, { fetchFleetReports }, { sayDropped, sayFleetState }] = await Promise.all([
    import("../machines/fleet/fleet-file.ts"),
    import("./fleet-facts.ts"),
    import("../machines/fleet/report.ts"),
  ]);
  const reports = await fetchFleetReports(paths);
  return checkFleets(
    Object.keys(readFleets(paths).fleets).map((name) => {
      const report = reports?.find((known) => known.name === name);
      if (!report) return { name, report: null };
      const others = report.members.length - 1;
      const there = report.members.filter(({ isThere }) => isThere).length - 1;
      const isFine = report.problem === null && report.state === "connected";
      const facts = {
        isFine,
        state: sayFleetState(report),
        dropped: sayDropped(report.dropped),
        others,
        there,
      };
      return { name, report: facts };
    }),
  );
}

function isReadableByOthers(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return process.platform !== "win32" && stats !== undefined && (stats.mode & 0o044) !== 0;
}

interface AppContext {
  readonly env: Env;
  readonly paths: Paths;
  readonly agents: readonly ExaminedAgent[];
  readonly app: Promise<AppHealth>;
}

/** Everything that is checked once it is known whether the app answers: app, files, live event, icon, terminals. */
async function runAppChecks({ env, paths, agents, app }: AppContext): Promise<Finding[]> {
  const now = Date.now();
  const { answer, url, sessions } = await app;
  const report = answer.kind === "up" ? answer.report : null;
  const isRunning = answer.kind !== "down";
  const isTokenRefused = answer.kind === "refused" && (answer.status === 401 || answer.status === 403);
  // Read before the live test, which may leave a line in them.
  const traces = readTraces(paths, answer.kind === "up", now);
  const files = readFilesFacts(paths, {
    isRunning,
    isTokenRefused,
    unknownFolders: await findUnknownFolders(env),
  });
  const { findings: live, probe } = await runLiveTests({ env, paths, agents, report });
  const own = probe ? probe.reach : await tryOwnTerminal(env);
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY === true);
  return [
    ...checkApp({
      answer,
      url,
      wantedPort: Number(env.BECKON_PORT) || limits.defaultTcpPort,
      version,
      isOff: isOff(paths),
      isInstalled: agents.some(({ examination }) => examination.isRegistered),
      env,
      log: paths.log,
    }),
    ...checkTraces(traces),
    ...checkFiles(files),
    ...live,
    ...(report || !isRunning ? checkIcon(report, process.platform) : []),
    ...(report || !isRunning ? checkNotifications(report, (at) => formatLocalTime(at, now)) : []),
    ...checkStreamServer(report?.stream ?? null),
    ...checkTerminals({ own, installed: findInstalledTerminals(env, sessions), hasTerminal }),
  ];
}

interface AppHealth {
  readonly answer: HealthAnswer;
  readonly url: string | null;
  /** The variables of the terminals of all sessions. */
  readonly sessions: InstalledPrograms["sessions"];
}

async function askApp(paths: Paths): Promise<AppHealth> {
  const endpoint = readEndpoint(paths);
  if (!endpoint) return { answer: { kind: "down" }, url: null, sessions: [] };
  const { url, pid } = endpoint;
  const started = performance.now();
  let response: ApiResponse;
  try {
    response = await fetchApi(paths, endpoint, "/api/sessions");
  } catch (error) {
    const why = isRefusedConnection(error) ? `nothing listens at ${url}` : describeFetchError(error);
    return { answer: { kind: "silent", pid, why }, url, sessions: [] };
  }
  const ms = performance.now() - started;
  const { status, body } = response;
  if (status !== 200) return { answer: { kind: "refused", pid, status }, url, sessions: [] };
  const report = await fetchReport(paths, endpoint);
  return { answer: { kind: "up", pid, ms, report }, url, sessions: readTerminals(body) };
}

const readTerminals = ({ sessions }: ApiResponse["body"]): AppHealth["sessions"] =>
  asList(sessions).map((session) => Object(Object(Object(session).place).env));

async function fetchReport(paths: Paths, endpoint: Endpoint): Promise<AppReport | null> {
  const end = performance.now() + desktopWaitMs;
  for (;;) {
    const response = await tryFetch(paths, endpoint, "/api/doctor", reportTimeoutMs);
    const report = readReport(response?.body ?? null);
    const hasDesktop = report?.tray?.missing === null && report.notifier?.missing === null;
    if (report === null || report.isHeadless || hasDesktop || performance.now() > end) return report;
    await Bun.sleep(pollMs);
  }
}

/** Null if the request fails. */
async function tryFetch(
  paths: Paths,
  endpoint: Endpoint | null,
  path: string,
  timeoutMs?: number,
): Promise<ApiResponse | null> {
  if (!endpoint) return null;
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  return fetchApi(paths, endpoint, path, options).catch(() => null);
}

interface LiveTestsOptions {
  readonly env: Env;
  readonly paths: Paths;
  readonly agents: readonly ExaminedAgent[];
  /** Null if the app is not running or does not answer. */
  readonly report: AppReport | null;
}

/**
 * Sends a test event through the hook of each registered agent, and looks for it in the app or in the spool. If no agent is
 * registered, the first one is tested by calling beckon directly.
 */
async function runLiveTests(
  options: LiveTestsOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly probe: ProbeReport | null }> {
  const { agents } = options;
  const registered = agents.filter(({ examination }) => examination.isRegistered);
  const tested = registered.length > 0 ? registered : agents.slice(0, 1);
  const findings: Finding[] = [];
  let probe: ProbeReport | null = null;
  // One after another: two alerts at once would be shown as one.
  for (const examined of tested) {
    const result = await testAgent(examined, options);
    const prefix = tested.length > 1 ? `${examined.agent.name}: ` : "";
    for (const finding of checkLiveTest(result.facts))
      findings.push({ ...finding, text: prefix + finding.text });
    probe ??= result.probe;
  }
  return { findings, probe };
}

async function testAgent(
  { agent, examination }: ExaminedAgent,
  { env, paths, report }: LiveTestsOptions,
): Promise<{ readonly facts: LiveFacts; readonly probe: ProbeReport | null }> {
  const { liveTest: test } = examination;
  const { path, reason } = test;
  const sessionId = createProbeId(crypto.randomUUID());
  const hook = {
    command: test.command ?? [...findOwnCommand(), "hook", agent.id],
    env: test.createEnv(env, sessionId, process.pid),
  };
  if (report === null) {
    const before = statSync(paths.spool, { throwIfNoEntry: false })?.size ?? 0;
    const request = await runHook(hook, test.createRequest(sessionId, probeText), hookTimeoutMs);
    const isSpooled = isInSpool(paths, sessionId);
    if (isSpooled && readEndpoint(paths) === null) removeLastSpoolLine(paths.spool, before, sessionId);
    return { facts: { path, reason, outcome: { kind: "down", request, isSpooled } }, probe: null };
  }
  const app = createLiveApp(paths, report, agent.id);
  const result = await runLiveTest(hook, sessionId, test, app);
  const outcome = { kind: "up" as const, result, shows: app.shows, notifier: report.notifier };
  return { facts: { path, reason, outcome }, probe: result.probe };
}

function isInSpool({ spool }: Paths, sessionId: string): boolean {
  try {
    return readOwnFile(spool, limits.maxSpoolBytes * 2).includes(sessionId);
  } catch {
    return false;
  }
}

/** The running app, as the live test sees it. */
function createLiveApp(paths: Paths, report: AppReport, agent: string): LiveApp {
  const endpoint = readEndpoint(paths);
  return {
    shows: {
      icon: report.tray !== null && report.tray.missing === null,
      alerts: report.notifier !== null && report.notifier.missing === null,
    },
    async hasAsk(sessionId) {
      const key = encodeURIComponent(sessionKeyOf({ agent, sessionId }));
      const response = await tryFetch(paths, endpoint, `/api/sessions/${key}`);
      const asks = response?.body.asks;
      return response?.status === 200 && Array.isArray(asks) && asks.length > 0;
    },
    async probe(sessionId, withReach) {
      const path = withReach ? "/api/doctor?reach" : "/api/doctor";
      const response = await tryFetch(paths, endpoint, path, reportTimeoutMs);
      const probes = readReport(response?.body ?? null)?.probes;
      return probes?.find((probe) => probe.session === sessionKeyOf({ agent, sessionId })) ?? null;
    },
  };
}

function findInstalledTerminals(env: Env, sessions: AppHealth["sessions"]): readonly InstalledTerminal[] {
  return listInstalledTerminals({
    platform: process.platform,
    env,
    sessions,
    configHome: env.XDG_CONFIG_HOME || join(homeOf(env), ".config"),
    readFile: (path) => readOr(() => readFileSync(path, "utf8"), null),
    has: (program) =>
      isAbsolute(program) ? existsSync(program) : Bun.which(program, { PATH: env.PATH ?? "" }) !== null,
  });
}

/** How far focus would get to the terminal that doctor runs in. Used if no app runs that could tell. */
export function tryOwnTerminal(env: Env): Promise<FocusOutcome> {
  const place = {
    local: true,
    pid: process.pid,
    procStart: readStartTime(process.pid),
    tty: null,
    terminalSessionId: null,
    env: pickTerminalVariables(env),
  };
  return createTerminals({ env }).dryRunFocus({ place, cwd: null, title: null });
}
