/** What went wrong in hooks, of late: they are silent, so nobody saw it. */
import { isProbe } from "../core/probe.ts";
import { limits } from "../limits.ts";
import { readSmallFile } from "./small-file.ts";

export interface HookError {
  readonly at: number;
  /** `-`: not known. */
  readonly event: string;
  readonly text: string;
}

const recentMs = 24 * 60 * 60_000;

/** The newest last. What doctor's own tests left there is no news. */
export function recentHookErrors(path: string, now: number): readonly HookError[] {
  return read(path)
    .split("\n")
    .flatMap((line): HookError[] => {
      const [when = "", event = "", sessionId = "", text = ""] = line.split("\t");
      const at = Date.parse(when);
      return now - at < recentMs && !isProbe({ sessionId }) ? [{ at, event, text }] : [];
    });
}

function read(path: string): string {
  try {
    return readSmallFile(path, limits.maxHookLogReadBytes);
  } catch {
    return "";
  }
}
