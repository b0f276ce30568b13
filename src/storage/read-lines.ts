/** Reads the lines of a file forwards and backwards, in bounded memory whatever the file contains. */
import { fstatSync, readSync } from "node:fs";

export interface FileLine {
  readonly start: number;
  /** The offset after the newline. */
  readonly end: number;
  /** null if the line is longer than allowed. */
  readonly text: string | null;
}

const chunkBytes = 256 * 1024;
const minChunkBytes = 4 * 1024;
const newline = 10;

/** Yields every line that ends with a newline, up to about `until`. Returns where the incomplete rest starts. */
export function* readCompleteLines(
  fd: number,
  from: number,
  maxLineBytes: number,
  until?: number,
): Generator<FileLine, number, void> {
  const reader = readLinesAndChunks(fd, from, maxLineBytes, until);
  let step = reader.next();
  for (; !step.done; step = reader.next()) if (step.value !== null) yield step.value;
  return step.value;
}

/** The same, with null after each chunk, for a caller that pauses: a line can be as long as the disk is large. */
export function* readLinesAndChunks(
  fd: number,
  from: number,
  maxLineBytes: number,
  until = Number.POSITIVE_INFINITY,
): Generator<FileLine | null, number, void> {
  // Most reads are of the few lines that were added to a file.
  const size = Math.min(chunkBytes, Math.max(minChunkBytes, fstatSync(fd).size - from));
  const chunk = Buffer.allocUnsafe(size);
  let lineStart = from;
  let chunkStart = from;
  /** The parts of the current line that earlier chunks contained. */
  let parts: Buffer[] = [];
  while (chunkStart < until) {
    const bytes = chunk.subarray(0, readSync(fd, chunk, 0, size, chunkStart));
    if (bytes.length === 0) return lineStart;
    let begin = 0;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, begin)) {
      const end = chunkStart + at + 1;
      const lastPart = bytes.subarray(begin, at);
      const isTooLong = end - 1 - lineStart > maxLineBytes;
      const text = isTooLong ? null : joinParts(parts, lastPart);
      parts = [];
      begin = at + 1;
      yield { start: lineStart, end, text };
      lineStart = end;
    }
    chunkStart += bytes.length;
    if (chunkStart - lineStart > maxLineBytes) parts = [];
    else if (begin < bytes.length) parts.push(Buffer.from(bytes.subarray(begin)));
    yield null;
  }
  return lineStart;
}

function joinParts(parts: readonly Buffer[], lastPart: Buffer): string {
  return parts.length === 0 ? lastPart.toString() : Buffer.concat([...parts, lastPart]).toString();
}

/** The offset after the last newline in the first `size` bytes: everything after it is incomplete. */
export function findEndOfLastLine(fd: number, size: number): number {
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size));
  for (let high = size; high > 0; ) {
    const low = Math.max(0, high - chunk.length);
    const bytes = chunk.subarray(0, readSync(fd, chunk, 0, high - low, low));
    const last = bytes.lastIndexOf(newline);
    if (last >= 0) return low + last + 1;
    high = low;
  }
  return 0;
}

/**
 * Calls `visit` with the first `headBytes` of each line between `from` and `end`, the last line first, until it returns false.
 */
export function visitHeadsBackwards(
  fd: number,
  { from, end, headBytes }: { from: number; end: number; headBytes: number },
  visit: (head: string) => boolean,
): void {
  const chunk = Buffer.allocUnsafe(1 + chunkBytes + headBytes);
  for (let high = end; high > from; ) {
    const low = Math.max(from, high - chunkBytes);
    // One byte more before it, to see whether a line starts at `low`.
    const base = Math.max(0, low - 1);
    const bytes = chunk.subarray(0, readSync(fd, chunk, 0, Math.min(end, high + headBytes) - base, base));
    const readHead = (start: number) =>
      bytes.toString("utf8", start, Math.min(start + headBytes, bytes.length));
    for (let before = high - 1 - base; before > 0; ) {
      before = bytes.lastIndexOf(newline, before - 1);
      if (before >= 0 && !visit(readHead(before + 1))) return;
    }
    if (low === 0 && !visit(readHead(0))) return;
    high = low;
  }
}
