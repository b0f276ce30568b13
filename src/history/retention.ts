/** Removes what is older than the user wants, and the oldest part of a history that is too large. */
import type { Database } from "bun:sqlite";
import { firstGrowingIdAt } from "../core/growing-ids.ts";
import { dayMs } from "../core/timing.ts";
import { formatLocalDate } from "../system/clock.ts";
import { readNumber } from "./database.ts";
import type { HistoryRetention } from "./messages.ts";
import { atOfSeq, toSeq } from "./seq.ts";

/** Rows that one call removes at most, so that a call takes milliseconds. */
const chunkRows = 2_000;
/** If the file is too large, it is made smaller than this part of its limit. */
const keptPart = 0.9;

export interface PruneStep {
  readonly hasMore: boolean;
  /** The file was too large: the next call goes on below the limit, so that it does not have to come back soon. */
  readonly isShrinking: boolean;
}

/** Removes one part. Call it outside of a transaction, the first time with `isShrinking` false. */
export function pruneHistory(
  db: Database,
  { days, maxMb }: HistoryRetention,
  now: number,
  isShrinking: boolean,
): PruneStep {
  const maxBytes = maxMb * 1024 * 1024 * (isShrinking ? keptPart : 1);
  const isTooLarge = readUsedBytes(db) > maxBytes;
  const cutAt = Math.max(now - days * dayMs, isTooLarge ? findSizeCut(db) : 0);
  const removed = db.transaction(() => removeBefore(db, cutAt)).immediate();
  if (removed < chunkRows) db.run("PRAGMA incremental_vacuum(4000)");
  return { hasMore: removed >= chunkRows || (isTooLarge && removed > 0), isShrinking: isTooLarge };
}

/** Without the pages that are free already. */
function readUsedBytes(db: Database): number {
  const pages = readNumber(db, "page_count") - readNumber(db, "freelist_count");
  return pages * readNumber(db, "page_size");
}

/** The time before which the events are that one call removes. 0 if there are none. */
function findSizeCut(db: Database): number {
  const pick = db.query<{ seq: number | null }, [number]>(
    `SELECT coalesce(
       (SELECT seq FROM normalized_events ORDER BY seq LIMIT 1 OFFSET ?),
       (SELECT (min(seq) + max(seq)) / 2 FROM normalized_events)
     ) AS seq`,
  );
  const seq = pick.get(chunkRows)?.seq ?? null;
  return seq === null ? 0 : atOfSeq(seq) + 1;
}

/** Returns how many events or items were removed. At `chunkRows`, there may be more. */
function removeBefore(db: Database, at: number): number {
  const seq = toSeq(at);
  const iso = new Date(Math.max(0, at)).toISOString();
  const remove = (text: string, ...values: (string | number)[]) =>
    db.query<unknown, (string | number)[]>(text).run(...values).changes;
  const removeSeqs = (table: string, before = seq) =>
    remove(
      `DELETE FROM ${table} WHERE seq IN (SELECT seq FROM ${table} WHERE seq < ? ORDER BY seq LIMIT ${chunkRows})`,
      before,
    );
  // First the search index, which has no other way to find the rows of items.
  remove(
    `DELETE FROM items_fts WHERE rowid IN (SELECT seq FROM items WHERE seq < ? ORDER BY seq LIMIT ${chunkRows})`,
    seq,
  );
  const items = removeSeqs("items");
  const events = removeSeqs("normalized_events");
  removeSeqs("changes", firstGrowingIdAt(at));
  // The records that are not in a block yet mean nothing without the newest one.
  remove("DELETE FROM past_blocks WHERE seq < ? AND seq < (SELECT max(seq) FROM past_blocks)", seq);
  const removed = Math.max(items, events);
  if (removed === chunkRows) return removed;
  remove("DELETE FROM asks WHERE closed_at < ?", at);
  remove("DELETE FROM turns WHERE started_at < ?", at);
  remove("DELETE FROM spans WHERE to_at < ?", at);
  remove("DELETE FROM usage WHERE day < ?", formatLocalDate(at));
  remove("DELETE FROM session_lifecycle_events WHERE occurred_at_iso < ?", iso);
  remove("DELETE FROM skill_lifecycle_events WHERE occurred_at_iso < ?", iso);
  remove("DELETE FROM session_events WHERE created_at < ?", iso);
  remove("DELETE FROM port_runs WHERE to_at < ?", at);
  remove("DELETE FROM sessions WHERE last_at < ?", at);
  return removed;
}
