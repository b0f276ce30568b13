/** Opens a file with the program the person has for it. */
import type { ChildProcess } from "node:child_process";
import { basename } from "node:path";
import open from "open";

/** An opener that has nothing to open it with says so at once; one that runs on is the program itself. */
const patienceMs = 2_000;

/** null: done; else why it could not be. */
export async function openFile(path: string): Promise<string | null> {
  try {
    return await failureOf(await open(path));
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  const { code, path, message } = Object(error) as NodeJS.ErrnoException;
  if (code === "ENOENT" && path !== undefined) return `${basename(path)} is not installed`;
  return message ?? String(error);
}

function failureOf(opener: ChildProcess): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const ended = (code: number | null, signal: string | null) => {
    if (code === 0) return resolve(null);
    const how = code === null ? `was ended by ${signal}` : `ended with ${code}`;
    resolve(`${basename(opener.spawnfile)} ${how}: is there a program for such files?`);
  };
  opener.once("error", (error) => resolve(reasonOf(error)));
  opener.once("exit", ended);
  // It may have ended before it was listened to.
  if (opener.exitCode !== null || opener.signalCode !== null) ended(opener.exitCode, opener.signalCode);
  const timer = setTimeout(() => resolve(null), patienceMs);
  return promise.finally(() => clearTimeout(timer));
}
