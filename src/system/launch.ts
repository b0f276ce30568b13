import { resolvePaths } from "../storage/paths.ts";
import { type AgentVariables, appEnvironment } from "./app-environment.ts";
import { type Endpoint, readEndpoint } from "./endpoint.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A slow disk, and a journal of some hundred MB. */
const startMs = 10_000;
const otherMs = 2_000;
const lookMs = 50;
const answerMs = 1_000;

/** From source, process.execPath is Bun, and would run whatever lies in its folder. */
export function isCompiled(main = Bun.main): boolean {
  return /^(?:\/\$bunfs\/|[a-z]:[\\/]~BUN[\\/])/i.test(main);
}

/** Throws where it cannot be started. `errors`: an open file for what it says on stderr. */
export function startDetached(
  binary: string,
  args: readonly string[],
  env: Record<string, string>,
  errors: number | "ignore" = "ignore",
): Bun.Subprocess {
  const child = Bun.spawn([binary, ...args], {
    env,
    cwd: process.platform === "win32" ? (env.SystemRoot ?? "C:\\") : "/",
    stdio: ["ignore", "ignore", errors],
    detached: true,
    windowsHide: true,
  });
  child.unref();
  return child;
}

interface Launch {
  readonly agents: AgentVariables;
  /** What comes before the verb: from source, the program that the binary runs. */
  readonly before?: readonly string[];
  readonly errors?: number;
}

/** As a person starts it, for the folders that `env` names. True: it answers. One that runs already is as good. */
export async function launchDetached(
  binary: string,
  env: Env,
  { agents, before = [], errors }: Launch,
): Promise<boolean> {
  const places = resolvePaths(env);
  const found = readEndpoint(places);
  if (found && (await isAnswering(found))) return true;
  // A binary of another version may not know the flag.
  const how = errors === undefined ? [] : ["--in-background"];
  let child: Bun.Subprocess;
  try {
    child = startDetached(binary, [...before, "run", ...how], appEnvironment(env, agents), errors);
  } catch {
    return false;
  }
  let until = performance.now() + startMs;
  // It ended: for an error, or because another is just starting.
  child.exited.then(() => {
    until = Math.min(until, performance.now() + otherMs);
  });
  while (performance.now() < until) {
    const endpoint = readEndpoint(places);
    if (endpoint && (await isAnswering(endpoint))) return true;
    await Bun.sleep(lookMs);
  }
  return false;
}

async function isAnswering({ url }: Endpoint): Promise<boolean> {
  try {
    const init = { signal: AbortSignal.timeout(answerMs), proxy: "" } as RequestInit;
    return (await fetch(`${url}/health`, init)).ok;
  } catch {
    return false;
  }
}
