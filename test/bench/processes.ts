/** The processes that are measured, and the one that puts load on them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mainSource } from "../repo.ts";
import type { Load, Loaded } from "./load.ts";

export interface Receiver {
  readonly pid: number;
  readonly port: number;
  /** A header line, or "" for none. */
  readonly authorization: string;
  readonly startMs: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A folder that is gone when the work is done, however it ends. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The sources as they are now. */
export async function compile(folder: string): Promise<string> {
  const outfile = join(folder, "beckon");
  await compileEntry(mainSource, outfile);
  return outfile;
}

/** As build.ts does it. */
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

/** Resolves with its first answer. */
export async function startBeckon(binary: string, home: string): Promise<Receiver> {
  const port = freePort();
  mkdirSync(home, { recursive: true });
  const started = performance.now();
  const child = Bun.spawn([binary], {
    env: { PATH: process.env.PATH ?? "", HOME: home, BECKON_HOME: home, BECKON_PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = stopOf(child);
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

export async function startBare(file: string): Promise<Receiver> {
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
    stop: stopOf(child),
  };
}

/** One load, all of it answered with 200. */
export async function put(load: Load): Promise<Loaded> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(load)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const loaded: Loaded = await child.stdout.json();
  if (loaded.refused > 0) throw new Error(`${loaded.refused} requests were refused: nothing to measure`);
  return loaded;
}

/** User and system time of all its threads. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1_024;
}

/** Its share of what it holds: pages that several processes use count in parts. null: this system does not say. */
export function shareMb(pid: number): number | null {
  try {
    const kilobytes = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1_024;
  } catch {
    return null;
  }
}

function stopOf(child: Bun.Subprocess): Receiver["stop"] {
  return async (signal = "SIGTERM") => {
    child.kill(signal);
    await child.exited;
  };
}

export function freePort(): number {
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
