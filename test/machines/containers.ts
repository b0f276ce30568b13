/** Containers of a real podman. Their root folder has the programs of this machine that they need, and no network. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

export const containerNeeds = ["linux", "root", "podman", "runc", "busybox", "ldd"] as const;

/** Who works in a container that is not root's. */
export const containerUser = { id: 1001, home: "/home/dev" };

/** podman as it runs on a machine without systemd and without a registry. */
const podmanFlags = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "none"];
const runFlags = ["--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"];
const commands = ["cat", "env", "ls", "mkdir", "ps", "sh", "sleep", "touch"];

export interface Containers {
  /** A folder to put first in PATH: its `podman` finds these containers. */
  readonly bin: string;
  /** Starts a container that runs until it is stopped. */
  start(name: string, ...flags: readonly string[]): Promise<void>;
  podman(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }>;
  close(): Promise<void>;
}

function listLibraries(program: string): string[] {
  const { stdout } = Bun.spawnSync(["ldd", program]);
  return stdout.toString().match(/\/lib\S+/g) ?? [];
}

/** Everything that beckon needs to run: a shell, the C library, a user. */
function buildRoot(root: string): void {
  const busybox = Bun.which("busybox") ?? "";
  for (const folder of ["bin", "dev", "etc", "proc", "sys", "tmp", `.${containerUser.home}`, "usr/local/bin"])
    mkdirSync(join(root, folder), { recursive: true });
  chmodSync(join(root, "tmp"), 0o1777);
  cpSync(busybox, join(root, "bin/busybox"));
  // Sends an event, and stays, as an agent does.
  writeFileSync(join(root, "bin/claude"), "#!/bin/sh\nbeckon hook claude\nsleep 1000\n", { mode: 0o755 });
  for (const command of commands) symlinkSync("busybox", join(root, "bin", command));
  for (const library of new Set([busybox, binary].flatMap(listLibraries))) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    cpSync(realpathSync(library), join(root, library));
  }
  const { id, home } = containerUser;
  writeFileSync(join(root, "etc/passwd"), `root:x:0:0::/root:/bin/sh\ndev:x:${id}:${id}::${home}:/bin/sh\n`);
  Bun.spawnSync(["chown", "-R", `${id}:${id}`, join(root, home)]);
}

export async function openContainers(): Promise<Containers> {
  const folder = mkdtempSync("/var/tmp/beckon-containers-");
  const root = join(folder, "root");
  const bin = join(folder, "bin");
  const own = [...podmanFlags, "--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  const podmanPath = join(bin, "podman");
  const names: string[] = [];
  buildRoot(root);
  mkdirSync(bin);
  writeFileSync(podmanPath, `#!/bin/sh\nexec ${Bun.which("podman")} ${own.join(" ")} "$@"\n`, {
    mode: 0o755,
  });

  async function podman(...args: readonly string[]) {
    const child = Bun.spawn([podmanPath, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, text: stdout + stderr };
  }

  return {
    bin,
    podman,
    async start(name, ...flags) {
      names.push(name);
      const mounted = ["--volume", `${binary}:/usr/local/bin/beckon:ro`];
      const own = ["run", "--detach", "--name", name, ...runFlags, ...mounted, ...flags];
      const { code, text } = await podman(...own, "--rootfs", `${root}:O`, "sleep", "1000");
      if (code !== 0) throw new Error(`${name} could not be started: ${text}`);
    },
    async close() {
      if (names.length > 0) await podman("rm", "--force", "--time", "0", ...names);
      // podman leaves its storage mounted, and cleans up after an exec for a moment, which mounts it again.
      await waitUntil(() => {
        const mounts = readFileSync("/proc/mounts", "utf8").match(new RegExp(`(?<= )${folder}\\S*`, "g"));
        if (mounts) Bun.spawnSync(["umount", "--lazy", ...mounts.toReversed()]);
        return Bun.spawnSync(["rm", "-rf", folder]).success;
      }, 10_000);
    },
  };
}
