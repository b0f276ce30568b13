/** Examines every link at once, each with its own time limit, so that doctor never hangs. */
import { version } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import type { Finding } from "../agents/finding.ts";
import { limits } from "../core/limits.ts";
import { openLogin } from "../desktop/login/index.ts";
import { appFindings } from "../setup/doctor/app.ts";
import { filesFindings, lookAtFiles } from "../setup/doctor/files.ts";
import { iconFindings } from "../setup/doctor/icon.ts";
import { loginFindings } from "../setup/doctor/login.ts";
import { notificationFindings } from "../setup/doctor/notifications.ts";
import { terminalFindings } from "../setup/doctor/terminals.ts";
import { lookForTraces, tracesFindings } from "../setup/doctor/traces.ts";
import { versionOf } from "../setup/find-program.ts";
import { type InstallRecord, readInstallRecord } from "../setup/record.ts";
import { isOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { currentFolder } from "../system/current-folder.ts";
import { exec } from "../system/exec.ts";
import type { Env } from "../system/home.ts";
import { askApp } from "./doctor-app.ts";
import { type ExaminedAgent, runLiveTests } from "./doctor-live.ts";
import { findInstalledTerminals, tryOwnTerminal } from "./doctor-terminals.ts";

/** For each part: nobody waits longer. */
const partTimeoutMs = 9_500;

export async function examine(env: Env, table: readonly Agent[]): Promise<readonly Finding[]> {
  const paths = resolvePaths(env);
  const record = readInstallRecord(paths);
  const asking = askApp(paths);
  const agents = await examineAgents(env, table, paths, record);
  const parts = [
    ...agents.flatMap(({ examination }) =>
      examination.parts.map(({ link, findings }) => withTimeout(link, findings)),
    ),
    withTimeout("app", examineApp({ env, paths, agents, asking })),
    withTimeout("login", examineLogin(env, paths)),
  ];
  return (await Promise.all(parts)).flat();
}

/** The agents on this machine. If there is none, the first of the table, so that doctor says that it was not found. */
async function examineAgents(
  env: Env,
  table: readonly Agent[],
  { state }: Paths,
  record: InstallRecord | null,
): Promise<readonly ExaminedAgent[]> {
  const loaded = await Promise.all(
    table.map(async (agent) => {
      const setup = await agent.loadSetup();
      const isRecorded = record?.files.some((file) => file.agent === agent.id) === true;
      return { agent, setup, isPresent: isRecorded || setup.isPresent(env) };
    }),
  );
  const present = loaded.filter(({ isPresent }) => isPresent);
  return (present.length > 0 ? present : loaded.slice(0, 1)).map(({ agent, setup }) => {
    const examination = setup.examine({
      env,
      cwd: currentFolder(),
      exec,
      version,
      state,
      program: record?.programs[agent.id] ?? null,
      binary: record?.binary ?? null,
      readVersion: (binary) => versionOf(binary, exec),
    });
    return { agent, examination };
  });
}

async function withTimeout(link: string, part: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  const fail = (text: string): Finding[] => [
    {
      id: `${link.toLowerCase().replaceAll(" ", "-")}.late`,
      link,
      state: "fail",
      text,
      fix: "Run doctor again",
    },
  ];
  const late = Bun.sleep(partTimeoutMs).then(() =>
    fail(`could not be examined within ${partTimeoutMs / 1_000} s`),
  );
  return Promise.race([part.catch((error) => fail(`could not be examined: ${error.message}`)), late]);
}

interface AppContext {
  readonly env: Env;
  readonly paths: Paths;
  readonly agents: readonly ExaminedAgent[];
  readonly asking: ReturnType<typeof askApp>;
}

/** The app, and everything that only the app knows. */
async function examineApp({ env, paths, agents, asking }: AppContext): Promise<Finding[]> {
  const now = Date.now();
  const { answer, url, usesKitty } = await asking;
  const report = answer.kind === "up" ? answer.report : null;
  const isRunning = answer.kind !== "down";
  // Read before the live test, which may leave a line in them.
  const traces = lookForTraces(paths, answer.kind === "up", now);
  const files = lookAtFiles(paths, { isRunning, isTokenRefused: isRefused(answer) });
  const { findings: live, probe } = await runLiveTests({ env, paths, agents, report });
  const own = probe ? probe.reach : await tryOwnTerminal(env);
  return [
    ...appFindings({
      answer,
      url,
      wantedPort: Number(env.BECKON_PORT) || limits.defaultPort,
      version,
      isOff: isOff(paths),
      isInstalled: agents.some(({ examination }) => examination.isRegistered),
      env,
      log: paths.log,
    }),
    ...tracesFindings(traces),
    ...filesFindings(files),
    ...live,
    ...(report || !isRunning ? iconFindings(report, process.platform) : []),
    ...(report || !isRunning ? notificationFindings(report, (at) => formatLocalTime(at, now)) : []),
    ...terminalFindings({
      own,
      installed: findInstalledTerminals(env, usesKitty),
      hasTerminal: hasTerminal(),
    }),
  ];
}

const isRefused = (answer: Awaited<ReturnType<typeof askApp>>["answer"]): boolean =>
  answer.kind === "refused" && (answer.status === 401 || answer.status === 403);

const hasTerminal = (): boolean =>
  [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY === true);

async function examineLogin(env: Env, paths: Paths): Promise<Finding[]> {
  const login = await openLogin({ env, folder: paths.helpers });
  return loginFindings({ item: (await login?.state()) ?? null, isOff: isOff(paths) });
}
