/** One file of the spool: which one it is, and its lines after a position. */
import { closeSync, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { codeOf } from "./private.ts";

const identityBytes = 4_096;

/** Where it goes before it is removed: a writer that has it open may still add to it. */
export const putAwayOf = (path: string): string => `${path}.taking`;

/** null: there is none. */
export function withSpoolFile<T>(path: string, use: (fd: number) => Promise<T>): Promise<T | null> {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return Promise.resolve(null);
    throw error;
  }
  return use(fd).finally(() => closeSync(fd));
}

/**
 * Tells this file from every other, also from a later one that got its inode number: by the inode, its birth, and its
 * first line, which nobody changes once it is whole.
 */
export function identify(fd: number, { ino, birthtimeMs }: Stats = fstatSync(fd)): string {
  const bytes = Buffer.alloc(identityBytes);
  const read = bytes.subarray(0, readSync(fd, bytes, 0, identityBytes, 0));
  const newline = read.indexOf(10);
  const first = newline < 0 ? read : read.subarray(0, newline);
  const digest = Bun.CryptoHasher.hash("sha256", first, "hex").slice(0, 16);
  return `${ino}.${Math.floor(birthtimeMs)}.${digest}`;
}
