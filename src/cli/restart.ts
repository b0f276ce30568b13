/** `beckon restart`: stops the running app and starts it again, with this binary. */
import type { Agent } from "../agents/agent.ts";
import { resolvePaths } from "../storage/paths.ts";
import { parseArguments } from "./args.ts";
import { restartCommand } from "./commands/restart.ts";
import { print } from "./output.ts";
import { startInBackground } from "./start.ts";
import { stopRunning } from "./stop.ts";

/**
 * The user wants beckon on: so that a failed start does not keep it off, the off marker is not set in between. The app that
 * starts removes an old one.
 */
export async function restart(args: string[], table: readonly Agent[]): Promise<number> {
  parseArguments(args, restartCommand);
  const paths = resolvePaths();
  const outcome = await stopRunning(paths);
  if (outcome !== "stopped" && outcome !== "not running") throw new Error(outcome);
  const { url, pid } = await startInBackground(paths, table);
  const how = outcome === "stopped" ? "is running again" : "was not running, and is running now";
  print(`beckon ${how} at ${url} (pid ${pid}).\n`);
  return 0;
}
