/** Reads what this machine's sessions asked, did and used since some time, for a machine that was not linked meanwhile. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { PastAsk, PastSession, Span } from "../../core/interfaces/wire.ts";
import { parseSessionKey } from "../../core/session/session-ref.ts";
import type { SessionTableRow } from "../schema.ts";

type Values = SQLQueryBindings[];

type SessionRow = Omit<SessionTableRow, "provider" | "turn_count">;

/** Of more, the newest are found. */
const maxSessions = 1_000;
const maxAsks = 5_000;
const maxSpans = 20_000;

export function findPast(db: Database, since: number): PastSession[] {
  const asks = groupByKey(listAsks(db, since));
  const spans = groupByKey(listSpans(db, since));
  return listSessions(db, since, new Set([...asks.keys(), ...spans.keys()])).flatMap((row) => {
    const ref = parseSessionKey(row.key);
    if (!ref || ref.machine !== null) return [];
    return [toPastSession(ref, row, asks.get(row.key) ?? [], spans.get(row.key) ?? [])];
  });
}

function toPastSession(
  { agent, sessionId }: Pick<PastSession, "agent" | "sessionId">,
  row: SessionRow,
  asks: readonly PastAsk[],
  spans: readonly Span[],
): PastSession {
  const { project, cwd, branch, title, model, tokens, cost_micros: costMicros } = row;
  return {
    agent,
    sessionId,
    project,
    cwd,
    branch,
    title,
    model,
    startedAt: row.started_at,
    lastAt: row.last_at,
    endedAt: row.ended_at,
    attended: row.attended === null ? null : row.attended !== 0,
    tokens: tokens === 0 && costMicros === null ? null : tokens,
    costMicros,
    asks,
    spans,
  };
}

function listSessions(db: Database, since: number, keys: ReadonlySet<string>): SessionRow[] {
  return db
    .query<SessionRow, Values>(
      `SELECT key, project, cwd, branch, title, model, started_at, last_at, ended_at, attended, tokens, cost_micros FROM sessions
       WHERE agent_id IS NULL AND (last_at >= ?1 OR key IN (SELECT value FROM json_each(?2)))
       ORDER BY last_at DESC LIMIT ${maxSessions}`,
    )
    .all(since, JSON.stringify([...keys]));
}

function listAsks(db: Database, since: number): (PastAsk & { readonly key: string })[] {
  return db
    .query<PastAsk & { key: string }, Values>(
      `SELECT asks.key, request, asks.kind, asks.agent_id AS agentId, tool, summary, opened_at AS openedAt, closed_at AS closedAt,
       asks.waited_ms AS waitedMs, asks.how, asks.place, items.detail FROM asks LEFT JOIN items ON items.seq = asks.item_seq
       WHERE opened_at >= ?1 OR closed_at >= ?1 OR closed_at IS NULL ORDER BY opened_at DESC LIMIT ${maxAsks}`,
    )
    .all(since)
    .reverse();
}

function listSpans(db: Database, since: number): (Span & { readonly key: string })[] {
  return db
    .query<Span & { key: string }, Values>(
      `SELECT key, state, from_at AS "from", to_at AS "to" FROM spans WHERE to_at > ?1 OR to_at IS NULL
       ORDER BY from_at DESC LIMIT ${maxSpans}`,
    )
    .all(since)
    .reverse();
}

function groupByKey<Row extends object>(
  rows: readonly (Row & { readonly key: string })[],
): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const { key, ...row } of rows) {
    const group = groups.get(key);
    if (group) group.push(row as unknown as Row);
    else groups.set(key, [row as unknown as Row]);
  }
  return groups;
}
