/** What an uninstall does, one thing after the other. Each may throw; none stands in another's way. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { scopes, settingsPath } from "../agents/claude/setup/scope.ts";
import { limits } from "../core/limits.ts";
import { readHookCommand } from "../settings-file/hook-command.ts";
import { listOwnHooks } from "../settings-file/hooks.ts";
import { isShared } from "../setup/purge.ts";
import type { InstalledFile, InstallRecord } from "../setup/record.ts";
import { planRemoval, removeProgram } from "../setup/remove-program.ts";
import { planUnregister, type Unregistered, unregister } from "../setup/unregister.ts";
import { errorCode, ignoreErrors, readSmallFile, removeEmptyFolders, removeTree } from "../storage/files.ts";
import { markOff } from "../storage/off-marker.ts";
import type { Paths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { type Env, homeOf } from "../system/home.ts";
import { isAtLogin, takeLoginAway } from "./install-login.ts";
import { stopRunning } from "./stop.ts";

export interface Uninstalling {
  readonly places: Paths;
  readonly env: Env;
  readonly installed: InstallRecord | null;
  readonly isDryRun: boolean;
  /** false: BECKON_HOME names a folder in which beckon never was, and what has the name of a file of ours is not ours. */
  readonly isBeckons: boolean;
  /** Settings files that could not be changed: what is known of them must stay known. */
  readonly stuck: Set<string>;
  readonly say: (line: string) => void;
  readonly fail: (line: string) => void;
}

type Step = (work: Uninstalling) => Promise<void>;

async function stopApp({ places, isDryRun, isBeckons, say }: Uninstalling): Promise<void> {
  if (!isBeckons) return;
  if (isDryRun) {
    if (readEndpoint(places)) say("Would stop beckon.");
    return;
  }
  // A session that starts before its hooks are gone must not start it again.
  if (existsSync(places.state)) ignoreErrors(() => markOff(places, "beckon --uninstall"));
  const done = await stopRunning(places);
  if (done === "stopped") say("Stopped beckon.");
  else if (done !== "not running") throw new Error(done);
}

const words: Readonly<Record<Exclude<Unregistered, "nothing">, readonly [done: string, ahead: string]>> = {
  "as before": ["%s is as it was before.", "Would put %s back as it was before."],
  removed: ["Removed %s, which was made for the hooks.", "Would remove %s, which was made for the hooks."],
  entries: [
    "Took beckon's hooks out of %s, and left the rest of it.",
    "Would take beckon's hooks out of %s, and leave the rest of it.",
  ],
};

async function takeHooksOut(work: Uninstalling): Promise<void> {
  const { env, places, installed, isDryRun, say } = work;
  const home = homeOf(env);
  const others = new Set<string>();
  for (const [path, entry] of settingsFiles(installed, env)) {
    const named = homesNamedIn(path);
    try {
      const { how, backup } = isDryRun
        ? { how: await planUnregister(path, home, entry), backup: null }
        : await unregister(path, entry, places, { home });
      if (how === "nothing") continue;
      say(words[how][isDryRun ? 1 : 0].replace("%s", () => path));
      if (backup) say(`  The file as it was: ${backup}`);
      for (const one of named) if (one !== places.state && existsSync(one)) others.add(one);
    } catch (error) {
      // A file that never was ours may be as broken as it likes.
      if (!entry && !mentionsUs(path)) continue;
      work.stuck.add(path);
      work.fail(`the hooks are still in ${path}: ${(error as Error).message}`);
    }
  }
  for (const one of others) {
    say(
      `Those hooks were of the beckon in ${one}, which stays. To remove it: BECKON_HOME='${one}' beckon --uninstall`,
    );
  }
  // Two files may have shared a folder that was made for the first.
  if (isDryRun) return;
  for (const { path, madeFolder } of installed?.files ?? []) removeEmptyFolders(dirname(path), madeFolder);
}

/** Those that the installer wrote, and where hooks can have been put by hand. */
function settingsFiles(installed: InstallRecord | null, env: Env): Map<string, InstalledFile | null> {
  const here = scopes.map((scope): [string, null] => [settingsPath(scope, env, process.cwd()), null]);
  const recorded = (installed?.files ?? []).map((file): [string, InstalledFile] => [file.path, file]);
  return new Map<string, InstalledFile | null>([...here, ...recorded]);
}

const mentionsUs = (path: string): boolean => textOf(path).includes("beckon");

/** Each BECKON_HOME that a hook of ours there was installed with. */
function homesNamedIn(path: string): string[] {
  try {
    return listOwnHooks(textOf(path)).flatMap(({ command }) => readHookCommand(command)?.home ?? []);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readSmallFile(path, limits.maxAgentSettingsBytes);
  } catch {
    return "";
  }
}

async function leaveLogin({ isDryRun, env, places, say }: Uninstalling): Promise<void> {
  if (!isDryRun) {
    const done = await takeLoginAway(env, places);
    if (done) say(`${done}.`);
  } else if (await isAtLogin(env, places)) {
    say("Would keep beckon from starting when you log in.");
  }
}

async function removeBinary({ installed, stuck, isDryRun, say }: Uninstalling): Promise<void> {
  const plan = await planRemoval(installed, exec);
  if (!plan) return;
  // With what else would the person try again?
  if (stuck.size > 0) return say(`${plan.binary} stays until the hooks that call it are gone.`);
  if (plan.staysAs) return say(`${plan.binary} stays: ${plan.staysAs}.`);
  if (!isDryRun) removeProgram(plan, installed?.copy?.madeFolder ?? null);
  say(`${isDryRun ? "Would remove" : "Removed"} ${plan.binary}.`);
}

async function removeRegistry({ isDryRun }: Uninstalling): Promise<void> {
  if (process.platform !== "win32" || isDryRun) return;
  const [{ removeRegistryKeys }, { registryKeys }] = await Promise.all([
    import("../desktop/windows/registry.ts"),
    import("../desktop/windows/toast.ts"),
  ]);
  removeRegistryKeys(registryKeys);
}

async function removeOwnFiles({
  places,
  env,
  stuck,
  isDryRun,
  isBeckons,
  fail,
}: Uninstalling): Promise<void> {
  if (isDryRun || !isBeckons || !existsSync(places.state)) return;
  const { helpers, off, launching } = places;
  const folders = env.BECKON_HOME && isShared(places) ? [] : [helpers];
  for (const path of [...folders, off, launching, ...(stuck.size > 0 ? [] : [places.installed])]) {
    try {
      removeTree(path);
    } catch (error) {
      fail(`${path} cannot be removed (${errorCode(error)})`);
    }
  }
}

/** Once nothing of ours, no lock either, is in them. */
export function leaveFolders({ places, installed, isDryRun, isBeckons }: Uninstalling): void {
  if (isDryRun || !isBeckons) return;
  removeEmptyFolders(places.backups, places.backups);
  removeEmptyFolders(places.state, installed?.madeFolder ?? places.state);
}

export const steps: readonly Step[] = [
  stopApp,
  takeHooksOut,
  leaveLogin,
  removeBinary,
  removeRegistry,
  removeOwnFiles,
];
