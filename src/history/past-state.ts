/**
 * What is kept so that any moment can be shown again: each change of a session as it was dispatched, with when. The journal alone
 * would not do, because it has no status files, transcripts and processes, and hooks can be stamped long before they arrive.
 */
import type { Config } from "../core/config/config.ts";
import type { Preferences } from "../core/config/preferences.ts";
import type { Moment } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { GroupConfig } from "../core/view/groups.ts";

/** What decides, besides a session itself, how it is shown. */
export interface PastContext {
  readonly preferences: Preferences;
  readonly config: GroupConfig & Pick<Config, "quietHours">;
}

export function createPastContext(
  preferences: Preferences,
  { mutedProjects, stuck, quietHours, alerts: { unattended, sdkHosts } }: Config,
): PastContext {
  return { preferences, config: { mutedProjects, stuck, quietHours, alerts: { unattended, sdkHosts } } };
}

/** `at` and `t` are when beckon learnt of it. */
export type PastRecord = Moment &
  /** Fields of a session that changed; all of them if the session is new. */
  (
    | { readonly key: string; readonly set: Partial<Session> }
    | { readonly key: string; readonly gone: true }
    | { readonly context: PastContext }
    /** Everything: beckon has just started, or changes before it were lost. */
    | { readonly all: readonly Session[]; readonly context: PastContext }
    | { readonly stopped: true }
  );

/** Records as they are sent to the thread and written. */
export interface PastPart {
  /** When the first of them was made. */
  readonly from: number;
  /** A `PastRecord[]` as JSON. */
  readonly records: string;
}

/** The state at the time of a record. */
export interface PastState {
  /** By key, in the order in which the store had them. */
  readonly sessions: Map<string, Session>;
  context: PastContext | null;
  /** When the last record was made; null before the first one. */
  last: Moment | null;
  isStopped: boolean;
}

/** The content of a block: the state before its records, and the records. */
export interface PastBlock {
  readonly sessions: readonly Session[];
  readonly context: PastContext | null;
  readonly last: Moment | null;
  readonly records: readonly PastRecord[];
}

export const createPastState = (block?: Omit<PastBlock, "records">): PastState => ({
  sessions: indexSessions(block?.sessions ?? []),
  context: block?.context ?? null,
  last: block?.last ?? null,
  isStopped: false,
});

const indexSessions = (sessions: readonly Session[]): Map<string, Session> =>
  new Map(sessions.map((session) => [sessionKeyOf(session), session]));

/** Applies the records up to this wall time, in their order. */
export function applyRecords(state: PastState, records: readonly PastRecord[], until: number): void {
  for (const record of records) if (record.at <= until) applyRecord(state, record);
}

function applyRecord(state: PastState, record: PastRecord): void {
  const { sessions } = state;
  state.last = { at: record.at, t: record.t };
  state.isStopped = "stopped" in record;
  if ("all" in record) {
    sessions.clear();
    for (const session of record.all) sessions.set(sessionKeyOf(session), session);
  }
  if ("context" in record) state.context = record.context;
  if ("gone" in record) sessions.delete(record.key);
  if (!("set" in record)) return;
  const before = sessions.get(record.key);
  // A new session brings all of its fields.
  if (before || "sessionId" in record.set) sessions.set(record.key, { ...before, ...record.set } as Session);
}

/** The part of a block that comes before its records, as JSON. */
export function writeState({ sessions, context, last }: PastState): string {
  const before: Omit<PastBlock, "records"> = { sessions: [...sessions.values()], context, last };
  return JSON.stringify(before);
}

/**
 * `state` is what `writeState` returned, `parts` are records as they were sent: they are joined as text, without reading them. With zstd's
 * first level an event took about 10 µs instead of 17 with its third, and 2 bytes more.
 */
export function packBlock(state: string, parts: readonly string[]): Uint8Array {
  const records = parts.map((part) => part.slice(1, -1)).join(",");
  return Bun.zstdCompressSync(`${state.slice(0, -1)},"records":[${records}]}`, { level: 1 });
}

/** The state after the block's records up to this wall time. */
export function readBlock(packed: Uint8Array, until: number): PastState {
  const { records, ...before } = JSON.parse(Bun.zstdDecompressSync(packed).toString("utf8")) as PastBlock;
  const state = createPastState(before);
  applyRecords(state, records, until);
  return state;
}
