/** Reads a transcript around a moment: only a window of it, however long the file is. */
import type { FileHandle } from "node:fs/promises";
import type { TranscriptLine } from "../../core/interfaces/wire.ts";
import { limits } from "../../core/limits.ts";
import { openRegular } from "./index.ts";

/** A row of the file as lines to show. Rows that say nothing to a user give none. */
export type ReadTranscriptRow = (row: string) => readonly TranscriptLine[];

interface TranscriptWindow {
  readonly lines: readonly TranscriptLine[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
}

const probeBytes = 256 * 1024;
/** Lines after the moment. */
const linesAfter = 40;

/** null if the file cannot be read. `before` is how many lines before the moment are wanted. */
export async function readTranscriptAround(
  path: string,
  at: number,
  before: number,
  readRow: ReadTranscriptRow,
): Promise<TranscriptWindow | null> {
  const file = await openRegular(path);
  if (!file) return null;
  try {
    const { size } = await file.stat();
    const center = size > limits.transcriptSliceBytes ? await findOffset(file, size, at) : 0;
    const half = limits.transcriptSliceBytes / 2;
    const start = Math.max(0, Math.min(center - half, size - 2 * half));
    const end = Math.min(size, start + 2 * half);
    const text = await readText(file, start, end);
    const rows = text.split("\n");
    // A window starts and ends inside of a row.
    if (start > 0) rows.shift();
    if (end < size) rows.pop();
    const all = rows.flatMap(readRow);
    const later = all.findIndex((line) => line.at !== null && line.at > at);
    const cut = later < 0 ? all.length : later;
    const from = Math.max(0, cut - before);
    return {
      lines: all.slice(from, cut + linesAfter),
      hasEarlier: start > 0 || from > 0,
      hasLater: end < size || cut + linesAfter < all.length,
    };
  } finally {
    await file.close();
  }
}

/** Rows are nearly in the order of their times: near enough for a window of megabytes. */
async function findOffset(file: FileHandle, size: number, at: number): Promise<number> {
  let [low, high] = [0, size];
  while (high - low > probeBytes) {
    const middle = Math.floor((low + high) / 2);
    const time = findTime(await readText(file, middle, Math.min(high, middle + probeBytes)));
    if (time !== null && time <= at) low = middle;
    else high = middle;
  }
  return low;
}

function findTime(text: string): number | null {
  const [, time = ""] = /"timestamp":\s*"([^"]{10,40})"/.exec(text) ?? [];
  const at = Date.parse(time);
  return Number.isNaN(at) ? null : at;
}

async function readText(file: FileHandle, start: number, end: number): Promise<string> {
  const bytes = Buffer.allocUnsafe(end - start);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
  return bytes.toString("utf8", 0, bytesRead);
}
