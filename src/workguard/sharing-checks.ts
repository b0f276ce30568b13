/** When it is found out which sessions share a file, and what was found last. */
import type { Schedule } from "../core/interfaces/index.ts";

/** By real path: the keys of the sessions that share the file. */
export type SharedPaths = ReadonlyMap<string, ReadonlySet<string>>;

export interface SharingChecksOptions {
  readonly schedule: Schedule;
  /** The sessions that share the file now. `known` is what was found of all files. */
  readonly findSharing: (path: string, known: SharedPaths) => Promise<ReadonlySet<string>>;
  /** What the session shares may have changed. */
  readonly onChecked: (key: string, shared: SharedPaths) => void;
}

export interface SharingChecks {
  /** What was found last. */
  readonly shared: SharedPaths;
  /** The file is part of the next check. */
  add(path: string): void;
  /** Checks what was added after this time, unless a check is due already. */
  checkSoon(ms?: number): void;
  stop(): void;
}

/** A moment after an edit, so that several of one turn are checked together. */
const checkMs = 200;
/** A commit in another terminal ends a collision, and no event says so. */
const recheckMs = 30_000;

export function createSharingChecks({
  schedule,
  findSharing,
  onChecked,
}: SharingChecksOptions): SharingChecks {
  const shared = new Map<string, ReadonlySet<string>>();
  const due = new Set<string>();
  let cancelCheck: (() => void) | null = null;
  let cancelRecheck: (() => void) | null = null;
  let isChecking = false;
  let isStopped = false;

  function checkSoon(ms = checkMs): void {
    if (due.size > 0 && !isStopped) cancelCheck ??= schedule(() => void check(), ms);
  }

  async function check(): Promise<void> {
    cancelCheck = null;
    if (isChecking) return checkSoon();
    isChecking = true;
    const changed = new Set<string>();
    for (const path of due) {
      due.delete(path);
      const before = shared.get(path) ?? new Set();
      const after = await findSharing(path, shared);
      if (after.size > 0) shared.set(path, after);
      else shared.delete(path);
      for (const key of [...before, ...after]) changed.add(key);
    }
    isChecking = false;
    if (isStopped) return;
    for (const key of changed) onChecked(key, shared);
    checkSoon();
    if (shared.size > 0) cancelRecheck ??= schedule(recheck, recheckMs);
  }

  function recheck(): void {
    cancelRecheck = null;
    for (const path of shared.keys()) due.add(path);
    checkSoon(0);
  }

  return {
    shared,
    add: (path) => due.add(path),
    checkSoon,
    stop() {
      isStopped = true;
      cancelCheck?.();
      cancelRecheck?.();
    },
  };
}
