/** The statements that write the history, prepared once per database. */
import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import type { Ask } from "../../core/session/session.ts";
import type { SessionTableRow } from "../schema.ts";
import { type IdLister, seqsPerMs } from "../seq.ts";

type Values = SQLQueryBindings[];

/** A row of the table `asks`. */
export interface AskTableRow {
  readonly id: string;
  readonly key: string;
  readonly request: string | null;
  readonly kind: Ask["kind"];
  readonly agent_id: string | null;
  readonly tool: string | null;
  readonly summary: string;
  readonly opened_at: number;
  readonly closed_at: number | null;
  readonly place: string | null;
  readonly item_seq: number | null;
}

type OpenAskRow = Pick<AskTableRow, "id" | "key" | "request" | "opened_at"> & {
  /** When its session did something last; null if that is not known. */
  readonly last_at: number | null;
};

export interface KnownSpan {
  readonly from: number;
  readonly state: string;
  /** null while it is open. */
  to: number | null;
}

/** A call that creates a task does not know the id that the agent's own report has: they have the subject in common. */
const isSameTask =
  "(task_id = ? OR (event_type = 'task_created' AND json_extract(payload, '$.subject') IS ?))";

export type Statements = ReturnType<typeof createStatements>;

/** Throws if a table is missing. Then nothing stays prepared, so that the database can be closed. */
export function prepareStatements(db: Database): Statements {
  const prepared: Statement[] = [];
  try {
    return createStatements((text) => {
      const statement = db.prepare(text);
      prepared.push(statement);
      return statement;
    });
  } catch (error) {
    for (const statement of prepared) statement.finalize();
    throw error;
  }
}

