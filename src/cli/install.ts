/** `beckon --install`: everything set up in one command. */

import { version } from "../../package.json";
import { listVariables } from "../agents/index.ts";
import { hasScreen } from "../hook/launch-app.ts";
import { findProgram } from "../setup/find-program.ts";
import {
  type InstallDone,
  type InstallOptions,
  install as installHooks,
  planInstall,
} from "../setup/install.ts";
import { isSameContent } from "../setup/same-file.ts";
import { resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { homeOf } from "../system/home.ts";
import { launchDetached } from "../system/launch.ts";
import { readInstallArgs } from "./install-args.ts";
import { type ArrangeOptions, arrangeLogin, foreseeLogin } from "./install-login.ts";
import { aboutBinary, aboutClaude, aboutHooks, ahead, callable, nextSteps } from "./install-words.ts";
import { print, printLines } from "./output.ts";

export async function install(args: string[]): Promise<number> {
  const { isDryRun, scope, login } = readInstallArgs(args);
  const { env } = process;
  const program = await findProgram(Bun.main, process.execPath, exec);
  const options: InstallOptions = {
    paths: resolvePaths(),
    env,
    cwd: process.cwd(),
    scope,
    exec,
    program,
    version,
  };
  const asked = { login, usual: hasScreen(env) };
  if (isDryRun) {
    await lookAhead(options, asked);
    return 0;
  }
  const done = await installHooks(options);
  const arranged = await arrangeLogin({ ...options, ...asked, binary: done.binary.binary });
  const call = callable(done.binary.binary, env, homeOf(env));
  const running = await startOne(done, options, { login, name: call.name });
  const isNew = done.isChanged || done.binary.do === "copy" || arranged.isChanged || running.isStarted;
  say([
    ...(isNew ? [] : ["Everything is in place already."]),
    ...aboutClaude(done),
    ...aboutBinary(done.binary, version),
    ...(done.isChanged
      ? aboutHooks(done, done.backup)
      : [`${done.hooks} hooks are registered in ${done.path}.`]),
    ...arranged.says,
    ...running.says,
    ...notes(done.warnings, call.hint),
    ...(isNew ? nextSteps(call.name) : []),
  ]);
  return arranged.isFailed ? 1 : 0;
}

type LoginWanted = Pick<ArrangeOptions, "login" | "usual">;

async function lookAhead(options: InstallOptions, asked: LoginWanted): Promise<void> {
  const plan = await planInstall(options);
  say([
    "Nothing is changed: this is what beckon --install would do.",
    ...aboutClaude(plan),
    ...ahead(plan, version),
  ]);
  const { createDiff } = await import("../settings-file/diff.ts");
  print(
    createDiff(plan.before ?? "", plan.after)
      .map((line) => `${line}\n`)
      .join(""),
  );
  const { binary } = plan.binary;
  say([
    ...(await foreseeLogin({ ...options, ...asked, binary })),
    ...foreseeStart(options, asked),
    ...notes(plan.warnings, null),
  ]);
}

function foreseeStart({ env, paths: places }: InstallOptions, { login, usual }: LoginWanted): string[] {
  const found = readEndpoint(places);
  if (found) return [`beckon is running (pid ${found.pid}).`];
  if (!hasScreen(env)) return [login === null ? noDesktop : "No desktop here: beckon would not be started."];
  return (login ?? usual) ? ["Would start beckon."] : ["Would not start beckon."];
}

const noDesktop = "No desktop here: beckon is not started, and gets no login item (--login adds one).";

/** One that runs goes on; where there is a screen, one is started. */
async function startOne(
  { binary }: InstallDone,
  { env, paths: places }: InstallOptions,
  { login, name }: { readonly login: boolean | null; readonly name: string },
): Promise<{ readonly says: readonly string[]; readonly isStarted: boolean }> {
  const found = readEndpoint(places);
  if (found) {
    const isOther = isOtherProgram(found.pid, binary.binary, binary.do === "copy");
    const says = isOther
      ? [
          `The beckon that runs now (pid ${found.pid}) is another build. To change over: ${name} stop && ${name} start`,
        ]
      : [`beckon is running (pid ${found.pid}).`];
    return { says, isStarted: false };
  }
  if (login === false || !hasScreen(env)) {
    const why = login === null ? noDesktop : "beckon is not running.";
    return { says: [`${why} Start it with: ${name} start`], isStarted: false };
  }
  const isStarted = await launchDetached(binary.binary, env, { agents: listVariables() });
  const says = isStarted
    ? ["beckon is started. Look for its icon in your panel."]
    : [`beckon could not be started. Try it yourself: ${name}. Its log: ${places.log}`];
  return { says, isStarted };
}

/** Only Linux tells which file a process runs from. */
function isOtherProgram(pid: number, binary: string, isCopied: boolean): boolean {
  return process.platform === "linux" ? !isSameContent(`/proc/${pid}/exe`, binary) : isCopied;
}

const notes = (warnings: readonly string[], hint: string | null): string[] =>
  [...warnings, ...(hint ? [hint] : [])].map((text) => `Note: ${text}`);

/** In a stranger's project the names of folders and plugins are a stranger's text. */
const say = printLines;
