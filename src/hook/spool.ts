/** What the forwarder leaves on disk: events for later, and a log, since nobody sees a silent hook's stderr. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { limits } from "../core/limits.ts";
import { escapeControlCharacters } from "../storage/log.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** Waits for nobody, and follows no link: what is there in place of the file may have been put there. */
function openForAppend(path: string): number {
  const folder = dirname(path);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const me = process.getuid?.();
  const refuse = (what: string, owner: number) => new Error(`${what} belongs to user ${owner}, not to you`);
  const { uid } = statSync(folder);
  if (me !== undefined && uid !== me) throw refuse(folder, uid);
  // On Windows the last two are undefined, which is 0 here.
  const file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const found = fstatSync(file);
  if (found.isFile() && (me === undefined || found.uid === me)) return file;
  closeSync(file);
  throw found.isFile() ? refuse(path, found.uid) : new Error(`${path} is not a file`);
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
  attempt(() => writeSync(2, `beckon hook: ${escapeControlCharacters(message)}\n`));
  note(path, name, session, message);
}

/** To the log alone. */
export function note(path: string, name: string, session: string, message: string): void {
  const line = [new Date().toISOString(), name, session, message].map(escapeControlCharacters).join("\t");
  attempt(() => {
    const file = openForAppend(path);
    const { size } = fstatSync(file);
    if (size > limits.maxHookLogReadBytes) ftruncateSync(file);
    writeSync(file, `${line}\n`);
    closeSync(file);
    if (size > limits.maxHookLogBytes && size <= limits.maxHookLogReadBytes) dropOldestHalf(path);
  });
}

function dropOldestHalf(path: string): void {
  const text = readFileSync(path);
  const from = text.indexOf(10, Math.floor(text.length / 2)) + 1;
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, text.subarray(from), { mode: 0o600, flag: "wx" });
  renameSync(fresh, path);
}

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // A full disk or a closed stderr is no reason to fail the agent's hook.
  }
}
