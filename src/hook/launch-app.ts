/** A session starts, and beckon is down: its hook starts it, where the person has a desktop and has not quit it. */
import { closeSync, existsSync, lstatSync, openSync, rmSync, statSync } from "node:fs";
import { listVariables } from "../agents/index.ts";
import { limits } from "../core/limits.ts";
import { errorCode, ignoreErrors, readSmallFile } from "../storage/files.ts";
import { isOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { appEnvironment, localDisplay } from "../system/app-environment.ts";
import { readEndpoint } from "../system/endpoint.ts";
import type { Env } from "../system/folders.ts";
import { isCompiled, startDetached } from "../system/launch.ts";
import { findAgentProcess, type Sender } from "./meta.ts";

/** Until then whoever marked it is believed to be starting it. */
const launchingMs = 15_000;

export interface Wake {
  readonly agent: Sender;
  readonly places: Paths;
  /** The address that refused; null: none is known. */
  readonly refused: string | null;
}

/** What went wrong, for the log; null also where it should not be started. The app's own lock has the last word. */
export async function launchApp({ agent, places, refused }: Wake): Promise<string | null> {
  const own = process.env;
  if (!isCompiled() || agent.forwarding?.isAttended(own) === false) return null;
  if (!isWelcome(own, process.getuid?.() ?? null)) return null;
  const env = environmentFor(own, await environmentOf(agent.id), places);
  if (!hasScreen(env) || !isOursToStart(own, env, places)) return null;
  if (isOff(places) || !wantsIt(resolvePaths(env).config) || !claim(places.launchMarker)) return null;
  // One that came up meanwhile wrote its address before it took the mark away.
  const found = readEndpoint(places);
  if (found && found.url !== refused) {
    ignoreErrors(() => rmSync(places.launchMarker, { force: true }));
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
export function isWelcome(env: Env, uid: number | null): boolean {
  if (env.BECKON_URL) return false;
  if (env.CI && env.CI !== "false" && env.CI !== "0") return false;
  if (env.SSH_CONNECTION || env.SSH_CLIENT || env.SSH_TTY) return false;
  if (uid !== null && env.SUDO_UID && env.SUDO_UID !== String(uid)) return false;
  if (env.DOAS_USER || env.PKEXEC_UID) return false;
  if ((env.WSL_DISTRO_NAME || env.WSL_INTEROP) && !existsSync("/mnt/wslg")) return false;
  return true;
}

/** Of an agent that was started on Linux: as the person started it, without what its settings have set since. */
async function environmentOf(agent: string): Promise<Env | null> {
  if (process.platform !== "linux") return null;
  const found = await findAgentProcess(agent);
  if (found === null) return null;
  const text = await Bun.file(`/proc/${found.pid}/environ`)
    .text()
    .catch(() => "");
  const env = Object.fromEntries(
    text.split("\0").flatMap((entry) => {
      const end = entry.indexOf("=");
      return end > 0 ? [[entry.slice(0, end), entry.slice(end + 1)]] : [];
    }),
  );
  return env.HOME && env.PATH ? env : null;
}

/** BECKON_HOME may stand in the hook's own command; the app has another current folder. */
function environmentFor(own: Env, agents: Env | null, { state }: Paths): Record<string, string> {
  const { BECKON_HOME, BECKON_PORT } = own;
  return appEnvironment(
    { ...(agents ?? own), BECKON_HOME: BECKON_HOME && state, BECKON_PORT },
    listVariables(),
  );
}

/** A tmux that outlived its desktop still has its variables; a session bus alone is on every server. */
export function hasScreen(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === "win32" || platform === "darwin") return true;
  const folder = env.XDG_RUNTIME_DIR;
  const me = process.getuid?.();
  if (folder && existsSync(folder) && statSync(folder).uid !== me) return false;
  const x11 = localDisplay(env.DISPLAY ?? "");
  if (x11 !== null && existsSync(`/tmp/.X11-unix/X${x11}`)) return true;
  const wayland = env.WAYLAND_DISPLAY;
  return Boolean(wayland && existsSync(wayland.startsWith("/") ? wayland : `${folder}/${wayland}`));
}

/** Where the app would look for this event; and no new folder because some project's settings name one. */
function isOursToStart(own: Env, env: Env, places: Paths): boolean {
  if (resolvePaths(env).state !== places.state) return false;
  return !own.BECKON_HOME || existsSync(places.authHeader) || existsSync(places.installed);
}

function wantsIt(config: string): boolean {
  try {
    const value: unknown = JSON.parse(readSmallFile(config, limits.maxSmallFileBytes));
    return (value as { autoLaunch?: unknown } | null)?.autoLaunch !== false;
  } catch {
    return true;
  }
}

/** True for one of all hooks that try at once. */
function claim(path: string): boolean {
  for (const isLastTry of [false, true]) {
    try {
      closeSync(openSync(path, "wx", 0o600));
      return true;
    } catch (error) {
      if (isLastTry || errorCode(error) !== "EEXIST") return false;
    }
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found && Math.abs(Date.now() - found.mtimeMs) < launchingMs) return false;
    ignoreErrors(() => rmSync(path, { force: true }));
  }
  return false;
}
