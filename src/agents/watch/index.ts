/** Reading the files that agents write themselves: only below the agent's own folders, and only what was added. */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { limits } from "../../core/limits.ts";
import type { Moment } from "../../core/session/event.ts";

/**
 * The real path of a session's file, if it is a regular .jsonl file under one of the roots, which are the agent's own folders. null
 * otherwise: a value from an event must not become a path to read somewhere else.
 */
export async function findInsideFolders(path: string, roots: readonly string[]): Promise<string | null> {
  if (!isAbsolute(path) || path.length > limits.maxPathLength || path.includes("\0")) return null;
  if (path.split(/[\\/]/).includes("..")) return null;
  const real = await realpath(path).catch(() => null);
  if (!real?.endsWith(".jsonl")) return null;
  const stats = await lstat(real).catch(() => null);
  if (!stats?.isFile()) return null;
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => null);
    if (realRoot !== null && isUnder(real, realRoot)) return real;
  }
  return null;
}

function isUnder(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest !== "" && rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Does not block on a pipe, as opening one for reading usually does. */
export async function openRegular(path: string, moreFlags = 0): Promise<FileHandle | null> {
  const file = await open(path, readFlags | moreFlags).catch(() => null);
  if (!file) return null;
  const stats = await file.stat().catch(() => null);
  if (stats?.isFile()) return file;
  await file.close();
  return null;
}

/** A wall time of the past on both clocks. The present if it is unknown, or in the future. */
export function toMoment(now: Moment, at: number | null): Moment {
  if (at === null || at > now.at) return { at: now.at, t: now.t };
  return { at, t: now.t - (now.at - at) };
}
