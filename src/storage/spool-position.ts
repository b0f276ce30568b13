/** How far the spool was read: the offsets in its files, and those of sessions that were taken ahead of the others. */
import { fstatSync, readSync } from "node:fs";

/**
 * Opaque to callers: the id of the file and, after spaces, `id@offset` of the other file and `+session@id@offset` of sessions
 * that were taken ahead of the others; then the offset in the first file.
 */
export type SpoolPosition = readonly [string, number];

/** By file id, in the order in which the files were read: everything before the offset was read. */
type Offsets = Map<string, number>;
/** By file id and the hash of a session's key: the session's lines before the offset were taken ahead. */
type AheadOffsets = Map<string, Map<string, number>>;

export interface ReadOffsets {
  readonly offsets: Offsets;
  readonly ahead: AheadOffsets;
}

/** The position after `end` in the file with this id. */
export function encodePosition({ offsets, ahead }: ReadOffsets, id: string, end: number): SpoolPosition {
  const others = [...offsets]
    .filter(([other]) => other !== id)
    .map(([other, offset]) => `${other}@${offset}`);
  const sessions = [...ahead].flatMap(([file, taken]) =>
    [...taken].map(([session, offset]) => `+${session}@${file}@${offset}`),
  );
  return [[id, ...others, ...sessions].join(" "), end];
}

/** The position comes from a file: if it is not valid, everything is read again, and known events are ignored by their id. */
export function decodePosition(position: SpoolPosition | null): ReadOffsets {
  const offsets: Offsets = new Map();
  const ahead: AheadOffsets = new Map();
  if (!Array.isArray(position) || typeof position[0] !== "string" || !Number.isSafeInteger(position[1]))
    return { offsets, ahead };
  const [id = "", ...others] = position[0].split(" ");
  for (const other of others) {
    const [first = "", second = "", third] = other.split("@");
    if (!first.startsWith("+")) offsets.set(first, Number(second) || 0);
    else ahead.set(second, (ahead.get(second) ?? new Map()).set(first.slice(1), Number(third) || 0));
  }
  offsets.set(id, position[1]);
  return { offsets, ahead };
}

const identityBytes = 4_096;

/** Inode, birth time and a hash of the first line, which never changes once complete: an inode number can be reused. */
export function identifyFile(fd: number): string {
  const { ino, birthtimeMs } = fstatSync(fd);
  const bytes = Buffer.alloc(identityBytes);
  const read = bytes.subarray(0, readSync(fd, bytes, 0, identityBytes, 0));
  const newline = read.indexOf(10);
  const firstLine = newline < 0 ? read : read.subarray(0, newline);
  const digest = Bun.CryptoHasher.hash("sha256", firstLine, "hex").slice(0, 16);
  return `${ino}.${Math.floor(birthtimeMs)}.${digest}`;
}
