/**
 * The primary key of events and items. It is a time and a counter, so its order is the order of time: pages, retention and the
 * search need no other index.
 */
import type { Statement } from "bun:sqlite";
import { forgetOldest } from "../core/forget-oldest.ts";

/** How many rows can have the same millisecond. */
export const seqsPerMs = 1_024;
const maxAt = Math.floor(Number.MAX_SAFE_INTEGER / seqsPerMs) - 1;

export function toSeq(at: number): number {
  return Math.min(Math.max(0, Math.floor(at)), maxAt) * seqsPerMs;
}

/** The time of a `seq`, in milliseconds. */
export function atOfSeq(seq: number): number {
  return Math.floor(seq / seqsPerMs);
}

/** null if the text is not a `seq`. */
export function parseSeq(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

export interface Inserter {
  /** Calls `insert` with a free `seq` and returns it. Returns null if the table has a row with this id and time. */
  add(id: string, at: number, insert: (seq: number) => { readonly changes: number }): number | null;
  /** To be called when a row was removed. */
  forget(): void;
}

/** What is known of the rows of one millisecond. */
interface Moment {
  /** The first `seq` that may be free. */
  next: number;
  /** A list, because most have one: a set for every event takes a fiftieth of its time. */
  readonly ids: string[];
}

const maxMoments = 16;

export type IdLister = Statement<{ seq: number; id: string }, [number, number]>;

/** So many rows of one millisecond may have pushed others into the next one. */
const crowdedRows = seqsPerMs - 24;

/**
 * A unique index on random ids would cost more than the row itself, because every insert changes another page. The same event has
 * the same time whenever it is recorded, so only rows of its millisecond have to be compared, and mostly there are none.
 */
export function createInserter(listIds: IdLister): Inserter {
  /** By the first `seq` of the millisecond. Events of several sessions arrive a little out of order. */
  const moments = new Map<number, Moment>();

  function remember(first: number, moment: Moment): Moment {
    moments.set(first, moment);
    forgetOldest(moments, maxMoments);
    return moment;
  }

  function load(first: number): Moment {
    const moment: Moment = { next: first, ids: [] };
    for (let from = first, count = crowdedRows; count >= crowdedRows; from += seqsPerMs) {
      const rows = listIds.all(from, from + seqsPerMs);
      for (const { seq, id } of rows) {
        moment.ids.push(id);
        moment.next = seq + 1;
      }
      count = rows.length;
    }
    return moment;
  }

  return {
    add(id, at, insert) {
      const first = toSeq(at);
      let moment = moments.get(first);
      if (!moment) {
        if (insert(first).changes > 0) {
          remember(first, { next: first + 1, ids: [id] });
          return first;
        }
        moment = remember(first, load(first));
      }
      if (moment.ids.includes(id)) return null;
      while (insert(moment.next).changes === 0) moment.next++;
      moment.ids.push(id);
      return moment.next++;
    },
    forget: () => moments.clear(),
  };
}
