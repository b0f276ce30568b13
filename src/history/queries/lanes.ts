/** Computes the lanes: when each session worked and waited. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Lane, Lanes, Span } from "../../core/interfaces/wire.ts";

interface SpanRow {
  readonly key: string;
  readonly from_at: number;
  readonly to_at: number | null;
  readonly state: Span["state"];
  readonly project: string | null;
  readonly branch: string | null;
  readonly title: string | null;
  readonly fingerprint: string | null;
}

/** Without the group that each session is in now, which only the app knows. */
export function computeLanes(
  db: Database,
  from: number,
  to: number,
  now: number,
): Omit<Lanes, "lanes"> & { readonly lanes: readonly Omit<Lane, "group">[] } {
  const select = `SELECT spans.key, from_at, to_at, state, project, branch, title, fingerprint FROM spans
    LEFT JOIN sessions ON sessions.key = spans.key`;
  const rows = db
    .query<SpanRow, SQLQueryBindings[]>(
      `${select} WHERE to_at > ?1 AND from_at < ?2 UNION ALL ${select} WHERE to_at IS NULL AND from_at < ?2`,
    )
    .all(from, to);
  const byKey = Map.groupBy(rows, ({ key }) => key);
  const lanes = [...byKey.values()].map((own): Omit<Lane, "group"> => {
    const { key, project, branch, title, fingerprint } = own[0] as SpanRow;
    const spans = own
      .map((row): Span => ({ state: row.state, from: row.from_at, to: row.to_at }))
      .sort((a, b) => a.from - b.from);
    const waits = own.filter(({ state }) => state === "waiting");
    const waitedMs = waits.reduce((sum, row) => sum + overlapMs(row, from, Math.min(to, now), now), 0);
    return { key, project, branch, title, fingerprint, waitedMs, spans };
  });
  lanes.sort((a, b) => (a.spans[0]?.from ?? 0) - (b.spans[0]?.from ?? 0));
  const waiting = rows.filter(({ state }) => state === "waiting");
  return { enabled: true, from, to, lanes, anyWaiting: mergeSpans(waiting) };
}

/** Overlapping spans become one. */
function mergeSpans(rows: readonly SpanRow[]): Lanes["anyWaiting"] {
  const merged: { from: number; to: number | null }[] = [];
  for (const { from_at, to_at } of rows.toSorted((a, b) => a.from_at - b.from_at)) {
    const last = merged.at(-1);
    if (last && (last.to === null || from_at <= last.to)) {
      if (last.to !== null) last.to = to_at === null ? null : Math.max(last.to, to_at);
    } else merged.push({ from: from_at, to: to_at });
  }
  return merged;
}

export function overlapMs(
  { from_at, to_at }: Pick<SpanRow, "from_at" | "to_at">,
  from: number,
  to: number,
  now: number,
): number {
  return Math.max(0, Math.min(to_at ?? now, to) - Math.max(from_at, from));
}
