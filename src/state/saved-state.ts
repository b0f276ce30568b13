/**
 * Converts the state to the content of the snapshot and back. After a reboot the clock that orders events starts again, so the
 * stamps are shifted to before this boot.
 */
import { version } from "../../package.json";
import { isRecord } from "../core/json.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { SavedEventWindow } from "../core/session/reduce.ts";
import type { Session } from "../core/session/session.ts";
import type { JournalPosition } from "../storage/journal/index.ts";
import type { SnapshotFile } from "../storage/snapshot.ts";
import type { SpoolPosition } from "../storage/spool-position.ts";
import { parseSessions } from "./session-schema.ts";
import { shiftMoments } from "./shift-moments.ts";

export interface SavedState {
  readonly journal: JournalPosition | null;
  readonly spool: SpoolPosition | null;
  readonly sessions: readonly Session[];
  readonly eventWindows: readonly SavedEventWindow[];
}

export interface LoadedState extends SavedState {
  /** How many sessions were damaged. */
  readonly dropped: number;
}

export function encodeState(saved: SavedState, { at, t, boot, host }: ClockReading): SnapshotFile {
  const { eventWindows, ...rest } = saved;
  return { version: 1, ...rest, lately: seal(eventWindows), savedAt: at, savedT: t, boot, host };
}

/** Events are not checked field by field. They are loaded only unchanged and by the version that wrote them. */
function seal(eventWindows: readonly SavedEventWindow[]): { text: string; sum: string } {
  const text = JSON.stringify(eventWindows);
  return { text, sum: computeChecksum(text) };
}

function computeChecksum(text: string): string {
  return Bun.hash(`${version} ${text}`).toString(36);
}

function unseal(value: unknown): readonly SavedEventWindow[] {
  if (!isRecord(value) || typeof value.text !== "string" || value.sum !== computeChecksum(value.text))
    return [];
  return JSON.parse(value.text);
}

export function decodeState(file: SnapshotFile, now: ClockReading): LoadedState {
  const { savedAt, savedT, boot, host } = file;
  const list: unknown[] = Array.isArray(file.sessions) ? file.sessions : [];
  const sessions = parseSessions(list);
  const isSameBoot = boot !== null && boot === now.boot;
  const shiftMs =
    isSameBoot || typeof savedAt !== "number" || typeof savedT !== "number"
      ? 0
      : now.t - Math.max(0, now.at - savedAt) - savedT;
  const shifted =
    shiftMs === 0 ? sessions : sessions.map((session) => shiftMoments(session, { at: 0, t: shiftMs }));
  const isSameHost = isSameBoot && host === now.host;
  return {
    journal: file.journal,
    spool: file.spool,
    eventWindows: isSameHost ? unseal(file.lately) : [],
    sessions: isSameBoot && !isSameHost ? shifted.map(markAsRemote) : shifted,
    dropped: list.length - sessions.length,
  };
}

/** For a session saved in another pid namespace (a restarted container): its pid is another process here. */
function markAsRemote(session: Session): Session {
  return session.place ? { ...session, place: { ...session.place, local: false } } : session;
}
