/** `beckon`: runs the app in this process until it is stopped. */
import { rmSync } from "node:fs";
import { isatty } from "node:tty";
import { version } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { listVariables } from "../agents/index.ts";
import { startApp } from "../app/start.ts";
import { limits } from "../core/limits.ts";
import { claimFolders, findUnknownFolders } from "../setup/known-folders.ts";
import { ignoreErrors } from "../storage/files.ts";
import { clearOff, isOff, markOff } from "../storage/off-marker.ts";
import { resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { homeOf } from "../system/folders.ts";
import { isSignalIgnored } from "../system/processes.ts";
import { parseArguments } from "./args.ts";
import { runCommand } from "./commands/run.ts";

export async function run(args: string[], table: readonly Agent[]): Promise<number> {
  const { flags, values } = parseArguments(args, runCommand);
  const [fromHook, inBackground] = [flags.has("--from-hook"), flags.has("--in-background")];
  if (values["--home"] !== undefined) process.env.BECKON_HOME = values["--home"];
  const paths = resolvePaths();
  if (fromHook && (isOff(paths) || (await findUnknownFolders(process.env)).length > 0)) return 0;
  const unclaimed = fromHook ? null : await claimFolders(process.env, listVariables(table));
  if (unclaimed !== null) process.stderr.write(`beckon: ${unclaimed}\n`);
  if (process.platform === "darwin" && flags.has("--at-login")) {
    const { renewMacApp } = await import("../desktop/login/mac-app.ts");
    // launchd starts it again after a failure: then it is the new one.
    if (await renewMacApp(homeOf(process.env), process.execPath, exec)) return 1;
  }
  const signalled = waitForSignal();
  const app = await startApp({
    paths,
    env: process.env,
    port: readPort(),
    echo: !inBackground,
    isFromHook: fromHook,
    table,
  });
  if (!app) {
    if (fromHook || inBackground || flags.has("--at-login")) return 0;
    const other = readEndpoint(paths);
    const where = other ? ` at ${other.url} (pid ${other.pid})` : "";
    process.stderr.write(`beckon is already running${where}. See your sessions: beckon status\n`);
    return 1;
  }
  // `beckon stop` may have run while a hook was starting this.
  if (fromHook && isOff(paths)) {
    await app.stop();
    return 0;
  }
  clearOff(paths);
  ignoreErrors(() => rmSync(paths.launchMarker, { force: true }));
  const how = app.isHeadless ? " without icon and alerts, because there is no desktop here" : "";
  process.stdout.write(
    `beckon ${version} is running at ${app.url}${how}.\nSee your sessions with: beckon status. Stop it with Ctrl-C.\n`,
  );
  const quitBy = await Promise.race([signalled, app.quit]);
  // Before the app is down: a session that starts meanwhile must not start it again.
  if (quitBy === "user") ignoreErrors(() => markOff(paths, "quit by the user"));
  await app.stop();
  // Everything is stored. What is left of the desktop adapters and signal handlers would keep the process alive.
  setImmediate(() => process.exit(0));
  return 0;
}

/** SIGHUP's bit in the mask of ignored signals. */
const hangUpBit = 1n;

/** Ctrl-C is the user's wish to quit. Any other signal (logout, kill) says nothing about what the user wants. */
function waitForSignal(): Promise<"user" | "system"> {
  const { promise, resolve } = Promise.withResolvers<"user" | "system">();
  const inTerminal = [0, 1, 2].some((fd) => isatty(fd));
  let count = 0;
  // nohup ignores SIGHUP, and a handler would undo that.
  const hangUp = isSignalIgnored(hangUpBit) ? [] : (["SIGHUP"] as const);
  for (const signal of ["SIGTERM", "SIGINT", ...hangUp] as const) {
    process.on(signal, () => {
      // A second signal does not wait for a clean stop.
      if (++count > 1) process.exit(1);
      resolve(signal === "SIGINT" && inTerminal ? "user" : "system");
    });
  }
  return promise;
}

function readPort(): number {
  const text = process.env.BECKON_PORT;
  if (!text) return limits.defaultTcpPort;
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port <= 65_535) return port;
  throw new Error(`BECKON_PORT must be a number from 1 to 65535, but is ${JSON.stringify(text)}`);
}
