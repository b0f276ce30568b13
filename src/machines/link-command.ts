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

/** With docker and podman, the one that knows the container: docker may be there without its daemon. Its arguments: container, command. */
const chooseEngine =
  'if docker container inspect "$0" >/dev/null 2>&1; then set -- docker "$1"; else set -- podman "$1"; fi; exec "$1" exec -i "$0" sh -c "$2"';

function runInContainer(container: string, command: string): readonly string[] {
  const engines = ["docker", "podman"].filter((engine) => Bun.which(engine) !== null);
  const [engine = "docker", other] = engines;
  return other === undefined || process.platform === "win32"
    ? [engine, "exec", "-i", container, "sh", "-c", command]
    : ["sh", "-c", chooseEngine, container, command];
}

export function createLinkCommand(machine: MachineSettings): readonly string[] {
  if ("command" in machine) return machine.command;
  const link = `exec "${machine.program ?? defaultProgram}" link`;
  if ("ssh" in machine) return ["ssh", ...sshOptions, machine.ssh, link];
  // An image has it where its Dockerfile has put it.
  const linkAnywhere =
    machine.program === undefined ? 'PATH="$HOME/.local/bin:$PATH"; exec beckon link' : link;
  if ("container" in machine) return runInContainer(machine.container, linkAnywhere);
  if ("pod" in machine) return ["kubectl", "exec", "-i", machine.pod, "--", "sh", "-c", linkAnywhere];
  return ["wsl.exe", "-d", machine.wsl, "--", "sh", "-c", linkAnywhere];
}
