/** `beckon start`: starts the app in the background. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { listVariables } from "../agents/index.ts";
import { claimFolders } from "../setup/known-folders.ts";
import { ensurePrivateFolder, errorCode } from "../storage/files.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";
import type { Env } from "../system/folders.ts";
import { findOwnCommand } from "../system/is-compiled.ts";
import { launchDetached } from "../system/launch.ts";
import { parseArguments } from "./args.ts";
import { startCommand } from "./commands/start.ts";
import { print } from "./output.ts";

const maxErrorLength = 2_000;

export async function start(args: string[], table: readonly Agent[]): Promise<number> {
  parseArguments(args, startCommand);
  const paths = resolvePaths();
  const before = readEndpoint(paths);
  const running = await startInBackground(paths, table);
  const where = `at ${running.url} (pid ${running.pid})`;
  const wasRunning = before?.pid === running.pid;
  print(
    wasRunning
      ? `beckon is already running ${where}.\n`
      : `beckon is running ${where}. Stop it with: beckon stop\n`,
  );
  return 0;
}

export interface StartOptions {
  /** The program to start, with the arguments before the command; this one if absent. */
  readonly command?: readonly [program: string, ...args: string[]];
  readonly env?: Env;
  /** After this time without an answer it is ended. */
  readonly deadlineMs?: number;
}

/** Throws if it cannot be started. */
export async function startInBackground(
  paths: Paths,
  table: readonly Agent[],
  options: StartOptions = {},
): Promise<Endpoint> {
  // The app has no variable of an agent's session, so it could not refuse.
  await claimFolders(process.env, listVariables(table));
  const error = await launch(paths, table, options);
  const running = readEndpoint(paths);
  if (error === null && running) return running;
  throw new Error(`beckon could not be started${error ? `: ${error}` : ""}. Its log: ${paths.log}`);
}

/** Returns null if beckon runs, otherwise the error that it printed. */
async function launch(
  { state }: Paths,
  table: readonly Agent[],
  { command: [program, ...firstArgs] = findOwnCommand(), env = process.env, ...limit }: StartOptions,
): Promise<string | null> {
  const options = { agents: listVariables(table), firstArgs, ...limit };
  // On Windows the file for its errors could not be removed while the app has it open.
  if (process.platform === "win32") {
    const isUp = await launchDetached(program, env, options);
    return isUp ? null : "it does not answer. To see why, run: beckon";
  }
  const folder = makeFolderForErrors(state);
  const file = join(folder, "errors");
  const stderr = openSync(file, "wx", 0o600);
  try {
    if (await launchDetached(program, env, { ...options, stderr })) return null;
    const text = readFileSync(file, "utf8").slice(0, maxErrorLength).trim();
    return text.replace(/^beckon: /, "").replace(/\.$/, "") || "it does not answer";
  } finally {
    closeSync(stderr);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In the state folder: a container may have no other that can be written. */
function makeFolderForErrors(state: string): string {
  try {
    ensurePrivateFolder(state);
    return mkdtempSync(join(state, "start-"));
  } catch (error) {
    const { cause = error } = Object(error) as { cause?: unknown };
    if (errorCode(cause) !== "EROFS") throw error;
    throw new Error(`${state} cannot be written (EROFS): mount a tmpfs there`, { cause });
  }
}
