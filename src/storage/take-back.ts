/** A line at the end of the spool that is nobody's event, taken out again where nothing can be lost by it. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
} from "node:fs";
import { limits } from "../core/limits.ts";
import { tryTo } from "./private.ts";
import { putAwayOf } from "./spool-file.ts";

const { O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Only for one who knows that no app reads it. Whatever else was written since `length` leaves all as it is. */
export function removeLastSpoolLine(path: string, length: number, mark: string): void {
  const putAway = putAwayOf(path);
  tryTo(() => {
    const isEmpty = cutOff(path, length, mark) && length === 0;
    if (isEmpty && !existsSync(putAway)) renameSync(path, putAway);
  });
}

function cutOff(path: string, length: number, mark: string): boolean {
  // On Windows the last two are undefined, which is 0 here.
  const file = openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size } = fstatSync(file);
    if (size <= length || size - length > limits.maxSmallFileBytes) return false;
    const added = Buffer.alloc(size - length);
    const read = readSync(file, added, 0, added.length, length);
    const text = added.toString("utf8", 0, read);
    const isOneLine = text.indexOf("\n") === text.length - 1;
    if (!isOneLine || !text.includes(mark) || fstatSync(file).size !== size) return false;
    ftruncateSync(file, length);
    return true;
  } finally {
    closeSync(file);
  }
}
