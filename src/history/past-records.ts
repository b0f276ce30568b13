/** Collects what changes, so that any moment can be shown again. The history's thread writes it (recorder/past.ts). */
import type { ClockReading } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session, ToolCall } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { findLastCall } from "../core/session/stuck.ts";
import type { PastContext, PastPart, PastRecord } from "./past-state.ts";

export interface PastRecordsOptions {
  readonly clock: () => ClockReading;
  readonly sessions: () => readonly Session[];
  /** As it is stored: a settled session could not be told from one that changed. */
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly context: () => PastContext;
}

export interface PastRecords {
  onChange(session: Session): void;
  onDeparted(key: string): void;
  /** Preferences or settings may have changed. */
  onContext(): void;
  /** What was taken may be lost: what is taken next says everything. */
  onLost(): void;
  onStop(): void;
  /** What was collected; null if there is nothing. Empties it. */
  take(): PastPart | null;
  /** Begins with everything as it is now. */
  startOver(): void;
  isEmpty(): boolean;
  clear(): void;
}

/** If the thread does not take them, a new start takes the place of more records than this. */
const maxRecords = 20_000;

export function createPastRecords({ clock, sessions, get, context }: PastRecordsOptions): PastRecords {
  let records: PastRecord[] = [];
  /** Each session as it was recorded last: nothing that the store does not hold, but for what is about to change. */
  const recorded = new Map<string, Session>();
  let known: PastContext | null = null;
  /** Records were lost, so those that follow say nothing without a new start. */
  let isBroken = true;
  /** Some of the records since the last start were given away. */
  let isTaken = false;

  function add(record: PastRecord): void {
    if (records.length < maxRecords) records.push(record);
    else breakOff();
  }

  function breakOff(): void {
    isBroken = true;
    records = [];
    recorded.clear();
  }

  const readTime = () => {
    const { at, t } = clock();
    return { at, t };
  };

  function isSameContext(next: PastContext): boolean {
    return (
      known !== null && known.preferences === next.preferences && isSameConfig(known.config, next.config)
    );
  }

  function startOver(): void {
    records = [];
    recorded.clear();
    isBroken = isTaken = false;
    const all = sessions().flatMap((session) => (isProbe(session) ? [] : (get(session) ?? session)));
    for (const session of all) recorded.set(sessionKeyOf(session), session);
    known = context();
    records.push({ ...readTime(), all, context: known });
  }

  return {
    onChange(changed) {
      if (isBroken) return;
      // What a sink dispatched meanwhile is part of it: the newest session counts, whichever change comes first here.
      const session = get(changed) ?? changed;
      const key = sessionKeyOf(session);
      const before = recorded.get(key);
      const set = before ? diffSession(before, session) : session;
      if (set === null) return;
      recorded.set(key, session);
      add({ ...readTime(), key, set });
    },
    onDeparted(key) {
      if (recorded.delete(key)) add({ ...readTime(), key, gone: true });
    },
    onContext() {
      if (isBroken) return;
      const next = context();
      if (isSameContext(next)) return;
      known = next;
      add({ ...readTime(), context: next });
    },
    onLost() {
      if (isTaken) breakOff();
    },
    onStop() {
      if (!isBroken) add({ ...readTime(), stopped: true });
    },
    take() {
      if (isBroken) startOver();
      const [first] = records;
      if (!first) return null;
      const part = { from: first.at, records: JSON.stringify(records) };
      records = [];
      isTaken = true;
      return part;
    },
    startOver,
    isEmpty: () => records.length === 0,
    clear: breakOff,
  };
}

/** What beckon remembers to understand the next events. Nothing of it is shown. The list of edits alone would be most of what is kept. */
const notShown: ReadonlySet<string> = new Set<keyof Session>([
  "newest",
  "payloads",
  "documents",
  "skill",
  "edits",
  "repositoryFiles",
]);
let shownFields: readonly (keyof Session)[] | null = null;

/**
 * The fields that differ; null if none does. reduce shares what an event leaves alone, so comparing references is enough, except
 * for the place: an agent's own files name it again and again, and without comparing it would be half of what is kept.
 */
function diffSession(before: Session, after: Session): Partial<Session> | null {
  if (before === after) return null;
  shownFields ??= (Object.keys(after) as (keyof Session)[]).filter((name) => !notShown.has(name));
  let patch: Record<string, unknown> | null = null;
  for (const name of shownFields) {
    const value = after[name];
    if (value === before[name] || (name === "place" && Bun.deepEquals(value, before.place))) continue;
    if (name === "tools" && isSameCall(findLastCall(before), findLastCall(after))) continue;
    patch ??= {};
    patch[name] = name === "tools" ? pickLastCall(after) : value;
  }
  return patch;
}

const isSameCall = (a: ToolCall | undefined, b: ToolCall | undefined): boolean =>
  a?.tool === b?.tool && a?.summary === b?.summary;

/** Of the calls, the last one is shown, by its name and what it does. With all of them, more than twice as much would be kept. */
function pickLastCall(session: Session): readonly Pick<ToolCall, "tool" | "summary" | "ended">[] {
  const call = findLastCall(session);
  return call ? [{ tool: call.tool, summary: call.summary, ended: call.ended }] : [];
}

/** Settings are read as a whole: most of what is set has nothing to do with it. */
const isSameConfig = (a: PastContext["config"], b: PastContext["config"]): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);
