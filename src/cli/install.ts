/** `beckon --install`: sets everything up in one command. */
import { delimiter, dirname } from "node:path";
import { version } from "../../package.json";
import type { Agent, Scope } from "../agents/agent.ts";
import { listVariables } from "../agents/index.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { formatCount } from "../core/text/words.ts";
import { hasScreen } from "../hook/launch-app.ts";
import { type BinaryPlan, findProgram, isSameContent } from "../setup/binary.ts";
import { updateGuardHooks } from "../setup/guard-hooks.ts";
import {
  type AgentPlan,
  type AgentResult,
  type InstallOptions,
  type InstallResult,
  install as installHooks,
  planInstall,
} from "../setup/install.ts";
import { claimFolders } from "../setup/known-folders.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { type Env, homeOf } from "../system/folders.ts";
import { launchDetached } from "../system/launch.ts";
import { waitUntil } from "../system/schedule.ts";
import { parseArguments, usageError } from "./args.ts";
import { installCommand } from "./commands/setup.ts";
import { describeHeadlessStart, type LoginItemOptions, planLogin, setUpLogin } from "./login-item.ts";
import { print, printLines, stripControls } from "./output.ts";
import { restartApp } from "./restart.ts";
import { readSelection } from "./setup-args.ts";

export async function install(args: string[], table: readonly Agent[]): Promise<number> {
  const { flags, values } = parseArguments(args, installCommand);
  const { scope, selected } = readSelection(values, table);
  const { env } = process;
  const isStartWanted = !flags.has("--no-start");
  const login = { wanted: readLogin(flags), isDefault: isStartWanted && hasScreen(env) };
  const options: InstallOptions = {
    agents: table,
    selected,
    paths: resolvePaths(),
    env,
    cwd: process.cwd(),
    scope: scope ?? "user",
    statusLine: readStatusLine(flags, scope),
    exec,
    program: await findProgram(Bun.main, process.execPath, exec),
    isPlaced: flags.has("--placed"),
    version,
  };
  if (flags.has("--dry-run")) {
    await printPlan(options, login, flags.has("--diff"));
    return 0;
  }
  if (flags.has("--diff")) throw usageError("--diff goes with --dry-run");
  const unclaimed = await claimFolders(env, listVariables(table));
  const result = await installHooks(options, (plan) => printLines(listConnections(plan.agents)));
  const { binary } = result;
  const loginResult = await setUpLogin({ ...options, ...login, binary: binary.binary });
  const program = findProgramName(binary.binary, env, homeOf(env));
  const started = isStartWanted
    ? await startApp(result, options, {
        login: login.wanted,
        hasLoginItem: !loginResult.isFailed,
        isStarting: process.platform === "darwin" && loginResult.isChanged && !loginResult.isFailed,
        name: program.name,
      })
    : { lines: [], isStarted: false };
  const guard = await updateGuardHooks({
    ...options,
    config: readConfigFile(options.paths.config).config.workGuard,
  });
  const isRegistered = result.agents.some(({ isChanged }) => isChanged);
  const isNew = isRegistered || binary.do === "copy" || loginResult.isChanged || started.isStarted;
  printLines([
    ...(isNew ? [] : ["Everything is in place already."]),
    ...result.agents.flatMap(describeProgram),
    ...describeBinary(binary),
    ...result.agents.flatMap(describeRegistration),
    ...guard.changes,
    ...loginResult.lines,
    ...started.lines,
    ...formatNotes(
      [...result.warnings, ...guard.problems, ...(unclaimed === null ? [] : [unclaimed])],
      program.hint,
    ),
    ...(isNew ? listNextSteps(program.name) : []),
  ]);
  return loginResult.isFailed ? 1 : 0;
}

/** Null if neither --login nor --no-login was given. */
function readLogin(flags: ReadonlySet<string>): boolean | null {
  const [isOn, isOff] = [flags.has("--login"), flags.has("--no-login")];
  if (isOn && isOff) throw usageError("--login and --no-login exclude each other");
  return isOn || isOff ? isOn : null;
}

