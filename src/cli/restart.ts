/** `beckon restart`: stops the running app and starts it again, with this binary. */
import type { Agent } from "../agents/agent.ts";
import { linuxProcesses } from "../desktop/terminals/processes.ts";
import { hasScreen } from "../hook/launch-app.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";
import type { Env } from "../system/folders.ts";
import { parseArguments } from "./args.ts";
import { restartCommand } from "./commands/restart.ts";
import { print } from "./output.ts";
import { type StartOptions, startInBackground } from "./start.ts";
import { stopRunning } from "./stop.ts";

export async function restart(args: string[], table: readonly Agent[]): Promise<number> {
  parseArguments(args, restartCommand);
  const { url, pid, wasRunning } = await restartApp(resolvePaths(), table);
  const how = wasRunning ? "is running again" : "was not running, and is running now";
  print(`beckon ${how} at ${url} (pid ${pid}).\n`);
  return 0;
}

/**
 * Throws if it does not stop, or cannot be started. The user wants beckon on: so that a failed start does not keep it off, the off
 * marker is not set in between. The app that starts removes an old one.
 */
export async function restartApp(
  paths: Paths,
  table: readonly Agent[],
  options: StartOptions = {},
): Promise<Endpoint & { readonly wasRunning: boolean }> {
  const env = await findDesktop(process.env, readEndpoint(paths));
  const outcome = await stopRunning(paths);
  if (outcome !== "stopped" && outcome !== "not running") throw new Error(outcome);
  const endpoint = await startInBackground(paths, table, { env, ...options });
  return { ...endpoint, wasRunning: outcome === "stopped" };
}

const desktopNames = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "XDG_CURRENT_DESKTOP",
  "XDG_SESSION_TYPE",
] as const;

/** Over SSH for example, this command knows no desktop, but the running app may show its icon on one. */
async function findDesktop(env: Env, running: Endpoint | null): Promise<Env> {
  if (process.platform !== "linux" || hasScreen(env) || !running) return env;
  const known = await linuxProcesses.environment(running.pid);
  if (known === null || !hasScreen(known)) return env;
  return { ...env, ...Object.fromEntries(desktopNames.map((name) => [name, known[name]])) };
}
