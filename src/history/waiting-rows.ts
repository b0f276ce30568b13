/**
 * Rows that wait for a thread that lags behind: in a file, because a storm of hooks can last for minutes. In the messages to
 * the thread, 200,000 events took 60 MB of memory. They are packed: as text, a million events did not fit into the file.
 */
import { closeSync, constants, ftruncateSync, readSync, rmSync, writeSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { ignoreErrors, openOwnFile, withFile } from "../storage/files.ts";

/** A part of the file. */
export interface WaitingRows {
  readonly offset: number;
  readonly bytes: number;
}

export interface WaitingRowsFile {
  /** Returns where the text is; the text itself if it cannot be written. */
  put(text: string): WaitingRows | string;
  /** What was put there. Throws if the file does not have it any more. */
  read(rows: WaitingRows | string): string;
  /** To be called when no row waits any more, and at the start. */
  clear(): void;
}

/** Beside the database: it is as private, and removed with it. */
export const nameWaitingRows = (database: string): string => `${database}-rows`;

export function createWaitingRowsFile(path: string): WaitingRowsFile {
  let fd: number | null = null;
  let length = 0;
  /** An earlier run may have left the file. */
  let mayExist = true;

  function open(): number {
    mayExist = true;
    const opened = openOwnFile(path, constants.O_WRONLY | constants.O_CREAT);
    ftruncateSync(opened);
    length = 0;
    return opened;
  }

  return {
    put(text) {
      const bytes = Bun.zstdCompressSync(text, { level: 1 });
      if (length + bytes.length > limits.maxWaitingRowsBytes) return text;
      try {
        fd ??= open();
        const offset = length;
        for (let done = 0; done < bytes.length; )
          done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
        length += bytes.length;
        return { offset, bytes: bytes.length };
      } catch {
        // The next text is written to the same place.
        return text;
      }
    },
    read: (rows) => (typeof rows === "string" ? rows : readWaitingRows(path, rows)),
    clear() {
      if (!mayExist) return;
      mayExist = false;
      const opened = fd;
      fd = null;
      length = 0;
      if (opened !== null) ignoreErrors(() => closeSync(opened));
      ignoreErrors(() => rmSync(path, { force: true }));
    },
  };
}

/** Throws if the file does not have them any more. */
export function readWaitingRows(path: string, { offset, bytes }: WaitingRows): string {
  const buffer = Buffer.allocUnsafe(bytes);
  return withFile(openOwnFile(path, constants.O_RDONLY), (fd) => {
    for (let done = 0; done < bytes; ) {
      const read = readSync(fd, buffer, done, bytes - done, offset + done);
      if (read === 0) throw new Error("rows that waited for the history are gone");
      done += read;
    }
    return Bun.zstdDecompressSync(buffer).toString("utf8");
  });
}
