/** The errors that hooks have logged. Hooks are silent, so nobody has seen them. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../core/limits.ts";
import { isProbe } from "../core/session/probe.ts";
import { dayMs, hourMs } from "../core/timing.ts";
import { readOr, readOwnFile } from "./files.ts";
import { listSegments } from "./journal/segments.ts";
import type { Paths } from "./paths.ts";

export interface HookError {
  readonly at: number;
  /** `-` if unknown. */
  readonly event: string;
  readonly text: string;
}

/** Older errors are never shown. */
const maxAgeMs = dayMs;
/** Younger errors are always shown. */
const recentMs = hourMs;

/** Newest last, without those of doctor's own tests. */
function readHookErrors(path: string, now: number): readonly HookError[] {
  return readOrEmpty(path)
    .split("\n")
    .flatMap((line): HookError[] => {
      const [when = "", event = "", sessionId = "", text = ""] = line.split("\t");
      const at = Date.parse(when);
      return now - at < maxAgeMs && !isProbe({ sessionId }) ? [{ at, event, text }] : [];
    });
}

/** Errors that can still matter: those of the last hour, and older ones if no hook has succeeded since. */
export function readOpenHookErrors({ hookLog, journal }: Paths, now: number): readonly HookError[] {
  const errors = readHookErrors(hookLog, now);
  const last = errors.at(-1);
  if (!last) return [];
  return now - last.at < recentMs || readLastEventAt(journal) < last.at ? errors : [];
}

/** When the last event of a hook arrived. 0 if there was none: the journal contains only events of hooks. */
function readLastEventAt(journal: string): number {
  try {
    const files = listSegments(journal).map((name) => statSync(join(journal, name)));
    return Math.max(0, ...files.filter(({ size }) => size > 0).map(({ mtimeMs }) => mtimeMs));
  } catch {
    return 0;
  }
}

const readOrEmpty = (path: string): string => readOr(() => readOwnFile(path, limits.maxHookLogReadBytes), "");