/** undefined if neither --statusline nor --no-statusline was given. */
function readStatusLine(flags: ReadonlySet<string>, scope: Scope | null): boolean | undefined {
  const [isOn, isOff] = [flags.has("--statusline"), flags.has("--no-statusline")];
  if (isOn && isOff) throw usageError("--statusline and --no-statusline exclude each other");
  if (isOn && scope === "project")
    throw usageError("--statusline is for you alone: it excludes --scope project");
  if (isOn && process.platform === "win32") throw usageError("--statusline does not work on Windows yet");
  return isOn || isOff ? isOn : undefined;
}

type LoginChoice = Pick<LoginItemOptions, "wanted" | "isDefault">;

/** --dry-run: what would happen, and every changed line only on request, because those are hundreds. */
async function printPlan(options: InstallOptions, login: LoginChoice, showsDiff: boolean): Promise<void> {
  const plan = await planInstall(options);
  const { binary } = plan.binary;
  printLines([
    "This is what beckon --install would do. Nothing has been changed.",
    ...listConnections(plan.agents),
    ...plan.agents.flatMap(describeProgram),
    ...(plan.binary.do === "copy"
      ? [`Would copy beckon ${version} to ${binary}.`]
      : describeBinary(plan.binary)),
    ...plan.agents.map(planRegistration),
    ...(await planLogin({ ...options, ...login, binary })),
    await planStart(options, login),
    ...formatNotes(plan.warnings, null),
  ]);
  const changed = plan.agents.filter(({ before, after }) => after !== before);
  if (changed.length === 0) return;
  if (!showsDiff) {
    printLines(["", "To see every line that would change: beckon --install --dry-run --diff"]);
    return;
  }
  const { createDiff } = await import("../user-files/diff.ts");
  for (const { path, before, after } of changed) {
    printLines(["", `${path}:`]);
    const lines = createDiff(before ?? "", after);
    // The file can be a project's. Its tabs stay: they are what the user compares.
    const safe = lines.map((line) => line.split("\t").map(stripControls).join("\t"));
    print(safe.map((line) => `${line}\n`).join(""));
  }
}

async function planStart(
  { env, paths }: InstallOptions,
  { wanted, isDefault }: LoginChoice,
): Promise<string> {
  const running = readEndpoint(paths);
  if (running) return `beckon is running (pid ${running.pid}).`;
  if (!hasScreen(env))
    return wanted === null
      ? describeHeadlessStart(env, paths, "beckon")
      : "Would not start beckon: there is no desktop here.";
  return (wanted ?? isDefault) ? "Would start beckon." : "Would not start beckon.";
}

interface StartedApp {
  readonly lines: readonly string[];
  readonly isStarted: boolean;
}

/** Starts the app if there is a screen and it is not running. One of another build is restarted. */
async function startApp(
  { binary }: InstallResult,
  { env, paths, agents: table }: InstallOptions,
  {
    login,
    hasLoginItem,
    isStarting,
    name,
  }: {
    readonly login: boolean | null;
    readonly hasLoginItem: boolean;
    /** launchd starts it as soon as it is registered. A second one would only find out that it is. */
    readonly isStarting: boolean;
    readonly name: string;
  },
): Promise<StartedApp> {
  const running = readEndpoint(paths);
  if (running) {
    const { pid } = running;
    if (isOtherProgram(running, binary.binary, binary.do === "copy"))
      return replaceRunning(pid, binary.binary, paths, table);
    return { lines: [`beckon is running (pid ${pid}).`], isStarted: false };
  }
  if (login === false || !hasScreen(env)) {
    if (login === true && hasLoginItem && (await waitForApp(paths)))
      return {
        lines: ["beckon is running now. For alerts on your phone: beckon channel add phone"],
        isStarted: true,
      };
    const line =
      login === null
        ? await describeHeadlessStart(env, paths, name)
        : `beckon is not running. Start it with: ${name} start`;
    return { lines: [line], isStarted: false };
  }
  const isStarted =
    (isStarting && (await waitForApp(paths))) ||
    (await launchDetached(binary.binary, env, { agents: listVariables(table) }));
  const line = isStarted
    ? "beckon is running now. Look for its icon in your panel or menu bar."
    : `beckon could not be started. To see why, run: ${name}. Its log: ${paths.log}`;
  return { lines: [line], isStarted };
}

