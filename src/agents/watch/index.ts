/**
 * Reading the files that agents write themselves: only below the agent's own folders, and only what was added. What they say becomes
 * events.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { limits } from "../../core/limits.ts";
import {
  type Change,
  createInternalEvent,
  type Enrichment,
  type EventSubject,
  type Moment,
} from "../../core/session/event.ts";
import type { Child, Session } from "../../core/session/session.ts";
import type { WatchContext } from "../agent.ts";

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

/** Dispatches an event, and returns its id. */
export type EmitChange = (subject: EventSubject, when: Moment, change: Change) => string;

let count = 0;

/** Timers and file watchers call it: nobody else would catch an error. */
export function createEmitter({ dispatch, onError }: Pick<WatchContext, "dispatch" | "onError">): EmitChange {
  return (subject, when, change) => {
    const id = `own-${++count}-${when.t}`;
    try {
      dispatch(createInternalEvent(id, when, subject, change));
    } catch (error) {
      onError(`could not apply ${change.kind} to ${subject.sessionId}: ${error}`);
    }
    return id;
  };
}

/** True if a file says something that the session does not show yet. */
export function isNews(session: Session, { children = [], ...own }: Enrichment): boolean {
  const names = Object.keys(own) as (keyof typeof own)[];
  if (names.some((name) => own[name] != null && !Bun.deepEquals(own[name], session[name]))) return true;
  return children.some(({ agentId, usage, model, context }) => {
    const known = session.children.find((child) => child.agentId === agentId);
    return known && !Bun.deepEquals({ usage, model, context }, pickUsage(known));
  });
}

const pickUsage = ({ usage, model, context }: Child) => ({ usage, model, context });
