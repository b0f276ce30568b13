/** Opens a file with the user's program for it. */
import type { ChildProcess } from "node:child_process";
import { basename } from "node:path";
import open from "open";

/** An opener without a program for the file fails at once; one that keeps running has become the program itself. */
const failureMs = 2_000;

/** Returns why the file could not be opened, or null. */
export const openFile = (path: string): Promise<string | null> => openWithProgram(path);

/** Opens a file or an address. */
export async function openWithProgram(path: string): Promise<string | null> {
  try {
    return await waitForFailure(await open(path));
  } catch (error) {
    return formatError(error);
  }
}

function formatError(error: unknown): string {
  const { code, path, message } = Object(error) as NodeJS.ErrnoException;
  if (code === "ENOENT" && path !== undefined) return `${basename(path)} is not installed`;
  return message ?? String(error);
}

export function waitForFailure(opener: ChildProcess): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const onExit = (code: number | null, signal: string | null) => {
    if (code === 0) return resolve(null);
    const ending = code === null ? `was killed by ${signal}` : `ended with ${code}`;
    resolve(`${basename(opener.spawnfile)} ${ending}: is there a program for such files?`);
  };
  opener.once("error", (error) => resolve(formatError(error)));
  opener.once("exit", onExit);
  // It may have ended before the listener was added.
  if (opener.exitCode !== null || opener.signalCode !== null) onExit(opener.exitCode, opener.signalCode);
  const timer = setTimeout(() => resolve(null), failureMs);
  return promise.finally(() => clearTimeout(timer));
}
