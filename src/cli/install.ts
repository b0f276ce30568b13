/** `beckon --install`: sets everything up in one command. */
import { version } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { agents, listVariables } from "../agents/index.ts";
import { hasScreen } from "../hook/launch-app.ts";
import { findProgram } from "../setup/find-program.ts";
import {
  type InstallOptions,
  type InstallResult,
  install as installHooks,
  planInstall,
} from "../setup/install.ts";
import { isSameContent } from "../setup/same-file.ts";
import { resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { homeOf } from "../system/home.ts";
import { launchDetached } from "../system/launch.ts";
import { usageError } from "./args.ts";
import { type ArrangeOptions, arrangeLogin, foreseeLogin } from "./install-login.ts";
import {
  describeBinary,
  describeProgram,
  describeRegistration,
  findProgramName,
  listNextSteps,
  planBinaryText,
  planRegistrationText,
} from "./install-text.ts";
import { print, printLines } from "./output.ts";
import { parseSetupArguments } from "./setup-args.ts";

export async function install(args: string[], table: readonly Agent[] = agents): Promise<number> {
  const {
    flags,
    scope,
    agents: selected,
  } = parseSetupArguments(args, "--install", ["--dry-run", "--login", "--no-login"], table);
  const login = readLogin(flags);
  const { env } = process;
  const options: InstallOptions = {
    agents: table,
    selected,
    paths: resolvePaths(),
    env,
    cwd: process.cwd(),
    scope: scope ?? "user",
    exec,
    program: await findProgram(Bun.main, process.execPath, exec),
    version,
  };
  const wanted = { login, usual: hasScreen(env) };
  if (flags.has("--dry-run")) {
    await printPlan(options, wanted);
    return 0;
  }
  const result = await installHooks(options);
  const { binary } = result;
  const arranged = await arrangeLogin({ ...options, ...wanted, binary: binary.binary });
  const program = findProgramName(binary.binary, env, homeOf(env));
  const started = await startApp(result, options, { login, name: program.name });
  const isRegistered = result.agents.some(({ isChanged }) => isChanged);
  const isNew = isRegistered || binary.do === "copy" || arranged.isChanged || started.isStarted;
  // The names of a project's folders and plugins can contain anything: printLines removes control characters.
  printLines([
    ...(isNew ? [] : ["Everything is in place already."]),
    ...result.agents.flatMap(describeProgram),
    ...describeBinary(binary, version),
    ...result.agents.flatMap(describeRegistration),
    ...arranged.says,
    ...started.lines,
    ...asNotes(result.warnings, program.hint),
    ...(isNew ? listNextSteps(program.name) : []),
  ]);
  return arranged.isFailed ? 1 : 0;
}

/** null if the user did not say. */
function readLogin(flags: ReadonlySet<string>): boolean | null {
  const [isOn, isOff] = [flags.has("--login"), flags.has("--no-login")];
  if (isOn && isOff) throw usageError("--login and --no-login exclude each other");
  return isOn || isOff ? isOn : null;
}

type LoginWanted = Pick<ArrangeOptions, "login" | "usual">;

async function printPlan(options: InstallOptions, wanted: LoginWanted): Promise<void> {
  const plan = await planInstall(options);
  printLines([
    "Nothing is changed: this is what beckon --install would do.",
    ...plan.agents.flatMap(describeProgram),
    ...planBinaryText(plan.binary, version),
  ]);
  const { createDiff } = await import("../settings-file/diff.ts");
  for (const agent of plan.agents) {
    printLines([planRegistrationText(agent)]);
    const lines = createDiff(agent.before ?? "", agent.after);
    print(lines.map((line) => `${line}\n`).join(""));
  }
  const { binary } = plan.binary;
  printLines([
    ...(await foreseeLogin({ ...options, ...wanted, binary })),
    ...planStartText(options, wanted),
    ...asNotes(plan.warnings, null),
  ]);
}

function planStartText({ env, paths }: InstallOptions, { login, usual }: LoginWanted): string[] {
  const running = readEndpoint(paths);
  if (running) return [`beckon is running (pid ${running.pid}).`];
  if (!hasScreen(env)) return [login === null ? noDesktop : "No desktop here: beckon would not be started."];
  return (login ?? usual) ? ["Would start beckon."] : ["Would not start beckon."];
}

const noDesktop = "No desktop here: beckon is not started, and gets no login item (--login adds one).";

/** Starts the app if there is a screen and it is not running. */
async function startApp(
  { binary }: InstallResult,
  { env, paths, agents: table }: InstallOptions,
  { login, name }: { readonly login: boolean | null; readonly name: string },
): Promise<{ readonly lines: readonly string[]; readonly isStarted: boolean }> {
  const running = readEndpoint(paths);
  if (running) {
    const { pid } = running;
    const isOther = isOtherProgram(pid, binary.binary, binary.do === "copy");
    const line = isOther
      ? `The beckon that runs now (pid ${pid}) is another build. To change over: ${name} stop && ${name} start`
      : `beckon is running (pid ${pid}).`;
    return { lines: [line], isStarted: false };
  }
  if (login === false || !hasScreen(env)) {
    const reason = login === null ? noDesktop : "beckon is not running.";
    return { lines: [`${reason} Start it with: ${name} start`], isStarted: false };
  }
  const isStarted = await launchDetached(binary.binary, env, { agents: listVariables(table) });
  const line = isStarted
    ? "beckon is started. Look for its icon in your panel."
    : `beckon could not be started. Try it yourself: ${name}. Its log: ${paths.log}`;
  return { lines: [line], isStarted };
}

/** Only Linux shows which file a process runs from. */
function isOtherProgram(pid: number, binary: string, isCopied: boolean): boolean {
  return process.platform === "linux" ? !isSameContent(`/proc/${pid}/exe`, binary) : isCopied;
}

const asNotes = (warnings: readonly string[], hint: string | null): string[] =>
  [...warnings, ...(hint ? [hint] : [])].map((text) => `Note: ${text}`);
