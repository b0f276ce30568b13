/** Starts beckon as a background process that outlives the program that starts it. */
import { resolvePaths } from "../storage/paths.ts";
import { type AgentVariables, createUserAppEnvironment } from "./app-environment.ts";
import { type Endpoint, readEndpoint } from "./endpoint.ts";
import type { Env } from "./folders.ts";
import { requestLoopback } from "./loopback.ts";

/** A slow disk and a journal of some hundred MB take this long. */
const startTimeoutMs = 10_000;
/** After the process has exited: another beckon may be starting. */
const otherTimeoutMs = 2_000;
const pollMs = 50;
const healthTimeoutMs = 1_000;

/** Throws if the binary cannot be started. `stderr` is an open file. */
export function startDetached(
  binary: string,
  args: readonly string[],
  env: Record<string, string>,
  stderr: number | "ignore" = "ignore",
): Bun.Subprocess {
  const child = Bun.spawn([binary, ...args], {
    env,
    cwd: process.platform === "win32" ? (env.SystemRoot ?? "C:\\") : "/",
    stdio: ["ignore", "ignore", stderr],
    detached: true,
    windowsHide: true,
  });
  child.unref();
  return child;
}

interface LaunchOptions {
  readonly agents: AgentVariables;
  /** Arguments before the command: when beckon runs from source, the script. */
  readonly firstArgs?: readonly string[];
  readonly stderr?: number;
  /** How long it may take to answer. Without it, a program that takes longer is left to go on. */
  readonly deadlineMs?: number;
}

/** Starts beckon for the folders that `env` names. True if it answers; also if it was running already. */
export async function launchDetached(
  binary: string,
  env: Env,
  { agents, firstArgs = [], stderr, deadlineMs }: LaunchOptions,
): Promise<boolean> {
  const paths = resolvePaths(env);
  const running = readEndpoint(paths);
  if (running && (await isAnswering(running))) return true;
  // A binary of another version may not know the flag.
  const flags = stderr === undefined ? [] : ["--in-background"];
  let child: Bun.Subprocess;
  try {
    child = startDetached(
      binary,
      [...firstArgs, "run", ...flags],
      createUserAppEnvironment(env, agents),
      stderr,
    );
  } catch {
    return false;
  }
  let until = performance.now() + (deadlineMs ?? startTimeoutMs);
  // It exits after an error, or because another beckon is starting.
  child.exited.then(() => {
    until = Math.min(until, performance.now() + otherTimeoutMs);
  });
  while (performance.now() < until) {
    const endpoint = readEndpoint(paths);
    if (endpoint && (await isAnswering(endpoint))) return true;
    await Bun.sleep(pollMs);
  }
  // It would keep the next one from starting.
  if (deadlineMs !== undefined) child.kill("SIGKILL");
  return false;
}

async function isAnswering({ url }: Endpoint): Promise<boolean> {
  try {
    return (await requestLoopback(`${url}/health`, { timeoutMs: healthTimeoutMs })).status === 200;
  } catch {
    return false;
  }
}
