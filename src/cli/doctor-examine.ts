/** Looks at every link at once, each with a limit of its own: doctor never hangs on what it examines. */
import { version } from "../../package.json";
import { hooksFor, hookTable, isAtLeast } from "../agents/claude/hooks.ts";
import { claudeFindings } from "../agents/claude/setup/doctor.ts";
import { findClaude } from "../agents/claude/setup/find.ts";
import { enabledPlugin } from "../agents/claude/setup/warnings.ts";
import type { Finding, Link } from "../agents/finding.ts";
import { limits } from "../core/limits.ts";
import { openLogin } from "../desktop/login/index.ts";
import { appFindings } from "../setup/doctor/app.ts";
import { filesFindings, lookAtFiles } from "../setup/doctor/files.ts";
import { hooksFindings, type SettingsFacts } from "../setup/doctor/hooks.ts";
import { iconFindings } from "../setup/doctor/icon.ts";
import { liveFindings } from "../setup/doctor/live-findings.ts";
import { loginFindings } from "../setup/doctor/login.ts";
import { notificationFindings } from "../setup/doctor/notifications.ts";
import { lookAtCalled, lookAtSettings } from "../setup/doctor/settings-files.ts";
import { terminalFindings } from "../setup/doctor/terminals.ts";
import { lookForTraces, tracesFindings } from "../setup/doctor/traces.ts";
import { versionOf } from "../setup/find-program.ts";
import { type InstallRecord, readInstallRecord } from "../setup/record.ts";
import { isOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { exec } from "../system/exec.ts";
import type { Env } from "../system/home.ts";
import { currentFolder } from "./current-folder.ts";
import { askApp } from "./doctor-app.ts";
import { tryHook } from "./doctor-live.ts";
import { findInstalledTerminals, tryOwnTerminal } from "./doctor-terminals.ts";

/** For each part; a person will not wait longer. */
const partMs = 9_500;
const claudeMs = 4_000;
/** From here on a name that the CLI does not know costs its own hook only. */
const tolerantSince = "2.1.101";

export async function examine(env: Env): Promise<readonly Finding[]> {
  const places = resolvePaths(env);
  const cwd = currentFolder();
  const installed = readInstallRecord(places);
  const settings = lookAtSettings(env, cwd);
  const plugin = enabledPlugin(env, cwd);
  // Before the test, which may leave a line in them.
  const asking = askApp(places);
  const finding = findVersion(env, installed);
  const parts = [
    inTime("Claude Code", finding.then(claudeFindings)),
    inTime("hooks", aboutHooks({ env, places, plugin, settings, finding })),
    inTime("app", aboutApp({ env, places, plugin, settings, installed, asking })),
    inTime("login", aboutLogin(env, places)),
  ];
  return (await Promise.all(parts)).flat();
}

async function inTime(link: Link, part: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  const failed = (text: string): Finding[] => [
    {
      id: `${link.toLowerCase().replaceAll(" ", "-")}.late`,
      link,
      state: "fail",
      text,
      fix: "Run doctor again",
    },
  ];
  const late = Bun.sleep(partMs).then(() => failed(`could not be examined within ${partMs / 1_000} s`));
  return Promise.race([part.catch((error) => failed(`could not be examined: ${error.message}`)), late]);
}

type Version = { readonly path: string | null; readonly version: string | null };

async function findVersion(env: Env, installed: InstallRecord | null): Promise<Version> {
  const looking = findClaude({ env, exec, remembered: installed?.claude ?? null, timeoutMs: claudeMs });
  const found = await Promise.race([looking, Bun.sleep(claudeMs * 1.5).then(() => null)]);
  if (found?.claude) return found.claude;
  return { path: found?.silent[0] ?? null, version: null };
}

interface HooksGiven {
  readonly env: Env;
  readonly places: Paths;
  readonly plugin: string | null;
  readonly settings: readonly SettingsFacts[];
  readonly finding: Promise<Version>;
}

async function aboutHooks({ env, places, plugin, settings, finding }: HooksGiven): Promise<Finding[]> {
  const [found, called] = await Promise.all([
    finding,
    lookAtCalled(settings, env, (binary) => versionOf(binary, exec)),
  ]);
  return hooksFindings({
    files: settings,
    called,
    plugin,
    wanted: hooksFor(found.version),
    isStrict: !isAtLeast(found.version ?? hookTable.assumedVersion, tolerantSince),
    version,
    state: places.state,
  });
}

interface AppGiven {
  readonly env: Env;
  readonly places: Paths;
  readonly plugin: string | null;
  readonly settings: readonly SettingsFacts[];
  readonly installed: InstallRecord | null;
  readonly asking: ReturnType<typeof askApp>;
}

/** The app, and all that only it can tell. */
async function aboutApp({ env, places, plugin, settings, installed, asking }: AppGiven): Promise<Finding[]> {
  const now = Date.now();
  const { answer, url, usesKitty } = await asking;
  const report = answer.kind === "up" ? answer.report : null;
  const isRunning = answer.kind !== "down";
  // Looked at before the test, which may leave a line in them.
  const traces = lookForTraces(places, answer.kind === "up", now);
  const files = lookAtFiles(places, { isRunning, isTokenRefused: isRefused(answer) });
  const { facts, probe } = await tryHook({ env, places, plugin, settings, installed, report });
  const own = probe ? probe.reach : await tryOwnTerminal(env);
  return [
    ...appFindings({
      answer,
      url,
      wantedPort: Number(env.BECKON_PORT) || limits.defaultPort,
      version,
      isOff: isOff(places),
      isInstalled: plugin !== null || isInstalled(settings),
      env,
      log: places.log,
    }),
    ...tracesFindings(traces),
    ...filesFindings(files),
    ...liveFindings(facts),
    ...(report || !isRunning ? iconFindings(report, process.platform) : []),
    ...(report || !isRunning ? notificationFindings(report, (at) => formatLocalTime(at, now)) : []),
    ...terminalFindings({
      own,
      installed: findInstalledTerminals(env, usesKitty),
      hasTerminal: hasTerminal(),
    }),
  ];
}

/** Where a file cannot be read, doctor says so, and not "install". */
const isInstalled = (settings: readonly SettingsFacts[]): boolean =>
  settings.some(({ scope, own, problem }) => own.length > 0 || (scope === "user" && problem !== null));

const isRefused = (answer: Awaited<ReturnType<typeof askApp>>["answer"]): boolean =>
  answer.kind === "refused" && (answer.status === 401 || answer.status === 403);

const hasTerminal = (): boolean =>
  [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY === true);

async function aboutLogin(env: Env, places: Paths): Promise<Finding[]> {
  const login = await openLogin({ env, folder: places.helpers });
  return loginFindings({ item: (await login?.state()) ?? null, isOff: isOff(places) });
}
