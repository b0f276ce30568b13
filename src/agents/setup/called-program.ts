/** Whether a program that registered hooks call is there, and may be run by doctor. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";

export type ProgramStatus = "ok" | "missing" | "not executable";

/** A path with a variable in it counts as one that can run: only the shell knows which file it is. */
export const canRun = (binary: string): boolean => !isAbsolute(binary) || findProgramStatus(binary) === "ok";

export function findProgramStatus(path: string): ProgramStatus {
  try {
    if (!statSync(path).isFile()) return "missing";
  } catch {
    return "missing";
  }
  try {
    accessSync(path, constants.X_OK);
    return "ok";
  } catch {
    return "not executable";
  }
}

/** A project's settings can name any program. Doctor runs only this beckon and the one that install recorded. */
export function isTrustedBinary(binary: string, installed: string | null): boolean {
  const resolveLinks = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  };
  const trusted = [process.execPath, ...(installed === null ? [] : [installed])];
  return trusted.map(resolveLinks).includes(resolveLinks(binary));
}
