/** The commands that reach a machine: the one that links it, and those that look at it and set it up. */
import type { MachineSettings } from "../core/config/machines.ts";
import { quoteForShell, quoteIfNeeded } from "../core/text/shell-quote.ts";

/** Where `beckon machine add` puts it. The shell there knows its own home folder. */
export const defaultProgram = "$HOME/.local/bin/beckon";

/** Asks for nothing, opens no terminal, and notices within a minute that the other side is gone. */
const sshOptions = [
  "-T",
  "-o",
  "BatchMode=yes",
  "-o",
  "ServerAliveInterval=15",
  "-o",
  "ServerAliveCountMax=3",
] as const;

/** A machine whose shell can be reached. Of a command that links a machine, nothing else is known. */
export type ShellMachine = Exclude<MachineSettings, { readonly command: unknown }>;

export const hasShell = (machine: MachineSettings): machine is ShellMachine => !("command" in machine);

export function createLinkCommand(machine: MachineSettings): readonly string[] {
  if (!hasShell(machine)) return machine.command;
  const link = `exec "${machine.program ?? defaultProgram}" link`;
  if ("ssh" in machine) return ["ssh", ...sshOptions, machine.ssh, link];
  // An image has it where its Dockerfile has put it.
  const linkAnywhere =
    machine.program === undefined ? 'PATH="$HOME/.local/bin:$PATH"; exec beckon link' : link;
  return createShellCommand(machine, linkAnywhere);
}

/**
 * Runs a script of POSIX sh on the machine, with these arguments. The script is one line, because the login shell there, which
 * starts sh for ssh, can be a csh: that takes no line break in quotes.
 */
export function createShellCommand(
  machine: ShellMachine,
  script: string,
  args: readonly string[] = [],
): readonly string[] {
  const words = [script, ...(args.length === 0 ? [] : ["sh", ...args])];
  if ("ssh" in machine)
    return ["ssh", ...sshOptions, machine.ssh, `exec sh -c ${words.map(quoteForShell).join(" ")}`];
  if ("container" in machine) return runInContainer(machine.container, words);
  if ("pod" in machine) return ["kubectl", "exec", "-i", machine.pod, "--", "sh", "-c", ...words];
  return ["wsl.exe", "-d", machine.wsl, "--", "sh", "-c", ...words];
}

/** With docker and podman, the one that knows the container: docker may be there without its daemon. `$0` is the container. */
const chooseEngine =
  'if docker container inspect "$0" >/dev/null 2>&1; then engine=docker; else engine=podman; fi; exec "$engine" exec -i "$0" sh -c "$@"';

const findEngines = (): string[] => ["docker", "podman"].filter((engine) => Bun.which(engine) !== null);

function runInContainer(container: string, words: readonly string[]): readonly string[] {
  const [engine = "docker", other] = findEngines();
  return other === undefined || process.platform === "win32"
    ? [engine, "exec", "-i", container, "sh", "-c", ...words]
    : ["sh", "-c", chooseEngine, container, ...words];
}

/** What the user types to run beckon there. Quoted, so that the shell there finds its own home folder. */
export function formatCommandThere(machine: ShellMachine, args: string): string {
  const program = machine.program === undefined ? "~/.local/bin/beckon" : quoteIfNeeded(machine.program);
  const command = quoteForShell(`${program} ${args}`);
  if ("ssh" in machine) return `ssh ${quoteIfNeeded(machine.ssh)} ${command}`;
  if ("pod" in machine) return `kubectl exec ${quoteIfNeeded(machine.pod)} -- sh -c ${command}`;
  if ("wsl" in machine) return `wsl.exe -d ${quoteIfNeeded(machine.wsl)} -- sh -c ${command}`;
  const [engine = "docker"] = findEngines();
  return `${engine} exec ${quoteIfNeeded(machine.container)} sh -c ${command}`;
}
