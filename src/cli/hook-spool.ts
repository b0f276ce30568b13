/** What the forwarder leaves on disk: events for later, and a log, since nobody sees a silent hook's stderr. */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { limits } from "../limits.ts";

const { O_APPEND, O_CREAT, O_WRONLY } = constants;

function openForAppend(path: string): number {
  const flags = O_APPEND | O_CREAT | O_WRONLY;
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, flags, 0o600);
  }
}

/** One line in one write, so that lines of hooks that run at once stay whole. Returns what went wrong, or null. */
export function spool(path: string, body: string): string | null {
  try {
    const file = openForAppend(path);
    try {
      const { size } = fstatSync(file);
      if (size > limits.maxSpoolBytes)
        return `spool is full (${size} bytes): event dropped; start beckon to empty it`;
      // In JSON a newline is only ever space between tokens.
      const line = Buffer.from(`${body.replace(/[\r\n]/g, " ")}\n`);
      const written = writeSync(file, line);
      return written === line.length
        ? null
        : `only ${written} of ${line.length} bytes fitted into the spool: event lost`;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `could not write the spool (${(error as Error).message}): event lost`;
  }
}

/** Both to stderr and to the log; where the log cannot be written, stderr has to do. */
export function log(path: string, name: string, session: string, message: string): void {
  const line = [new Date().toISOString(), name, session, message].map(oneField).join("\t");
  attempt(() => writeSync(2, `beckon hook: ${oneField(message)}\n`));
  attempt(() => {
    const file = openForAppend(path);
    const { size } = fstatSync(file);
    writeSync(file, `${line}\n`);
    closeSync(file);
    if (size > limits.maxHookLogBytes) dropOldestHalf(path);
  });
}

function dropOldestHalf(path: string): void {
  const text = readFileSync(path);
  const from = text.indexOf(10, Math.floor(text.length / 2)) + 1;
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, text.subarray(from), { mode: 0o600 });
  renameSync(fresh, path);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into the log.
const oneField = (text: string): string => text.replace(/[\x00-\x1f\x7f]/g, " ");

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // A full disk or a closed stderr is no reason to fail the agent's hook.
  }
}
