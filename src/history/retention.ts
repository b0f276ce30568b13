/** Removes what is older than the user wants, and the oldest part of a history that is too large. */
import type { Database } from "bun:sqlite";
import { dayMs } from "../core/timing.ts";
import { readNumber } from "./database.ts";
import type { HistoryRetention } from "./messages.ts";
import { formatLocalDate, seqsPerMs, toSeq } from "./recorder.ts";

/** Rows that one call removes at most, so that a call takes milliseconds. */
const chunkRows = 2_000;
/** If the file is too large, this part of it is removed at once. */
const freedPart = 0.1;

/** Returns true if there is more to remove. Call it outside of a transaction. */
export function pruneHistory(db: Database, { days, maxMb }: HistoryRetention, now: number): boolean {
  const maxBytes = maxMb * 1024 * 1024;
  const sizeCutAt = readUsedBytes(db) > maxBytes ? findSizeCut(db) : 0;
  const cutAt = Math.max(now - days * dayMs, sizeCutAt);
  const hasMore = db.transaction(() => removeBefore(db, cutAt)).immediate();
  if (hasMore) return true;
  db.run("PRAGMA incremental_vacuum(4000)");
  return sizeCutAt > 0 && readUsedBytes(db) > maxBytes;
}

/** Without the pages that are free already. */
function readUsedBytes(db: Database): number {
  const pages = readNumber(db, "page_count") - readNumber(db, "freelist_count");
  return pages * readNumber(db, "page_size");
}

/** The time before which the oldest tenth of the events is. */
function findSizeCut(db: Database): number {
  const count = db.query<{ n: number }, []>("SELECT count(*) AS n FROM normalized_events").get()?.n ?? 0;
  const row = db
    .query<{ seq: number }, [number]>("SELECT seq FROM normalized_events ORDER BY seq LIMIT 1 OFFSET ?")
    .get(Math.ceil(count * freedPart));
  return row ? Math.floor(row.seq / seqsPerMs) : 0;
}

function removeBefore(db: Database, at: number): boolean {
  const seq = toSeq(at);
  const iso = new Date(Math.max(0, at)).toISOString();
  const remove = (text: string, ...values: (string | number)[]) =>
    db.query<unknown, (string | number)[]>(text).run(...values).changes;
  const removeSeqs = (table: string) =>
    remove(
      `DELETE FROM ${table} WHERE seq IN (SELECT seq FROM ${table} WHERE seq < ? ORDER BY seq LIMIT ${chunkRows})`,
      seq,
    );
  // First the search index, which has no other way to find the rows of items.
  remove(
    `DELETE FROM items_fts WHERE rowid IN (SELECT seq FROM items WHERE seq < ? ORDER BY seq LIMIT ${chunkRows})`,
    seq,
  );
  const items = removeSeqs("items");
  const events = removeSeqs("normalized_events");
  removeSeqs("changes");
  if (items === chunkRows || events === chunkRows) return true;
  remove("DELETE FROM asks WHERE closed_at < ?", at);
  remove("DELETE FROM turns WHERE started_at < ?", at);
  remove("DELETE FROM spans WHERE to_at < ?", at);
  remove("DELETE FROM usage WHERE day < ?", formatLocalDate(at));
  remove("DELETE FROM session_lifecycle_events WHERE occurred_at_iso < ?", iso);
  remove("DELETE FROM skill_lifecycle_events WHERE occurred_at_iso < ?", iso);
  remove("DELETE FROM session_events WHERE created_at < ?", iso);
  remove("DELETE FROM port_runs WHERE to_at < ?", at);
  remove("DELETE FROM sessions WHERE last_at < ?", at);
  return false;
}
