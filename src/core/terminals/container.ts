/** Sessions in containers of docker and podman, which a terminal here shows with `docker exec -it`. */
import {
  findProcesses,
  type Plan,
  type ProcessInfo,
  readCommandLine,
  readEnvironment,
  readLineage,
} from "./plan.ts";
import type { LocateResult, TerminalTarget } from "./terminal.ts";

/** In a container: its first process came from outside, by `exec`. Process 1 and its children did not. */
export function isFromOutside(lineage: readonly ProcessInfo[]): boolean {
  const first = lineage.at(-1);
  return first !== undefined && first.parent === 0 && first.pid !== 1;
}

/** The terminal here that runs `docker exec -it CONTAINER` or the same with podman, if there is only one. */
export function* findContainerTerminal(
  { cwd, title }: TerminalTarget,
  container: string,
): Plan<LocateResult> {
  const found: ProcessInfo[] = [];
  for (const engine of ["docker", "podman"])
    for (const running of yield* findProcesses(engine))
      if (running.tty !== null && findShownContainer(yield* readCommandLine(running.pid)) === container)
        found.push(running);
  // Without root, podman runs itself again.
  const clients = found.filter(({ parent }) => !found.some(({ pid }) => pid === parent));
  const [only, ...others] = clients;
  if (only === undefined)
    return {
      kind: "unknown",
      reason: `no terminal here has a \`docker exec -it ${container}\`, or podman's`,
    };
  if (others.length > 0)
    return {
      kind: "unknown",
      reason: `${clients.length} terminals here are in the container ${container}: any of them may show it`,
    };
  const [, ...parents] = yield* readLineage(only.pid);
  const env = (yield* readEnvironment(only.pid)) ?? {};
  return {
    kind: "known",
    location: { lineage: parents, tty: only.tty, env, title, cwd },
    by: [only.name],
    limit: null,
  };
}

/** Options of `exec` whose value is the next word (docker 27, podman 4.3). */
const valueOptions: ReadonlySet<string> = new Set([
  ...["-e", "--env", "--env-file", "-u", "--user", "-w", "--workdir", "--detach-keys", "--preserve-fds"],
]);

/** The container whose terminal an `exec` shows; null for any other command, and for an `exec` without a terminal. */
export function findShownContainer(argv: readonly string[]): string | null {
  const exec = argv.indexOf("exec");
  if (exec < 0) return null;
  let hasTerminal = false;
  for (let at = exec + 1; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-")) return hasTerminal ? word : null;
    if (word === "--tty" || /^-[a-z]*t[a-z]*$/.test(word)) hasTerminal = true;
    if (valueOptions.has(word) || /^-[dit]+[euw]$/.test(word)) at++;
  }
  return null;
}
