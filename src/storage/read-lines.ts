/** Reads files of lines forwards and backwards, in bounded memory whatever lies in them. */
import { readSync } from "node:fs";

export interface FileLine {
  readonly start: number;
  /** The byte after its newline. */
  readonly end: number;
  /** null: longer than allowed, and not held in memory. */
  readonly text: string | null;
}

const chunkBytes = 256 * 1024;
const newline = 10;

/** Every line that has its newline; returns where the unterminated rest starts. */
export function* readCompleteLines(
  fd: number,
  from: number,
  maxLineBytes: number,
): Generator<FileLine, number, void> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let start = from;
  let at = from;
  let pieces: Buffer[] = [];
  for (;;) {
    const bytes = chunk.subarray(0, readSync(fd, chunk, 0, chunkBytes, at));
    if (bytes.length === 0) return start;
    let begin = 0;
    for (let found = bytes.indexOf(newline); found >= 0; found = bytes.indexOf(newline, begin)) {
      const end = at + found + 1;
      const last = bytes.subarray(begin, found);
      const fits = end - 1 - start <= maxLineBytes;
      const text = !fits
        ? null
        : pieces.length === 0
          ? last.toString()
          : Buffer.concat([...pieces, last]).toString();
      pieces = [];
      begin = found + 1;
      yield { start, end, text };
      start = end;
    }
    at += bytes.length;
    if (at - start > maxLineBytes) pieces = [];
    else if (begin < bytes.length) pieces.push(Buffer.from(bytes.subarray(begin)));
  }
}

/** Where the last newline of the first `size` bytes ends: what comes after it was never finished. */
export function findEndOfLastLine(fd: number, size: number): number {
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size));
  for (let high = size; high > 0; ) {
    const low = Math.max(0, high - chunk.length);
    const bytes = chunk.subarray(0, readSync(fd, chunk, 0, high - low, low));
    const found = bytes.lastIndexOf(newline);
    if (found >= 0) return low + found + 1;
    high = low;
  }
  return 0;
}

/** The head of each line that starts at `from` or later and ends by `end`, the last first; `visit` says whether to go on. */
export function visitHeadsBackwards(
  fd: number,
  { from, end, headBytes }: { from: number; end: number; headBytes: number },
  visit: (head: string) => boolean,
): void {
  const chunk = Buffer.allocUnsafe(1 + chunkBytes + headBytes);
  for (let high = end; high > from; ) {
    const low = Math.max(from, high - chunkBytes);
    // One byte more in front, to see whether a line starts at `low`.
    const base = Math.max(0, low - 1);
    const bytes = chunk.subarray(0, readSync(fd, chunk, 0, Math.min(end, high + headBytes) - base, base));
    const head = (start: number) => bytes.toString("utf8", start, Math.min(start + headBytes, bytes.length));
    for (let before = high - 1 - base; before > 0; ) {
      before = bytes.lastIndexOf(newline, before - 1);
      if (before >= 0 && !visit(head(before + 1))) return;
    }
    if (low === 0 && !visit(head(0))) return;
    high = low;
  }
}
