/** Reads a file that a person or another program may have put anything in the place of. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Throws with a code, and never waits: a pipe or a device in its place is no file. */
export function readSmallFile(path: string, maxBytes: number): string {
  // Without waiting: opening a pipe would last until somebody writes into it.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw wrong("it is no regular file", found.isDirectory() ? "EISDIR" : "ENOTREG");
    if (found.size > maxBytes) throw wrong(`it is larger than ${maxBytes} bytes`, "EFBIG");
    const bytes = Buffer.alloc(Math.min(found.size, maxBytes));
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(fd, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    // Some editors on Windows begin a file with a byte order mark.
    return bytes.toString("utf8", 0, length).replace(/^\ufeff/, "");
  } finally {
    closeSync(fd);
  }
}

function wrong(text: string, code: string): Error {
  return Object.assign(new Error(text), { code });
}
