/** A room without a door: its own network (loopback only), mounts and processes, which all end with it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the person's folder is called in there. */
export const home = "/home/dev";

export interface Namespace {
  /** Its file system, seen from this side: what is mounted in there shows only so. */
  readonly root: string;
  /** Starts a program in there, in the person's folder, with exactly this environment. */
  start(command: readonly string[], env: Env): Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Runs it to its end. */
  run(command: readonly string[], env: Env): Promise<Ran>;
  signal(pid: number, name: Signal): Promise<void>;
  /** The command line of all that runs in there. */
  processes(): string[];
  /** Starts a program of this side on its network, which ends with it too. */
  serve(command: readonly string[]): Bun.Subprocess<"ignore", "pipe", "inherit">;
  close(): Promise<void>;
}

export type Env = Readonly<Record<string, string>>;
export type Signal = "KILL" | "STOP" | "CONT" | "TERM";

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/**
 * setUp.sh FOLDER [FILE PLACE]…: the folder becomes the home, the files (or folders) appear in it. The homes, settings and temporary
 * files of this machine are out of sight. Process 1 is a cat that ends when the test does, and everything with it.
 */
const setUp = `
set -eu
read -r outer rest </proc/self/stat
folder=$1; shift
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
for place in /root /etc/claude-code; do
  if [ -d $place ]; then mount -t tmpfs tmpfs $place; fi
done
mount -t tmpfs -o mode=1777 tmpfs /tmp
cd ${home}
echo "$outer"
exec cat >/dev/null
`;

export async function openNamespace(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<Namespace> {
  const kinds = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"];
  const binds = Object.entries(files).flatMap(([place, file]) => [file, place]);
  const child = Bun.spawn(["unshare", ...kinds, "sh", "-c", setUp, "sh", folder, ...binds], {
    env: { PATH: process.env.PATH ?? "" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const pid = await firstLine(child.stdout);
  if (!/^\d+$/.test(pid)) throw new Error("no namespace could be made: see what unshare or mount said above");
  const enter = ["nsenter", "--target", pid, "--net", "--pid"];

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
    const ran = start(command, env);
    const [stdout, stderr, code] = await Promise.all([
      new Response(ran.stdout).text(),
      new Response(ran.stderr).text(),
      ran.exited,
    ]);
    return { stdout, stderr, code };
  };
  const root = `/proc/${pid}/root`;
  return {
    root,
    start,
    run,
    async signal(pid, name) {
      const { code, stderr } = await run(["sh", "-c", `kill -${name} ${pid}`], {});
      if (code !== 0) throw new Error(stderr);
    },
    processes: () =>
      readdirSync(join(root, "proc"))
        .filter((name) => /^\d+$/.test(name))
        .map((name) => commandLine(join(root, "proc", name)))
        .filter(Boolean),
    serve: (command) =>
      Bun.spawn([...enter, "--", ...command], { stdin: "ignore", stdout: "pipe", stderr: "inherit" }),
    async close() {
      // nsenter stops with the program that it started, and then does not see it end: the namespace would wait for ever.
      for (const started of running) started.kill("SIGCONT");
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** "" where it has ended meanwhile. */
function commandLine(process: string): string {
  try {
    return readFileSync(join(process, "cmdline"), "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
}

export async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
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
