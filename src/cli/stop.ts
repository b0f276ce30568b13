/** `beckon stop`: quits the running app, and keeps hooks from starting it again. */
import { existsSync } from "node:fs";
import { errorCode } from "../storage/files.ts";
import { acquireLock } from "../storage/lock.ts";
import { markOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";
import { isAlive, readStartTime } from "../system/processes.ts";
import { parseArguments } from "./args.ts";
import { callApi } from "./client.ts";
import { print } from "./output.ts";

export async function stop(args: string[]): Promise<number> {
  parseArguments(args, { command: "stop" });
  const places = resolvePaths();
  // First: a session that starts meanwhile must not start it again.
  const failed = leaveOff(places);
  const done = await stopRunning(places);
  if (done !== "stopped" && done !== "not running") throw new Error(done);
  const what = done === "stopped" ? "beckon is stopped" : "beckon is not running";
  if (failed) throw new Error(`${what}, but the next session may start it again: ${failed}`);
  print(`${what}. Sessions do not start it until you do, with: beckon start\n`);
  return 0;
}

function leaveOff(places: Paths): string | null {
  try {
    markOff(places, "beckon stop");
    return null;
  } catch (error) {
    return `${places.off} cannot be written (${errorCode(error)})`;
  }
}

const startingMs = 10_000;
/** It saves its state, and takes its alerts off the screen. */
const endingMs = 5_000;
const lookMs = 25;
const startingLookMs = 200;

/** Without the mark that keeps hooks from starting it again. A text: why it still runs, and what to do. */
export async function stopRunning(places: Paths): Promise<"stopped" | "not running" | (string & {})> {
  const running = readEndpoint(places);
  if (running) return end(places, running);
  if (isFree(places)) return "not running";
  // It is starting, and listens in a moment; or it is on its way out.
  const isSettled = () => readEndpoint(places) !== null || isFree(places);
  if (!(await until(isSettled, startingMs, startingLookMs))) {
    return `a beckon that does not listen has ${places.lock} locked. End it by hand.`;
  }
  const started = readEndpoint(places);
  return started ? end(places, started) : "stopped";
}

async function end(places: Paths, { pid }: Endpoint): Promise<string> {
  const start = readStartTime(pid);
  const isGone = () => !isAlive(pid, start);
  const answered = await callApi(places, "/api/stop", { body: {} });
  const isHeard = typeof answered !== "string" && answered.status === 200;
  if (isHeard && (await until(isGone, endingMs))) return "stopped";
  // Where nobody has the lock, the process of that number is not beckon.
  if (!isGone() && isFree(places)) return "not running";
  try {
    if (!isGone()) process.kill(pid, "SIGTERM");
  } catch (error) {
    if (!isGone())
      return `beckon (pid ${pid}) does not answer, and cannot be told to end: ${errorCode(error)}`;
  }
  if (await until(isGone, endingMs)) return "stopped";
  return `beckon (pid ${pid}) does not end. Nothing is lost if you end it with: kill -9 ${pid}`;
}

/** For a moment it is ours, and what starts in that moment finds it taken: so it is not asked often. */
function isFree(places: Paths): boolean {
  if (!existsSync(places.lock)) return true;
  const lock = acquireLock(places);
  lock?.release();
  return lock !== null;
}

async function until(check: () => boolean, ms: number, everyMs = lookMs): Promise<boolean> {
  const end = performance.now() + ms;
  while (!check()) {
    if (performance.now() > end) return false;
    await Bun.sleep(everyMs);
  }
  return true;
}
