/** The state as it lies on disk, and back: also after a reboot, when the clock that orders events began anew. */
import { version } from "../../package.json";
import { isRecord } from "../core/json.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { SavedEventWindow } from "../core/session/reduce.ts";
import type { Session } from "../core/session/session.ts";
import type { JournalPosition } from "../storage/journal/index.ts";
import type { SnapshotFile } from "../storage/snapshot.ts";
import type { SpoolPosition } from "../storage/spool.ts";
import { parseSessions } from "./session-schema.ts";

export interface SavedState {
  readonly journal: JournalPosition | null;
  readonly spool: SpoolPosition | null;
  readonly sessions: readonly Session[];
  readonly eventWindows: readonly SavedEventWindow[];
}

export interface LoadedState extends SavedState {
  /** How many sessions of the file could not be understood. */
  readonly dropped: number;
}

export function encodeState(saved: SavedState, { at, t, boot, host }: ClockReading): SnapshotFile {
  const { eventWindows: tellings, ...rest } = saved;
  return { version: 1, ...rest, lately: seal(tellings), savedAt: at, savedT: t, boot, host };
}

/** Events are not checked field by field: as this very version wrote them, or not at all. */
function seal(tellings: readonly SavedEventWindow[]): { text: string; sum: string } {
  const text = JSON.stringify(tellings);
  return { text, sum: sumOf(text) };
}

function sumOf(text: string): string {
  return Bun.hash(`${version} ${text}`).toString(36);
}

function unseal(value: unknown): readonly SavedEventWindow[] {
  if (!isRecord(value) || typeof value.text !== "string" || value.sum !== sumOf(value.text)) return [];
  return JSON.parse(value.text);
}

export function decodeState(file: SnapshotFile, here: ClockReading): LoadedState {
  const { savedAt, savedT, boot, host } = file;
  const list: unknown[] = Array.isArray(file.sessions) ? file.sessions : [];
  const sessions = parseSessions(list);
  const sameBoot = boot !== null && boot === here.boot;
  const shift =
    sameBoot || typeof savedAt !== "number" || typeof savedT !== "number"
      ? 0
      : here.t - Math.max(0, here.at - savedAt) - savedT;
  const moved = shift === 0 ? sessions : sessions.map((session) => shifted(session, shift));
  const sameHost = sameBoot && host === here.host;
  return {
    journal: file.journal,
    spool: file.spool,
    eventWindows: sameHost ? unseal(file.lately) : [],
    sessions: sameBoot && !sameHost ? moved.map(outOfSight) : moved,
    dropped: list.length - sessions.length,
  };
}

/** Every stamp in it, moved: `t` is a moment's, `newest` the session's own. */
function shifted<T>(value: T, by: number): T {
  if (Array.isArray(value)) return value.map((item) => shifted(item, by)) as T;
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const isStamp = (name === "t" || name === "newest") && typeof inner === "number";
    return [name, isStamp ? inner + by : shifted(inner, by)];
  });
  return Object.fromEntries(entries) as T;
}

/** Saved in another pid namespace (a container's, before it was started anew): its pids are other processes here. */
function outOfSight(session: Session): Session {
  return session.place ? { ...session, place: { ...session.place, local: false } } : session;
}
