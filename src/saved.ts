/** The state as it lies on disk, and back: also after a reboot, when the clock that orders events began anew. */
import { type Here, isFields } from "./agents/envelope.ts";
import type { Session } from "./core/session.ts";
import type { JournalPosition } from "./storage/journal.ts";
import type { SnapshotFile } from "./storage/snapshot.ts";
import type { SpoolPosition } from "./storage/spool.ts";

export interface Saved {
  readonly journal: JournalPosition | null;
  readonly spool: SpoolPosition | null;
  readonly sessions: readonly Session[];
}

export function pack(saved: Saved, here: Here): SnapshotFile {
  return { version: 1, ...saved, savedAt: here.at, savedT: here.t, boot: here.boot };
}

export function unpack(file: SnapshotFile, here: Here): Saved {
  const { savedAt, savedT, boot } = file as { savedAt?: unknown; savedT?: unknown; boot?: unknown };
  const list = Array.isArray(file.sessions) ? (file.sessions as unknown[]) : [];
  const sessions = list.filter(
    (s): s is Session => isFields(s) && typeof s.sessionId === "string",
  ) as Session[];
  const sameBoot = boot !== null && boot === here.boot;
  const shift =
    sameBoot || typeof savedAt !== "number" || typeof savedT !== "number"
      ? 0
      : here.t - Math.max(0, here.at - savedAt) - savedT;
  return {
    journal: (file.journal as JournalPosition | undefined) ?? null,
    spool: (file.spool as SpoolPosition | undefined) ?? null,
    sessions: shift === 0 ? sessions : sessions.map((session) => shifted(session, shift)),
  };
}

/** Every stamp in it, moved: `t` is a moment's, `newest` the session's own. */
function shifted<T>(value: T, by: number): T {
  if (Array.isArray(value)) return value.map((item) => shifted(item, by)) as T;
  if (!isFields(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const isStamp = (name === "t" || name === "newest") && typeof inner === "number";
    return [name, isStamp ? inner + by : shifted(inner, by)];
  });
  return Object.fromEntries(entries) as T;
}
