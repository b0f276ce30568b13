/** Small logs that cannot fill a disk. Light: a hook may load it. */
import { appendFileSync, renameSync, statSync } from "node:fs";

/** Appends a line; a file that would grow beyond `maxBytes` becomes `.1` first, and so on up to `keep`. Never throws. */
export function appendBounded(path: string, line: string, maxBytes: number, keep = 1): boolean {
  try {
    const text = `${line}\n`;
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > 0 && size + Buffer.byteLength(text) > maxBytes) {
      for (let number = keep; number > 0; number--) shift(path, number);
    }
    appendFileSync(path, text, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function shift(path: string, number: number): void {
  try {
    renameSync(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
  } catch {
    // There are not that many yet.
  }
}

/** What a terminal would obey rather than show, made visible: events can carry anything. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
