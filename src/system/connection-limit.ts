/**
 * Keeps other users of this machine from using up beckon's file descriptors: anyone can connect to its port, and Bun accepts
 * connections until there is no descriptor left (measured: then hooks get no answer, and the spool, the settings and the snapshot
 * cannot be opened). Near the limit, other users' connections are shut down. Nothing is lost: without the token they
 * learn nothing. Only on Linux, where the kernel shows who owns a connection.
 */
import { dlopen } from "bun:ffi";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { ignoreErrors } from "../storage/files.ts";
import { findForeignInodes, socketTables } from "./sockets.ts";

/** How often open files are counted, and how often connections are shut down while there are too many. */
const countMs = 1_000;
const sweepMs = 50;
/** So many open files are left alone, even if the system allows more. beckon itself needs some hundred, for hooks that wait. */
const maxOpenFiles = 2_048;

const openFiles = "/proc/self/fd";
const shutReadAndWrite = 2;

/** Returns a function that ends it. Does nothing on other systems. */
export function limitForeignConnections(port: number, onProblem: (text: string) => void): () => void {
  const uid = process.getuid?.();
  const threshold = process.platform === "linux" ? readThreshold() : null;
  if (uid === undefined || threshold === null) return () => {};
  return startSweeping({ port, uid, threshold, onProblem });
}

interface SweepOptions {
  readonly port: number;
  readonly uid: number;
  /** With fewer open files nothing is shut down. */
  readonly threshold: number;
  readonly onProblem: (text: string) => void;
}

function startSweeping({ port, uid, threshold, onProblem }: SweepOptions): () => void {
  let hasReported = false;
  let spare: number | null = openSpare();

  /** Returns how many it has shut down. */
  function sweep(): number {
    const names = readdirSync(openFiles);
    if (names.length < threshold) return 0;
    const table = socketTables.map((path) => readFileSync(path, "utf8")).join("\n");
    return shutDown(names, findForeignInodes(table, port, uid));
  }

  function report(text: string): void {
    if (!hasReported) onProblem(text);
    hasReported = true;
  }

  /** Everything happens at once, so nothing else takes the descriptor that it needs. */
  function run(): void {
    if (spare !== null) closeSync(spare);
    let count = 0;
    try {
      count = sweep();
      if (count > 0)
        report("another user of this machine has opened very many connections to beckon: it closes them");
    } catch (error) {
      report(`connections of other users could not be closed: ${error}`);
    }
    spare = openSpare();
    wait(count > 0 ? sweepMs : countMs);
  }

  let timer: Timer;
  function wait(ms: number): void {
    timer = setTimeout(run, ms);
  }
  wait(countMs);
  return () => {
    clearTimeout(timer);
    if (spare !== null) closeSync(spare);
  };
}

/** Half of the descriptors that this process may have. null if that is not known. */
function readThreshold(): number | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? null : Math.min(maxOpenFiles, Number(limit) / 2);
  } catch {
    return null;
  }
}

/** Kept to be closed when there is no other, so that the tables can be read. */
function openSpare(): number | null {
  try {
    return openSync("/dev/null", "r");
  } catch {
    return null;
  }
}

/** Bun then notices the end of the connection and closes it. Closing its descriptor here would take it from another file. */
function shutDown(names: readonly string[], inodes: ReadonlySet<string>): number {
  let count = 0;
  for (const name of names) {
    ignoreErrors(() => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${openFiles}/${name}`))?.[1];
      if (inode === undefined || !inodes.has(inode)) return;
      libc().shutdown(Number(name), shutReadAndWrite);
      count++;
    });
  }
  return count;
}

const loadLibc = () => dlopen("libc.so.6", { shutdown: { args: ["i32", "i32"], returns: "i32" } }).symbols;
let loaded: ReturnType<typeof loadLibc> | null = null;

/** Loaded when it is needed: most runs never do. */
function libc(): ReturnType<typeof loadLibc> {
  loaded ??= loadLibc();
  return loaded;
}
