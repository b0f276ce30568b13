/** `beckon stop`: quits the running app, and keeps hooks from starting it again. */
import { existsSync } from "node:fs";
import { errorCode } from "../storage/files.ts";
import { acquireLock } from "../storage/lock.ts";
import { markOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";
import { isAlive, readStartTime } from "../system/processes.ts";
import { waitUntil } from "../system/schedule.ts";
import { parseArguments } from "./args.ts";
import { callApi } from "./client.ts";
import { stopCommand } from "./commands/stop.ts";
import { printLines } from "./output.ts";

export async function stop(args: string[]): Promise<number> {
  parseArguments(args, stopCommand);
  const paths = resolvePaths();
  // First: a session that starts meanwhile must not start it again.
  const markError = tryMarkOff(paths);
  const outcome = await stopRunning(paths);
  if (outcome !== "stopped" && outcome !== "not running") throw new Error(outcome);
  const done = outcome === "stopped" ? "beckon is stopped" : "beckon is not running";
  if (markError) throw new Error(`${done}, but the next session may start it again: ${markError}`);
  printLines([`${done}. It stays off until you start it with: beckon start`]);
  return 0;
}

function tryMarkOff(paths: Paths): string | null {
  try {
    markOff(paths, "beckon stop");
    return null;
  } catch (error) {
    return `${paths.offMarker} cannot be written (${errorCode(error)})`;
  }
}

const maxStartMs = 10_000;
/** To save its state and withdraw its alerts. */
const maxEndMs = 5_000;
const pollMs = 25;
/** Each check takes the lock for a moment, and an app that starts in that moment would find it taken. */
const lockPollMs = 200;

/** Does not keep hooks from starting it again. Any other string says why it still runs, and what to do. */
export async function stopRunning(paths: Paths): Promise<"stopped" | "not running" | (string & {})> {
  const running = readEndpoint(paths);
  if (running) return endProcess(paths, running);
  if (isLockFree(paths)) return "not running";
  // It is starting, and will listen in a moment; or it is ending.
  const isSettled = () => readEndpoint(paths) !== null || isLockFree(paths);
  if (!(await waitUntil(isSettled, { atMostMs: maxStartMs, everyMs: lockPollMs })))
    return `another beckon holds ${paths.lock}, but does not listen. End its process`;
  const started = readEndpoint(paths);
  return started ? endProcess(paths, started) : "stopped";
}

async function endProcess(paths: Paths, { pid }: Endpoint): Promise<string> {
  const startTime = readStartTime(pid);
  const isGone = () => !isAlive(pid, startTime);
  const response = await callApi(paths, "/api/stop", { body: {} });
  const isAccepted = typeof response !== "string" && response.status === 200;
  const waitForEnd = () => waitUntil(isGone, { atMostMs: maxEndMs, everyMs: pollMs });
  if (isAccepted && (await waitForEnd())) return "stopped";
  // If the lock is free, the process with this pid is not beckon.
  if (!isGone() && isLockFree(paths)) return "not running";
  try {
    if (!isGone()) process.kill(pid, "SIGTERM");
  } catch (error) {
    if (!isGone())
      return `beckon (pid ${pid}) does not answer, and cannot be stopped by a signal (${errorCode(error)})`;
  }
  if (await waitForEnd()) return "stopped";
  return `beckon (pid ${pid}) does not stop. You can end it without losing anything: kill -9 ${pid}`;
}

function isLockFree(paths: Paths): boolean {
  if (!existsSync(paths.lock)) return true;
  const lock = acquireLock(paths);
  lock?.release();
  return lock !== null;
}
