/** Which terminal is a process shown in, and which window systems run here? */
import { terminals, windowSystems } from "./index.ts";
import { findTerminalProcesses, matchProcess } from "./lineage.ts";
import type { ProcessInfo } from "./plan.ts";
import { recogniseTerminal } from "./recognise.ts";
import { readConnection, ssh } from "./ssh.ts";
import type { PaneLocation, Terminal, TerminalContext, WindowSystem } from "./terminal.ts";

const matchers = terminals.map((terminal) => [terminal, matchProcess(terminal.processes)] as const);

const terminalOfProcess = (process: ProcessInfo): Terminal | null =>
  matchers.find(([, matches]) => matches(process))?.[0] ?? null;

export const isTerminal = (process: ProcessInfo): boolean => terminalOfProcess(process) !== null;

/** By processes first: programs that are started from a terminal inherit its variables. */
export function detectTerminal(location: PaneLocation): Terminal | null {
  const processes = findTerminalProcesses(location);
  for (const process of processes) {
    const terminal = terminalOfProcess(process);
    if (terminal) return terminal;
  }
  const [unknown] = processes;
  if (unknown && unknown.tty !== null) return null;
  const name = recogniseTerminal(location.env)?.name;
  const terminal = terminals.find((row) => row.name === name) ?? null;
  // TERM is sent along with an SSH login: the terminal is on the other machine.
  const isRemote = readConnection(location.env) !== null && terminal?.kind !== "multiplexer";
  return isRemote ? ssh : terminal;
}

/** In the order in which they are to be tried. */
export function detectWindowSystems({ platform, env }: TerminalContext): readonly WindowSystem[] {
  return windowSystems.filter(
    ({ platforms, variables = {} }) =>
      platforms.includes(platform) &&
      Object.entries(variables).every(([name, shape]) => shape.test(env[name] ?? "")),
  );
}
