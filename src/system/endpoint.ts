import { readFileSync } from "node:fs";
import { limits } from "../core/limits.ts";
import type { Paths } from "../storage/paths.ts";
import { readSmallFile } from "../storage/small-file.ts";
import { isAlive } from "./clock.ts";

export interface Endpoint {
  readonly url: string;
  readonly pid: number;
}

/** null: none is running. One that was killed leaves its address behind, and its port may be somebody else's by now. */
export function readEndpoint(paths: Pick<Paths, "endpoint">): Endpoint | null {
  try {
    const text = readSmallFile(paths.endpoint, limits.maxSmallFileBytes);
    const found = JSON.parse(text) as Record<string, unknown> | null;
    const { url, pid, start, boot } = found ?? {};
    if (typeof url !== "string" || typeof pid !== "number" || !Number.isInteger(pid) || pid < 1) return null;
    if (typeof boot === "string" && boot !== readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())
      return null;
    return isAlive(pid, typeof start === "string" ? start : null) ? { url, pid } : null;
  } catch {
    return null;
  }
}
