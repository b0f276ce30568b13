/** A file that an agent writes line by line. */
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { limits } from "../../core/limits.ts";
import { readCompleteLines } from "../../storage/read-lines.ts";

/** A file that only grows, line by line. */
export interface GrowingFile {
  /**
   * Passes the lines that were added since the last call, at most a slice of the file. Returns "behind" if there is more to
   * read, and "replaced" if the file is shorter than it was: everything is read again by the next call.
   */
  readNew(onLine: (text: string) => void): "done" | "behind" | "replaced" | "missing";
}

/**
 * Opened for each read: a file that is kept open is one file descriptor per session. Of a file longer than `tailBytes`, only the
 * first line and that many last bytes are read: for logs whose last lines have the totals.
 */
export function followFile(path: string, tailBytes = Number.POSITIVE_INFINITY): GrowingFile {
  let offset = 0;
  /** The offset is inside of a line that is too long. */
  let isInsideLine = false;
  return {
    readNew(onLine) {
      const known = statSync(path, { throwIfNoEntry: false });
      if (!known) return "missing";
      if (known.size === offset) return "done";
      // O_NOFOLLOW: the path is a real one, so a link there is new and leads elsewhere.
      const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const stats = fstatSync(fd);
        if (!stats.isFile()) return "missing";
        if (stats.size < offset) {
          offset = 0;
          isInsideLine = false;
          return "replaced";
        }
        if (offset === 0 && stats.size > tailBytes) skipToTail(fd, stats.size, onLine);
        return readSlice(fd, stats.size, onLine);
      } finally {
        closeSync(fd);
      }
    },
  };

  function skipToTail(fd: number, size: number, onLine: (text: string) => void): void {
    const [first] = readCompleteLines(fd, 0, limits.maxTranscriptRowBytes, limits.maxTranscriptRowBytes);
    if (first && first.text !== null) onLine(first.text);
    // The tail starts inside of a line.
    const [partial] = readCompleteLines(fd, size - tailBytes, limits.maxTranscriptRowBytes);
    offset = partial?.end ?? size;
  }

  function readSlice(fd: number, size: number, onLine: (text: string) => void): "done" | "behind" {
    const from = offset;
    const until = from + limits.maxTranscriptRowBytes + 1;
    const lines = readCompleteLines(fd, from, limits.maxTranscriptRowBytes, until);
    for (const { text, end } of lines) {
      offset = end;
      if (text !== null && !isInsideLine) onLine(text);
      isInsideLine = false;
      if (end - from >= limits.transcriptSliceBytes) return "behind";
    }
    if (size <= until) return "done";
    // A line that is too long is read once, and not again from its start at every call.
    if (offset === from) {
      offset = until;
      isInsideLine = true;
    }
    return "behind";
  }
}
