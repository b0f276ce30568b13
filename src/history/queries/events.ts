/** Reads events: those that a client of the stream has missed, and all of them for the export. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { StreamEvent } from "../../core/interfaces/wire.ts";
import { limits } from "../../core/limits.ts";
import type { NormalizedEvent } from "../../streams/normalized-event.ts";
import { parseSeq } from "../seq.ts";

type Values = SQLQueryBindings[];

const maxMissedEvents = 10_000;

export function findMissedEvents(db: Database, afterId: string): StreamEvent[] {
  const after = parseSeq(afterId);
  if (after === null) return [];
  return db
    .query<{ seq: number; event: string; data: string }, Values>(
      "SELECT seq, event, data FROM changes WHERE seq > ? ORDER BY seq LIMIT ?",
    )
    .all(after, maxMissedEvents)
    .map(({ seq, event, data }) => ({ id: String(seq), event, data: JSON.parse(data) }) as StreamEvent);
}

interface EventTableRow {
  readonly seq: number;
  readonly ts: number;
  readonly payload: string;
  readonly raw: string | null;
  readonly [column: string]: string | number | null;
}

/** Ordered by time, then id. */
export function* exportEvents(db: Database): Generator<NormalizedEvent> {
  const page = db.query<EventTableRow, Values>(
    "SELECT * FROM normalized_events WHERE seq > ? ORDER BY seq LIMIT ?",
  );
  let after = -1;
  let moment: NormalizedEvent[] = [];
  for (;;) {
    const rows = page.all(after, limits.maxHistoryPage);
    for (const row of rows) {
      const event = toNormalizedEvent(row);
      if (moment.length > 0 && moment[0]?.ts !== event.ts) {
        yield* sortById(moment);
        moment = [];
      }
      moment.push(event);
      after = row.seq;
    }
    if (rows.length === 0) break;
  }
  yield* sortById(moment);
}

function sortById(events: readonly NormalizedEvent[]): NormalizedEvent[] {
  return events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function toNormalizedEvent(row: EventTableRow): NormalizedEvent {
  const { seq, ts, payload, raw, ...columns } = row;
  return {
    ...columns,
    version: "1.1",
    ts: new Date(ts).toISOString(),
    payload: JSON.parse(payload),
    raw: raw === null ? null : JSON.parse(raw),
  } as unknown as NormalizedEvent;
}