/** The app that runs is another build. Requests that wait in it stay answerable. */
async function replaceRunning(
  before: number,
  binary: string,
  paths: Paths,
  table: readonly Agent[],
): Promise<StartedApp> {
  try {
    const { pid } = await restartApp(paths, table, { command: [binary] });
    return { lines: [`beckon was restarted with this version (pid ${pid}).`], isStarted: true };
  } catch (error) {
    const why = endSentence(readErrorMessage(error));
    return { lines: [`Another build of beckon (pid ${before}) was running: ${why}`], isStarted: false };
  }
}

const serviceStartMs = 5_000;

/** A service that was started a moment ago listens soon, or not at all. */
const waitForApp = (paths: Paths): Promise<boolean> =>
  waitUntil(() => readEndpoint(paths) !== null, { atMostMs: serviceStartMs, everyMs: 50 });

/** Only Linux shows which file a process runs from. */
function isOtherProgram(running: Endpoint, binary: string, isCopied: boolean): boolean {
  if (process.platform === "linux") return !isSameContent(`/proc/${running.pid}/exe`, binary);
  return isCopied || running.version !== version;
}

const describeProgram = ({ setup, search, version: found }: AgentPlan): readonly string[] =>
  setup.describeProgram(search, found);

function describeBinary(plan: BinaryPlan): string[] {
  switch (plan.do) {
    case "keep":
      return [];
    case "copy": {
      const instead = plan.replaces && plan.replaces !== version ? `, in place of ${plan.replaces}` : "";
      return [`Copied beckon ${version} to ${plan.binary}${instead}.`];
    }
    case "leave": {
      const { name, update } = plan.owner;
      return [`${name} installed beckon, so it stays where it is. To update it: ${update}`];
    }
    case "stay":
      return [
        `${endSentence(plan.why)} So the hooks call ${plan.binary}. Keep it there, or run this again after you move it.`,
      ];
  }
}

function describeRegistration({ path, before, backup, isChanged, registration }: AgentResult): string[] {
  const { count, noun } = registration;
  const entries = formatCount(count, noun);
  if (!isChanged) return [`${entries} ${count === 1 ? "is" : "are"} registered in ${path}.`];
  if (before === null) return [`Registered ${entries} in ${path} (a new file).`];
  return [`Registered ${entries} in ${path}.`, ...(backup ? [`  Backup of the file: ${backup}`] : [])];
}

/** What will be changed, if there is more than one agent. */
function listConnections(agents: readonly AgentPlan[]): string[] {
  if (agents.length < 2) return [];
  return [
    `This connects ${formatCount(agents.length, "agent")}:`,
    ...agents.map(({ agent, path, before, after, registration: { count, noun } }) => {
      const entries = formatCount(count, noun);
      return `  ${agent.name}: ${entries} in ${path}${after === before ? " (already there)" : ""}`;
    }),
    "",
  ];
}

function planRegistration({ path, before, after, registration }: AgentPlan): string {
  const { count, noun } = registration;
  const entries = formatCount(count, noun);
  return after === before
    ? `${entries} ${count === 1 ? "is" : "are"} already registered in ${path}.`
    : `Would register ${entries} in ${path}${before === null ? " (a new file)" : ""}.`;
}

interface ProgramName {
  /** What the user types. */
  readonly name: string;
  /** How to make it shorter. Null if it is just "beckon". */
  readonly hint: string | null;
}

function findProgramName(binary: string, env: Env, home: string): ProgramName {
  const folder = dirname(binary);
  if ((env.PATH ?? env.Path ?? "").split(delimiter).includes(folder)) return { name: "beckon", hint: null };
  const name = /[^\w./:\\-]/.test(binary) ? `"${binary}"` : binary;
  if (process.platform === "win32")
    return { name, hint: `To type just "beckon", add ${folder} to your Path.` };
  const shown = folder.startsWith(`${home}/`) ? folder.replace(home, "$HOME") : folder;
  const line = `export PATH="${shown}:$PATH"`;
  return { name, hint: `To type just "beckon", add this line to your shell's profile: ${line}` };
}

const formatNotes = (warnings: readonly string[], hint: string | null): string[] =>
  [...warnings, ...(hint ? [hint] : [])].map((text) => `Note: ${text}`);

const listNextSteps = (name: string): string[] => [
  "",
  `${name} status         lists your sessions, also those that already run`,
  `${name} doctor         tests every part`,
  `${name} --uninstall    removes all of this`,
];

const endSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
