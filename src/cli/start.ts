/** `beckon start`: starts the app in the background. */

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listVariables } from "../agents/index.ts";
import { resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { isCompiled, launchDetached } from "../system/launch.ts";
import { parseArguments } from "./args.ts";
import { print } from "./output.ts";

export async function start(args: string[]): Promise<number> {
  parseArguments(args, { command: "start" });
  const places = resolvePaths();
  const before = readEndpoint(places);
  const why = await launch();
  const running = readEndpoint(places);
  if (why !== null || !running)
    throw new Error(`beckon could not be started${why ? `: ${why}` : ""}. Its log: ${places.log}`);
  const at = `at ${running.url} (pid ${running.pid})`;
  const isOld = before?.pid === running.pid;
  print(isOld ? `beckon already runs ${at}.\n` : `beckon is running ${at}. Stop it with: beckon stop\n`);
  return 0;
}

/** null: it runs; else what it said before it ended. */
async function launch(): Promise<string | null> {
  const before = isCompiled() ? [] : [Bun.main];
  // A file that the app has open cannot be deleted there.
  if (process.platform === "win32") {
    const isUp = await launchDetached(process.execPath, process.env, { agents: listVariables(), before });
    return isUp ? null : "it does not answer. To see why, run: beckon";
  }
  const folder = mkdtempSync(join(tmpdir(), "beckon-start-"));
  const file = join(folder, "errors");
  const errors = openSync(file, "wx", 0o600);
  try {
    if (await launchDetached(process.execPath, process.env, { agents: listVariables(), before, errors }))
      return null;
    const said = readFileSync(file, "utf8").slice(0, maxSaid).trim();
    return said.replace(/^beckon: /, "").replace(/\.$/, "") || "it does not answer";
  } finally {
    closeSync(errors);
    rmSync(folder, { recursive: true, force: true });
  }
}

const maxSaid = 2_000;
