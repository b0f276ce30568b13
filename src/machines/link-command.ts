/** The command that links a machine, by how it is reached. */
import type { MachineSettings } from "../core/config/machines.ts";

/** Where `beckon machine add` puts it. The shell there knows its own home folder. */
const defaultProgram = "$HOME/.local/bin/beckon";

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

/** podman where there is no docker. */
const findContainerEngine = (): string => (Bun.which("docker") === null ? "podman" : "docker");

export function createLinkCommand(machine: MachineSettings): readonly string[] {
  if ("command" in machine) return machine.command;
  const link = `exec "${machine.program ?? defaultProgram}" link`;
  if ("ssh" in machine) return ["ssh", ...sshOptions, machine.ssh, link];
  if ("container" in machine)
    return [findContainerEngine(), "exec", "-i", machine.container, "sh", "-c", link];
  if ("pod" in machine) return ["kubectl", "exec", "-i", machine.pod, "--", "sh", "-c", link];
  return ["wsl.exe", "-d", machine.wsl, "--", "sh", "-c", link];
}
