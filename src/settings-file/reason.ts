/** Why the system did not let a file be written, in people's words. */
import { errorCode } from "../storage/files.ts";

const reasons: Readonly<Record<string, string>> = {
  EACCES: "you may not write there",
  EPERM: "the system does not permit it",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  EBUSY: "it is mounted by itself",
  ENOTDIR: "something on the way to it is no folder",
};

/** null: it was not the system. */
export function reasonOf(cause: unknown): string | null {
  const code = errorCode(cause);
  if (!reasons[code] && !/^E[A-Z0-9]+$/.test(code)) return null;
  return `${reasons[code] ?? "the system refuses"} (${code})`;
}
