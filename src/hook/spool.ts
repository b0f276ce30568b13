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
import { findAgent } from "../agents/index.ts";
import { asRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { errorCode, ignoreErrors, openOrClearOwnFile, readOwnBytes } from "../storage/files.ts";
import { addDroppedEvents, type SpoolEvent, shrinkSpool } from "../storage/full-spool.ts";
import { escapeControlCharacters } from "../storage/log.ts";
import type { Paths } from "../storage/paths.ts";

const newline = 10;
const { O_APPEND, O_CREAT, O_WRONLY } = constants;

/** A longer spool was not written by hooks, or could not be made shorter. */
const maxFullBytes = limits.maxSpoolBytes * 2;

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
export function appendSpool(paths: Pick<Paths, "spool" | "spoolDropped">, body: string): string | null {
  let note: string | null = null;
  const onCleared = (sentence: string) => {
    note = sentence;
  };
  try {
    let file = openForAppend(paths.spool, onCleared);
    try {
      const sizeBefore = fstatSync(file).size;
      if (sizeBefore > limits.maxSpoolBytes && sizeBefore <= maxFullBytes) {
        note = makeRoom(paths);
        closeSync(file);
        file = openForAppend(paths.spool, onCleared);
      }
      const { size } = fstatSync(file);
      if (size > maxFullBytes) {
        addDroppedEvents(paths, { count: 1, from: null, to: Date.now() });
        return `spool is full (${size} bytes): event dropped; start beckon to empty it`;
      }
      // In JSON text, a newline can only be white space between tokens.
      const line = Buffer.from(`${body.replace(/[\r\n]/g, " ")}\n`);
      const written = writeSync(file, line);
      return written === line.length
        ? note
        : `only ${written} of ${line.length} bytes fitted into the spool: event lost`;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `could not write the spool (${(error as Error).message}): event lost`;
  }
}

/** Returns what the log must say; null if another hook is doing it. */
function makeRoom(paths: Pick<Paths, "spool" | "spoolDropped">): string | null {
  try {
    const dropped = shrinkSpool(paths.spool, { classify: classifyLine });
    if (dropped === null) return null;
    addDroppedEvents(paths, dropped);
    return `spool is full: ${dropped.count} events that ask nothing, or are old, were dropped; start beckon to empty it`;
  } catch (error) {
    return `spool is full and could not be made shorter (${errorCode(error)}); start beckon to empty it`;
  }
}

function classifyLine(line: string): SpoolEvent | null {
  try {
    const { provider, _meta, payload } = asRecord(JSON.parse(line));
    const fields = asRecord(payload);
    const forwarding = findAgent(String(provider))?.forwarding;
    if (!forwarding) return null;
    const { kind, toolUseId } = forwarding.spoolKind(fields);
    const { at } = asRecord(_meta);
    return {
      session: String(forwarding.identify(fields).sessionId),
      kind,
      toolUseId: typeof toolUseId === "string" ? toolUseId : null,
      at: typeof at === "number" ? at : null,
    };
  } catch {
    return null;
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
