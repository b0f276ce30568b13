/** Linux namespaces: a network with loopback only, mounts and processes. Everything in them ends when they are closed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The user's home in the namespace. */
export const home = "/home/dev";

export interface Namespace {
  /** Process 1 of it, as seen from outside. */
  readonly pid: string;
  /** Path of its file system from outside. Only this path shows what is mounted in it. */
  readonly root: string;
  /** Starts a program in the home, with exactly this environment. */
  start(command: readonly string[], env: Variables): Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Runs a program until it exits. */
  run(command: readonly string[], env: Variables): Promise<RunResult>;
  signal(pid: number, name: Signal): Promise<void>;
  /** The command lines of all its processes. */
  listProcesses(): string[];
  /** Starts a program that sees the file system outside, but uses the namespace's network and processes. */
  startOutside(command: readonly string[]): Bun.Subprocess<"pipe", "pipe", "inherit">;
  close(): Promise<void>;
}

export type Variables = Readonly<Record<string, string>>;
export type Signal = "KILL" | "STOP" | "CONT" | "TERM" | "HUP";

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** A machine of its own: with a name, and users. */
export interface NamespaceHost {
  readonly hostname: string;
  /** Path of the file of its users. */
  readonly passwd: string;
}

/**
 * sh FOLDER HOSTNAME PASSWD [FILE PATH]…: mounts the folder as the home, and each file or folder at that path in it. Hides the homes, settings
 * and temporary files of this machine. Process 1 is a cat that exits when the test does, which ends all other processes.
 */
const setUpScript = `
set -eu
read -r outer rest </proc/self/stat
folder=$1; hostname=$2; passwd=$3; shift 3
while [ $# -gt 0 ]; do
  mkdir -p "$(dirname "$folder/$2")"
  if [ -d "$1" ]; then mkdir "$folder/$2"; else : >"$folder/$2"; fi
  mount --bind "$1" "$folder/$2"
  shift 2
done
ip link set lo up
mount -t proc proc /proc
mount -t tmpfs tmpfs /home
mkdir ${home}
mount --rbind "$folder" ${home}
for hidden in /root /etc/claude-code; do
  if [ -d $hidden ]; then mount -t tmpfs tmpfs $hidden; fi
done
mount -t tmpfs -o mode=1777 tmpfs /tmp
if [ -n "$hostname" ]; then
  hostname "$hostname"
  mount --bind "$passwd" /etc/passwd
  mount -t tmpfs -o mode=755 tmpfs /run
fi
cd ${home}
echo "$outer"
exec cat >/dev/null
`;

export async function openNamespace(
  folder: string,
  files: Readonly<Record<string, string>>,
  host?: NamespaceHost,
): Promise<Namespace> {
  const kinds = ["--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"];
  const binds = Object.entries(files).flatMap(([path, file]) => [file, path]);
  const args = [folder, host?.hostname ?? "", host?.passwd ?? "", ...binds];
  const child = Bun.spawn(["unshare", ...kinds, "sh", "-c", setUpScript, "sh", ...args], {
    env: { PATH: process.env.PATH ?? "" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const pid = await readFirstLine(child.stdout);
  if (!/^\d+$/.test(pid))
    throw new Error("could not create a namespace: unshare or mount printed the reason above");
  const enter = ["nsenter", "--target", pid, "--net", "--pid", "--uts"];

  const running = new Set<Bun.Subprocess>();
  const start: Namespace["start"] = (command, env) => {
    const started = Bun.spawn([...enter, "--mount", "--wd", "--", ...command], {
      env: { ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    running.add(started);
    started.exited.finally(() => running.delete(started));
    return started;
  };
  const run: Namespace["run"] = async (command, env) => {
    const child = start(command, env);
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { stdout, stderr, code };
  };
  const root = `/proc/${pid}/root`;
  return {
    pid,
    root,
    start,
    run,
    async signal(pid, name) {
      const { code, stderr } = await run(["sh", "-c", `kill -${name} ${pid}`], {});
      if (code !== 0) throw new Error(stderr);
    },
    listProcesses: () =>
      readdirSync(join(root, "proc"))
        .filter((name) => /^\d+$/.test(name))
        .map((name) => readCommandLine(join(root, "proc", name)))
        .filter(Boolean),
    startOutside: (command) =>
      Bun.spawn([...enter, "--", ...command], { stdin: "pipe", stdout: "pipe", stderr: "inherit" }),
    async close() {
      // A stopped program stops its nsenter too, which then never sees it exit, and the namespace would stay open.
      for (const started of running) started.kill("SIGCONT");
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** Returns "" if the process has exited in the meantime. */
function readCommandLine(process: string): string {
  try {
    return readFileSync(join(process, "cmdline"), "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
}

export async function readFirstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const reader = stream.getReader();
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.split("\n", 1)[0] ?? "";
}
