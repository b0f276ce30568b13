/** `beckon`: runs until it is told to stop. */
import { rmSync } from "node:fs";
import { isatty } from "node:tty";
import { version } from "../../package.json";
import { startApp } from "../app/start.ts";
import { limits } from "../core/limits.ts";
import { ignoreErrors } from "../storage/files.ts";
import { clearOff, isOff, markOff } from "../storage/off-marker.ts";
import { resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { isSignalIgnored } from "../system/processes.ts";
import { parseArguments } from "./args.ts";

export async function run(args: string[]): Promise<number> {
  const how = readHow(args);
  const places = resolvePaths();
  if (how.fromHook && isOff(places)) return 0;
  const toldToStop = whenTold();
  const app = await startApp({
    paths: places,
    env: process.env,
    port: wantedPort(),
    echo: !how.inBackground,
  });
  if (!app) {
    // Whoever started it wants one to run, and one does.
    if (how.fromHook || how.atLogin || how.inBackground) return 0;
    const other = readEndpoint(places);
    const where = other ? ` at ${other.url} (pid ${other.pid})` : "";
    process.stderr.write(`beckon already runs${where}. See its sessions with: beckon status\n`);
    return 1;
  }
  // The person may have said stop while a hook started it.
  if (how.fromHook && isOff(places)) {
    await app.stop();
    return 0;
  }
  clearOff(places);
  rmSync(places.launching, { force: true });
  const state = app.isHeadless ? "running without icon and alerts (there is no desktop here)" : "running";
  process.stdout.write(
    `beckon ${version} is ${state} at ${app.url}. See your sessions with: beckon status. Stop it with Ctrl-C.\n`,
  );
  const by = await Promise.race([toldToStop, app.quit]);
  // Before it is down: a session that starts then must not start it again.
  if (by === "person") ignoreErrors(() => markOff(places, "quit by its person"));
  await app.stop();
  // Whatever of the desktop is still in the way: a person who said Quit is gone.
  setTimeout(() => process.exit(0), leaveMs).unref();
  return 0;
}

const leaveMs = 500;
const hangUpBit = 1n;

interface How {
  readonly fromHook: boolean;
  readonly atLogin: boolean;
  /** Nobody reads what it says once it runs. */
  readonly inBackground: boolean;
}

/** Options that only beckon's own hooks, login items and `beckon start` use, so --help does not list them. */
function readHow(args: readonly string[]): How {
  const home = args.find((arg) => arg.startsWith("--home="));
  const fromHook = args.includes("--from-hook");
  const atLogin = args.includes("--at-login");
  const inBackground = args.includes("--in-background");
  const internal = ["--from-hook", "--at-login", "--in-background", home];
  parseArguments(
    args.filter((arg) => !internal.includes(arg)),
    { command: "run" },
  );
  if (home !== undefined) process.env.BECKON_HOME = home.slice("--home=".length);
  return { fromHook, atLogin, inBackground };
}

/** By the person: with Ctrl-C. Whatever else ends it, a logout or a kill, says nothing about what they want. */
function whenTold(): Promise<"person" | "system"> {
  const { promise, resolve } = Promise.withResolvers<"person" | "system">();
  const inTerminal = [0, 1, 2].some((fd) => isatty(fd));
  let asked = 0;
  // nohup has it ignored, and that should stay so.
  const hangUp = isSignalIgnored(hangUpBit) ? [] : (["SIGHUP"] as const);
  for (const signal of ["SIGTERM", "SIGINT", ...hangUp] as const) {
    process.on(signal, () => {
      // Whoever asks twice does not want to wait.
      if (++asked > 1) process.exit(1);
      resolve(signal === "SIGINT" && inTerminal ? "person" : "system");
    });
  }
  return promise;
}

function wantedPort(): number {
  const given = process.env.BECKON_PORT;
  if (!given) return limits.defaultPort;
  const port = Number(given);
  if (/^\d+$/.test(given) && port > 0 && port <= 65_535) return port;
  throw new Error(`BECKON_PORT is ${JSON.stringify(given)}, which is no port. Use a number from 1 to 65535.`);
}