function createStatements(prepare: (text: string) => Statement) {
  const write = (text: string) => prepare(text) as Statement<unknown, Values>;
  const read = <Row>(text: string) => prepare(text) as Statement<Row, Values>;
  const listIds = (table: string) =>
    prepare(`SELECT seq, id FROM ${table} WHERE seq >= ? AND seq < ?`) as IdLister;
  return {
    readCursor: read<{ stream_key: string; inode: string; byte_offset: number }>(
      "SELECT stream_key, inode, byte_offset FROM lifecycle_stream_offsets ORDER BY stream_key DESC LIMIT 1",
    ),
    removeCursors: write("DELETE FROM lifecycle_stream_offsets WHERE stream_key <> ?"),
    writeCursor: write("INSERT OR REPLACE INTO lifecycle_stream_offsets VALUES (?, ?, ?, ?)"),
    addEvent: write(
      "INSERT OR IGNORE INTO normalized_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    listEventIds: listIds("normalized_events"),
    removeEvent: write(
      `DELETE FROM normalized_events WHERE seq >= ?1 AND seq < ?1 + ${seqsPerMs} AND id = ?2`,
    ),
    removeGuess: write(
      `DELETE FROM normalized_events WHERE session_id = ? AND ${isSameTask} AND event_type = ? AND id LIKE '%:task' AND ts > ? - 60000`,
    ),
    findReport: read<{ n: number }>(
      `SELECT 1 AS n FROM normalized_events WHERE session_id = ? AND ${isSameTask} AND event_type = ? AND id NOT LIKE '%:task' AND ts > ? - 60000`,
    ),
    addItem: write(
      `INSERT OR IGNORE INTO items (seq, id, key, provider, project, branch, kind, text, severity)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    listItemIds: listIds("items"),
    removeItem: write("DELETE FROM items WHERE seq = ?"),
    changeItem: write("UPDATE items SET kind = ?, text = ? WHERE seq = ?"),
    closeItem: write("UPDATE items SET waited_ms = ? WHERE seq = ?"),
    endItem: write("UPDATE items SET how = ?, place = ?, detail = ? WHERE seq = ?"),
    addText: write("INSERT INTO items_fts (rowid, text) VALUES (?, ?)"),
    removeText: write("DELETE FROM items_fts WHERE rowid = ?"),
    readSession: read<Pick<SessionTableRow, "project" | "branch" | "cwd" | "turn_count" | "started_at">>(
      "SELECT project, branch, cwd, turn_count, started_at FROM sessions WHERE key = ?",
    ),
    touchSession: write(
      `INSERT INTO sessions (key, provider, session_id, project, cwd, started_at, last_at, ended_at, turn_count)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET last_at = max(last_at, excluded.last_at),
       ended_at = excluded.ended_at, turn_count = excluded.turn_count`,
    ),
    writeSession: write(
      `INSERT INTO sessions (key, provider, session_id, project, cwd, branch, title, model, started_at, last_at, ended_at,
       tty, parent_pid, fingerprint, attended, transcript) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET project = excluded.project, cwd = coalesce(cwd, excluded.cwd),
       branch = excluded.branch, title = excluded.title, model = excluded.model,
       started_at = min(started_at, excluded.started_at), last_at = max(last_at, excluded.last_at),
       ended_at = excluded.ended_at, tty = excluded.tty, parent_pid = excluded.parent_pid,
       fingerprint = excluded.fingerprint, attended = excluded.attended,
       transcript = excluded.transcript`,
    ),
    writeChild: write(
      `INSERT INTO sessions (key, provider, session_id, project, cwd, title, started_at, last_at, ended_at, parent_session_id,
       agent_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET title = excluded.title,
       last_at = max(last_at, excluded.last_at), ended_at = excluded.ended_at`,
    ),
    readUsage: read<Pick<SessionTableRow, "tokens" | "cost_micros">>(
      "SELECT tokens, cost_micros FROM sessions WHERE key = ?",
    ),
    writeUsage: write("UPDATE sessions SET tokens = ?, cost_micros = ? WHERE key = ?"),
    addUsage: write(
      `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (day, key) DO UPDATE SET tokens = tokens + excluded.tokens,
       cost_micros = cost_micros + excluded.cost_micros, has_unknown_cost = excluded.has_unknown_cost`,
    ),
    addTurn: write("INSERT INTO turns (id, key, turn_seq, started_at, prompt) VALUES (?, ?, ?, ?, ?)"),
    endTurn: write(
      `UPDATE turns SET ended_at = ?, response = ?, error = ? WHERE rowid =
       (SELECT rowid FROM turns WHERE key = ? AND started_at <= ? AND ended_at IS NULL ORDER BY started_at DESC LIMIT 1)`,
    ),
    addAsk: write(
      `INSERT OR IGNORE INTO asks (id, key, request, kind, agent_id, tool, summary, project, opened_at, item_seq)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    removeAsk: write("DELETE FROM asks WHERE id = ?"),
    findAsk: read<{ id: string }>("SELECT id FROM asks WHERE id = ?1 OR request = ?2"),
    readAsk: read<AskTableRow>(
      `SELECT id, key, request, kind, agent_id, tool, summary, opened_at, closed_at, place, item_seq FROM asks
       WHERE id = ?1 OR request = ?2 LIMIT 1`,
    ),
    nameAsk: write("UPDATE asks SET request = ?, kind = ?, tool = ?, summary = ? WHERE id = ?"),
    closeAsk: write("UPDATE asks SET closed_at = ?, waited_ms = ? WHERE id = ?"),
    endAsk: write("UPDATE asks SET how = ?, place = ? WHERE id = ?"),
    listOpenAsks: read<OpenAskRow>(
      `SELECT asks.id, asks.key, request, opened_at, last_at FROM asks LEFT JOIN sessions ON sessions.key = asks.key
       WHERE closed_at IS NULL`,
    ),
    readLastSpan: read<KnownSpan>(
      `SELECT from_at AS "from", to_at AS "to", state FROM spans WHERE key = ? ORDER BY from_at DESC LIMIT 1`,
    ),
    listOpenSpans: read<{ key: string; from_at: number; state: string; last_at: number | null }>(
      `SELECT spans.key, from_at, state, last_at FROM spans LEFT JOIN sessions ON sessions.key = spans.key
       WHERE to_at IS NULL`,
    ),
    addSpan: write("INSERT OR REPLACE INTO spans (key, from_at, state) VALUES (?, ?, ?)"),
    closeSpan: write("UPDATE spans SET to_at = ? WHERE key = ? AND from_at = ?"),
    reopenSpan: write("UPDATE spans SET to_at = NULL WHERE key = ? AND from_at = ?"),
    removeLaterSpans: write("DELETE FROM spans WHERE key = ? AND from_at >= ?"),
    cutSpan: write("UPDATE spans SET to_at = ? WHERE key = ? AND (to_at IS NULL OR to_at > ?)"),
    removeSpan: write("DELETE FROM spans WHERE key = ? AND from_at = ?"),
    addSessionLifecycle: write(
      "INSERT OR IGNORE INTO session_lifecycle_events VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    addSkillLifecycle: write(
      "INSERT OR IGNORE INTO skill_lifecycle_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    addSessionEvent: write("INSERT OR IGNORE INTO session_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    listOpenRuns: read<{ key: string; from_at: number }>(
      "SELECT key, from_at FROM port_runs WHERE to_at IS NULL ORDER BY from_at",
    ),
    addRun: write(
      `INSERT INTO port_runs (key, from_at, project, port_id, title) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (key, from_at) DO UPDATE SET to_at = NULL, title = excluded.title`,
    ),
    startRun: write(
      "INSERT OR IGNORE INTO port_runs (key, from_at, project, port_id, title) VALUES (?, ?, ?, ?, ?)",
    ),
    endRuns: write("UPDATE port_runs SET to_at = max(from_at, ?) WHERE key = ? AND to_at IS NULL"),
    closeRun: write("UPDATE port_runs SET to_at = ? WHERE key = ? AND from_at = ?"),
    closeLostRuns: write(
      `UPDATE port_runs SET to_at = max(from_at, coalesce((SELECT last_at FROM sessions s WHERE s.key = port_runs.key), from_at))
       WHERE key = ? AND to_at IS NULL`,
    ),
    addRunUsage: write(
      `UPDATE port_runs SET tokens = tokens + ?, cost_micros = cost_micros + ?, has_unknown_cost = max(has_unknown_cost, ?)
       WHERE key = ? AND from_at = ?`,
    ),
    addChange: write("INSERT OR IGNORE INTO changes VALUES (?, ?, ?)"),
    addPart: write("INSERT INTO past_parts VALUES (?, ?)"),
    listParts: read<{ seq: number; records: string }>(
      "SELECT seq, records FROM past_parts WHERE seq > ? AND seq < ? ORDER BY seq",
    ),
    measureParts: read<{ bytes: number; firstSeq: number | null; lastSeq: number | null }>(
      "SELECT coalesce(sum(length(records)), 0) AS bytes, min(seq) AS firstSeq, max(seq) AS lastSeq FROM past_parts",
    ),
    removeParts: write("DELETE FROM past_parts"),
    addBlock: write("INSERT INTO past_blocks VALUES (?, ?)"),
    findLastBlock: read<{ seq: number; block: Uint8Array }>(
      "SELECT seq, block FROM past_blocks WHERE seq < ? ORDER BY seq DESC LIMIT 1",
    ),
  };
}
