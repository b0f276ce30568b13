/** The programs that are measured, and the one that puts load on them. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { binary, repo } from "../repo.ts";
import type { Load, Loaded } from "./load.ts";
import { sum } from "./rounds.ts";

/** The name of the program that --against gives, in tables. */
export const against = "against";

export interface Program {
  readonly name: string;
  readonly binary: string;
}

export interface Receiver {
  readonly pid: number;
  readonly port: number;
  /** A header line; "" if there is none. */
  readonly authorization: string;
  readonly startMs: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Runs the work with a temporary folder, and removes it at the end. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** beckon as it is built now and, with `--against BINARY`, that one too: a bench measures them in turn. */
export function preparePrograms(folder: string): readonly Program[] {
  const { values } = parseArgs({ options: { against: { type: "string" } } });
  const build = Bun.spawnSync([process.execPath, "build.ts", "--for-tests"], { cwd: repo, stdout: "ignore" });
  if (build.exitCode !== 0) throw new Error(`build.ts failed:\n${build.stderr}`);
  const sources = [
    ["beckon", binary],
    ...(values.against === undefined ? [] : [[against, values.against]]),
  ] as const;
  return sources.map(([name = "", source = ""]) => {
    if (!statSync(source, { throwIfNoEntry: false })?.isFile()) throw new Error(`there is no file ${source}`);
    // Both are copied: how a file was written decides how much of it Linux maps at once, and so counts as memory.
    const copy = join(folder, `program-${name}`);
    cpSync(source, copy);
    return { name, binary: copy };
  });
}

/** A program with a state folder that is prepared for one kind of measurement. */
export interface Subject {
  readonly name: string;
  readonly binary: string;
  readonly home: string;
}

/** Every program with every kind of folder. */
export function prepareSubjects<Kind>(
  folder: string,
  kinds: Readonly<Record<string, Kind>>,
  prepareHome: (home: string, kind: Kind) => void,
): readonly Subject[] {
  return preparePrograms(folder).flatMap(({ name: program, binary }) =>
    Object.entries(kinds).map(([kind, value]) => {
      const name = program === against ? `${against}, ${kind}` : kind;
      const home = join(folder, name.replaceAll(/[ ,]+/g, "-"));
      mkdirSync(home, { recursive: true });
      prepareHome(home, value);
      return { name, binary, home };
    }),
  );
}

/** Saves the text as the settings of a beckon with this state folder. null: no file. */
export function writeConfig(home: string, text: string | null): void {
  if (text !== null) writeFileSync(join(home, "config.json"), text);
}

/** A small program, compiled as build.ts compiles beckon. */
export async function compileEntry(entry: string, outfile: string): Promise<void> {
  await Bun.build({
    entrypoints: [entry],
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    splitting: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
}

/** Resolves at its first answer. */
export async function startBeckon(program: string, home: string): Promise<Receiver> {
  const port = findFreePort();
  mkdirSync(home, { recursive: true });
  const started = performance.now();
  const child = Bun.spawn([program], {
    env: { PATH: process.env.PATH ?? "", HOME: home, BECKON_HOME: home, BECKON_PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = createStop(child);
  while (!(await isHealthy(port))) {
    if (child.exitCode !== null) throw new Error(`beckon ended with ${child.exitCode}`);
    await Bun.sleep(0.5);
  }
  const startMs = performance.now() - started;
  const { pid } = JSON.parse(readFileSync(join(home, "endpoint.json"), "utf8"));
  if (pid !== child.pid) throw new Error(`port ${port} is answered by another process`);
  const authorization = readFileSync(join(home, "auth-header"), "utf8").trim();
  return { pid, port, authorization, startMs, stop };
}

export async function startBareReceiver(file: string): Promise<Receiver> {
  const started = performance.now();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "bare.ts"), file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  return {
    pid: child.pid,
    port,
    authorization: "",
    startMs: performance.now() - started,
    stop: createStop(child),
  };
}

/** Runs one load; throws unless every request is answered with 200. */
export async function putLoad(load: Load): Promise<Loaded> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(load)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const loaded: Loaded = await child.stdout.json();
  if (loaded.refused > 0) throw new Error(`${loaded.refused} requests were refused`);
  return loaded;
}

/** User and system time of all threads of the processes. */
export const cpuMsOf = (...pids: readonly number[]): number =>
  sum(
    pids.map((pid) => {
      const fields = statFields(pid);
      return (Number(fields[11]) + Number(fields[12])) * 10;
    }),
  );

export function residentMb(...pids: readonly number[]): number {
  return sum(
    pids.map((pid) => {
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      return Number(kilobytes) / 1_024;
    }),
  );
}

/** Pages that several processes share count in parts; null if this system does not report it. */
export function proportionalMb(...pids: readonly number[]): number | null {
  try {
    return sum(
      pids.map((pid) => {
        const kilobytes = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
        return Number(kilobytes) / 1_024;
      }),
    );
  } catch {
    return null;
  }
}

/** The process and all its descendants. */
export function familyOf(pid: number): number[] {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [{ pid: Number(name), parent: Number(statFields(Number(name))[1]) }];
      } catch {
        return [];
      }
    });
  const family = [pid];
  for (const member of family) {
    for (const process of processes) {
      if (process.parent === member && !family.includes(process.pid)) family.push(process.pid);
    }
  }
  return family;
}

/** The fields of /proc/PID/stat after the name: state first, then the parent's pid. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** When the process started, in clock ticks since boot, as the CLI writes it into its status file. */
export const processStart = (pid: number): string => statFields(pid)[19] ?? "";

function createStop(child: Bun.Subprocess): Receiver["stop"] {
  return async (signal = "SIGTERM") => {
    child.kill(signal);
    await child.exited;
  };
}

export function findFreePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
  } catch {
    return false;
  }
}
