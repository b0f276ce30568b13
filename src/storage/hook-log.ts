/** What went wrong in hooks, of late: they are silent, so nobody saw it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../core/limits.ts";
import { isProbe } from "../core/session/probe.ts";
import { readSmallFile } from "./files.ts";
import { listSegments } from "./journal/segments.ts";
import type { Paths } from "./paths.ts";

export interface HookError {
  readonly at: number;
  /** `-`: not known. */
  readonly event: string;
  readonly text: string;
}

const recentMs = 24 * 60 * 60_000;
const freshMs = 60 * 60_000;

/** The newest last. What doctor's own tests left there is no news. */
function recentHookErrors(path: string, now: number): readonly HookError[] {
  return read(path)
    .split("\n")
    .flatMap((line): HookError[] => {
      const [when = "", event = "", sessionId = "", text = ""] = line.split("\t");
      const at = Date.parse(when);
      return now - at < recentMs && !isProbe({ sessionId }) ? [{ at, event, text }] : [];
    });
}

/** Those that may still matter: of the last hour, and older ones while no hook has come through since. */
export function readOpenHookErrors({ hookLog, journal }: Paths, now: number): readonly HookError[] {
  const recent = recentHookErrors(hookLog, now);
  const last = recent.at(-1);
  if (!last) return [];
  return now - last.at < freshMs || lastTakenAt(journal) < last.at ? recent : [];
}

/** When a hook's event last came through: the journal has those and nothing else. 0: none is known of. */
function lastTakenAt(journal: string): number {
  try {
    const files = listSegments(journal).map((name) => statSync(join(journal, name)));
    return Math.max(0, ...files.filter(({ size }) => size > 0).map(({ mtimeMs }) => mtimeMs));
  } catch {
    return 0;
  }
}

function read(path: string): string {
  try {
    return readSmallFile(path, limits.maxHookLogReadBytes);
  } catch {
    return "";
  }
}
