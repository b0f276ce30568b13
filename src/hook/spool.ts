/** What the forwarder writes to disk: the spool, for events that could not be sent, and hook.log, because agents hide a hook's stderr. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { limits } from "../core/limits.ts";
import { ignoreErrors, openOrClearOwnFile, readOwnBytes } from "../storage/files.ts";
import { escapeControlCharacters } from "../storage/log.ts";

const newline = 10;
const { O_APPEND, O_CREAT, O_WRONLY } = constants;

/** `onCleared` gets a sentence for the log if something else was in the file's place. */
function openForAppend(path: string, onCleared?: (sentence: string) => void): number {
  const folder = dirname(path);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ownUid = process.getuid?.();
  const { uid } = statSync(folder);
  if (ownUid !== undefined && uid !== ownUid)
    throw new Error(`${folder} belongs to user ${uid}, not to you (${ownUid})`);
  return openOrClearOwnFile(path, O_APPEND | O_CREAT | O_WRONLY, onCleared);
}

/** Writes the line at once, so that lines of hooks that run at the same time do not mix. Returns what the log must say, or null. */
export function appendSpool(path: string, body: string): string | null {
  let cleared: string | null = null;
  try {
    const file = openForAppend(path, (sentence) => {
      cleared = sentence;
    });
    try {
      const { size } = fstatSync(file);
      if (size > limits.maxSpoolBytes)
        return `spool is full (${size} bytes): event dropped; start beckon to empty it`;
      // In JSON text, a newline can only be white space between tokens.
      const line = Buffer.from(`${body.replace(/[\r\n]/g, " ")}\n`);
      const written = writeSync(file, line);
      return written === line.length
        ? cleared
        : `only ${written} of ${line.length} bytes fitted into the spool: event lost`;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `could not write the spool (${(error as Error).message}): event lost`;
  }
}

/** To stderr and to the log, which may not be writable. */
export function reportFault(path: string, eventName: string, sessionId: string, fault: string): void {
  ignoreErrors(() => writeSync(2, `beckon hook: ${escapeControlCharacters(fault)}\n`));
  appendLog(path, eventName, sessionId, fault);
}

export function appendLog(path: string, eventName: string, sessionId: string, text: string): void {
  const fields = [new Date().toISOString(), eventName, sessionId, text];
  const line = fields.map(escapeControlCharacters).join("\t");
  ignoreErrors(() => {
    const file = openForAppend(path);
    const { size } = fstatSync(file);
    if (size > limits.maxHookLogReadBytes) ftruncateSync(file);
    writeSync(file, `${line}\n`);
    closeSync(file);
    if (size > limits.maxHookLogBytes && size <= limits.maxHookLogReadBytes) dropOldestHalf(path);
  });
}

function dropOldestHalf(path: string): void {
  const bytes = readOwnBytes(path, limits.maxHookLogReadBytes);
  const from = bytes.indexOf(newline, Math.floor(bytes.length / 2)) + 1;
  const replacement = `${path}.${process.pid}.tmp`;
  writeFileSync(replacement, bytes.subarray(from), { mode: 0o600, flag: "wx" });
  renameSync(replacement, path);
}
