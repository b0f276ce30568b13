/** `beckon`: runs until it is told to stop. */
import { version } from "../../package.json";
import { startApp } from "../app.ts";
import { limits } from "../limits.ts";
import { paths } from "../storage/paths.ts";
import { isIgnored } from "../watch/machine.ts";
import { readFlags } from "./args.ts";
import { readEndpoint } from "./client.ts";

export async function run(args: string[]): Promise<number> {
  readFlags("run", args, []);
  const places = paths();
  const toldToStop = whenTold();
  const app = await startApp({ paths: places, env: process.env, port: wantedPort(), echo: true });
  if (!app) {
    const other = readEndpoint(places);
    const where = other ? ` at ${other.url} (pid ${other.pid})` : "";
    process.stderr.write(`beckon already runs${where}. See its sessions with: beckon status\n`);
    return 1;
  }
  const how = app.isHeadless ? "running without icon and alerts (there is no desktop here)" : "running";
  process.stdout.write(
    `beckon ${version} is ${how} at ${app.url}. See your sessions with: beckon status. Stop it with Ctrl-C.\n`,
  );
  await Promise.race([toldToStop, app.quit]);
  await app.stop();
  // Whatever of the desktop is still in the way: a person who said Quit is gone.
  setTimeout(() => process.exit(0), leaveMs).unref();
  return 0;
}

const leaveMs = 500;
const hangUpBit = 1n;

function whenTold(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  // nohup has it ignored, and that should stay so.
  const hangUp = isIgnored(hangUpBit) ? [] : (["SIGHUP"] as const);
  for (const signal of ["SIGTERM", "SIGINT", ...hangUp] as const) {
    process.on(signal, () => {
      // Whoever asks twice does not want to wait.
      if (++asked > 1) process.exit(1);
      resolve();
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
