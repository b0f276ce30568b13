/** Starts beckon when a session starts and beckon is down, if the user has a desktop here and has not quit beckon. */
import { closeSync, existsSync, lstatSync, openSync, rmSync, statSync } from "node:fs";
import { listVariables } from "../agents/index.ts";
import { limits } from "../core/limits.ts";
import { errorCode, ignoreErrors, readSmallFile } from "../storage/files.ts";
import { isOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { createAppEnvironment, parseLocalDisplay } from "../system/app-environment.ts";
import { readEndpoint } from "../system/endpoint.ts";
import type { Env } from "../system/folders.ts";
import { isCompiled } from "../system/is-compiled.ts";
import { startDetached } from "../system/launch.ts";
import { parseEnvironment } from "../system/processes.ts";
import { findAgentProcess, type Sender } from "./meta.ts";

/** For this long, the hook that wrote the launch marker is assumed to be starting beckon. */
const launchTimeoutMs = 15_000;

export interface AppLaunch {
  readonly agent: Sender;
  readonly paths: Paths;
  /** The address that refused the event. null if none is known. */
  readonly refusedUrl: string | null;
}

/** Returns what went wrong, for the log; null if nothing did, or beckon should not start. The app's own lock decides in the end. */
export async function launchApp({ agent, paths, refusedUrl }: AppLaunch): Promise<string | null> {
  const hookEnv = process.env;
  if (!isCompiled() || agent.forwarding?.isAttended(hookEnv) === false) return null;
  if (!isUserHere(hookEnv, process.getuid?.() ?? null)) return null;
  const env = createEnvironment(hookEnv, await readAgentEnvironment(agent.id), paths);
  if (!hasScreen(env) || !isSameFolder(env, paths)) return null;
  if (isOff(paths) || !isAllowed(paths.config) || !claimLaunch(paths.launchMarker)) return null;
  // A beckon that came up in the meantime wrote its address before it removed the marker.
  const endpoint = readEndpoint(paths);
  if (endpoint && endpoint.url !== refusedUrl) {
    ignoreErrors(() => rmSync(paths.launchMarker, { force: true }));
    return null;
  }
  try {
    startDetached(process.execPath, ["run", "--from-hook"], env);
    return null;
  } catch (error) {
    return `beckon could not be started (${errorCode(error)}): the event is kept in the spool`;
  }
}

/** False if the user works on another machine, or the desktop belongs to another user. */
export function isUserHere(env: Env, uid: number | null): boolean {
  if (env.BECKON_URL) return false;
  if (env.CI && env.CI !== "false" && env.CI !== "0") return false;
  if (env.SSH_CONNECTION || env.SSH_CLIENT || env.SSH_TTY) return false;
  if (uid !== null && env.SUDO_UID && env.SUDO_UID !== String(uid)) return false;
  if (env.DOAS_USER || env.PKEXEC_UID) return false;
  if ((env.WSL_DISTRO_NAME || env.WSL_INTEROP) && !existsSync("/mnt/wslg")) return false;
  return true;
}

/** As the user started the agent, without what its settings have set since. null if unknown, and on other systems than Linux. */
async function readAgentEnvironment(agent: string): Promise<Env | null> {
  if (process.platform !== "linux") return null;
  const agentProcess = await findAgentProcess(agent);
  if (agentProcess === null) return null;
  const text = await Bun.file(`/proc/${agentProcess.pid}/environ`)
    .text()
    .catch(() => "");
  const env = parseEnvironment(text);
  return env?.HOME && env.PATH ? env : null;
}

/** The hook's own command may set BECKON_HOME. It counts if the hook uses that folder, and not if only the agent has it. */
function createEnvironment(hookEnv: Env, agentEnv: Env | null, { state }: Paths): Record<string, string> {
  const isNamed = hookEnv.BECKON_HOME && resolvePaths(hookEnv).state === state;
  return createAppEnvironment(
    {
      ...(agentEnv ?? hookEnv),
      BECKON_HOME: isNamed ? state : undefined,
      BECKON_PORT: hookEnv.BECKON_PORT,
    },
    listVariables(),
  );
}

/** A tmux that outlived its desktop still has its variables, so the sockets count. Every server has a session bus: it does not. */
export function hasScreen(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === "win32" || platform === "darwin") return true;
  const folder = env.XDG_RUNTIME_DIR;
  if (folder && existsSync(folder) && statSync(folder).uid !== process.getuid?.()) return false;
  const x11 = parseLocalDisplay(env.DISPLAY ?? "");
  if (x11 !== null && existsSync(`/tmp/.X11-unix/X${x11}`)) return true;
  const wayland = env.WAYLAND_DISPLAY;
  return Boolean(wayland && existsSync(wayland.startsWith("/") ? wayland : `${folder}/${wayland}`));
}

/** The app must look for this event where the hook left it, and read the user's settings. */
function isSameFolder(env: Env, paths: Paths): boolean {
  const { state, config } = resolvePaths(env);
  return state === paths.state && config === paths.config;
}

function isAllowed(config: string): boolean {
  try {
    const value: unknown = JSON.parse(readSmallFile(config, limits.maxSmallFileBytes));
    return (value as { autoLaunch?: unknown } | null)?.autoLaunch !== false;
  } catch {
    return true;
  }
}

/** Returns true to only one of several hooks that call it at once. */
function claimLaunch(marker: string): boolean {
  for (const isLastTry of [false, true]) {
    try {
      closeSync(openSync(marker, "wx", 0o600));
      return true;
    } catch (error) {
      if (isLastTry || errorCode(error) !== "EEXIST") return false;
    }
    const stat = lstatSync(marker, { throwIfNoEntry: false });
    if (stat && Math.abs(Date.now() - stat.mtimeMs) < launchTimeoutMs) return false;
    ignoreErrors(() => rmSync(marker, { force: true }));
  }
  return false;
}
