/** The tables of the history. What a `seq` is: see seq.ts. */

/** A row of the table `sessions`, as far as it is read. */
export interface SessionTableRow {
  readonly key: string;
  readonly provider: string;
  readonly project: string | null;
  readonly cwd: string | null;
  readonly branch: string | null;
  readonly title: string | null;
  readonly model: string | null;
  readonly started_at: number;
  readonly last_at: number;
  readonly ended_at: number | null;
  readonly turn_count: number;
  readonly attended: number | null;
  readonly tokens: number;
  readonly cost_micros: number | null;
}

/** Numbered: a migration that has been released is never changed. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE lifecycle_stream_offsets (
    stream_key TEXT PRIMARY KEY, inode TEXT NOT NULL, byte_offset INTEGER NOT NULL, updated_at_iso TEXT NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE sessions (
    key TEXT PRIMARY KEY, provider TEXT NOT NULL, session_id TEXT NOT NULL, project TEXT, cwd TEXT, branch TEXT, title TEXT,
    model TEXT, started_at INTEGER NOT NULL, last_at INTEGER NOT NULL, ended_at INTEGER, turn_count INTEGER NOT NULL DEFAULT 0,
    tty TEXT, parent_pid INTEGER, fingerprint TEXT, parent_session_id TEXT, agent_id TEXT, attended INTEGER,
    tokens INTEGER NOT NULL DEFAULT 0, cost_micros INTEGER, has_unknown_cost INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX idx_sessions_fingerprint ON sessions (fingerprint) WHERE fingerprint IS NOT NULL;

  CREATE TABLE normalized_events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, ts INTEGER NOT NULL, event_type TEXT NOT NULL, source TEXT NOT NULL,
    workspace_id TEXT NOT NULL, terminal_session_id TEXT NOT NULL, run_id TEXT, session_id TEXT, agent_id TEXT NOT NULL,
    target_agent_id TEXT, task_id TEXT, severity TEXT NOT NULL, payload TEXT NOT NULL, thinking_text TEXT, raw TEXT
  );
  CREATE INDEX idx_normalized_events_task ON normalized_events (session_id, task_id, event_type) WHERE task_id IS NOT NULL;

  CREATE TABLE items (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, key TEXT NOT NULL, provider TEXT NOT NULL, project TEXT, branch TEXT,
    kind TEXT NOT NULL, text TEXT NOT NULL, how TEXT, place TEXT, waited_ms INTEGER, severity TEXT NOT NULL
  );
  CREATE VIRTUAL TABLE items_fts USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = "unicode61 remove_diacritics 2 tokenchars '_'"
  );

  CREATE TABLE asks (
    id TEXT PRIMARY KEY, key TEXT NOT NULL, request TEXT, kind TEXT NOT NULL, agent_id TEXT, tool TEXT, summary TEXT NOT NULL,
    project TEXT, opened_at INTEGER NOT NULL, closed_at INTEGER, waited_ms INTEGER, how TEXT, place TEXT,
    item_seq INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX idx_asks_opened ON asks (opened_at, closed_at, waited_ms, how, project);
  CREATE INDEX idx_asks_closed ON asks (closed_at);
  CREATE INDEX idx_asks_request ON asks (request) WHERE request IS NOT NULL;

  CREATE TABLE turns (
    id TEXT NOT NULL, key TEXT NOT NULL, turn_seq INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER,
    prompt TEXT NOT NULL, response TEXT, error TEXT
  );
  CREATE INDEX idx_turns_key ON turns (key, started_at);

  CREATE TABLE spans (
    key TEXT NOT NULL, from_at INTEGER NOT NULL, to_at INTEGER, state TEXT NOT NULL, PRIMARY KEY (key, from_at)
  ) WITHOUT ROWID;
  CREATE INDEX idx_spans_to ON spans (to_at, from_at, state);

  CREATE TABLE usage (
    day TEXT NOT NULL, key TEXT NOT NULL, project TEXT, tokens INTEGER NOT NULL, cost_micros INTEGER NOT NULL,
    has_unknown_cost INTEGER NOT NULL, PRIMARY KEY (day, key)
  ) WITHOUT ROWID;

  CREATE TABLE session_lifecycle_events (
    id TEXT PRIMARY KEY, occurred_at_iso TEXT NOT NULL, session_id TEXT NOT NULL, provider TEXT NOT NULL, phase TEXT NOT NULL,
    project_path TEXT, cwd TEXT, raw_json TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX idx_session_events_time ON session_lifecycle_events (session_id, occurred_at_iso DESC);

  CREATE TABLE skill_lifecycle_events (
    id TEXT PRIMARY KEY, occurred_at_iso TEXT NOT NULL, session_id TEXT NOT NULL, provider TEXT NOT NULL,
    skill_name TEXT NOT NULL, phase TEXT NOT NULL, trigger_command TEXT, target_doc_path TEXT, turn_seq INTEGER,
    project_path TEXT, raw_json TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX idx_skill_events_session_time ON skill_lifecycle_events (session_id, occurred_at_iso DESC);

  CREATE TABLE changes (seq INTEGER PRIMARY KEY, event TEXT NOT NULL, data TEXT NOT NULL);
  `,
  `
  CREATE TABLE session_events (
    id TEXT PRIMARY KEY, session_id TEXT NOT NULL, key TEXT NOT NULL, port_id TEXT, event_type TEXT NOT NULL,
    summary TEXT NOT NULL, details TEXT, severity TEXT NOT NULL, created_at TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX idx_session_events_session ON session_events (session_id, created_at DESC);
  CREATE INDEX idx_session_events_port ON session_events (port_id, created_at DESC) WHERE port_id IS NOT NULL;

  CREATE TABLE port_runs (
    key TEXT NOT NULL, from_at INTEGER NOT NULL, to_at INTEGER, project TEXT NOT NULL, port_id TEXT NOT NULL,
    title TEXT NOT NULL, tokens INTEGER NOT NULL DEFAULT 0, cost_micros INTEGER NOT NULL DEFAULT 0,
    has_unknown_cost INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (key, from_at)
  ) WITHOUT ROWID;
  CREATE INDEX idx_port_runs_to ON port_runs (to_at, from_at);
  `,
  // What was replied or written when an ask ended, and the transcript that the page shows of a session that is gone.
  `
  ALTER TABLE items ADD COLUMN detail TEXT;
  ALTER TABLE sessions ADD COLUMN transcript TEXT;
  `,
  // What any moment is shown from again (past-state.ts): records as they were sent, and blocks of them with the state before.
  `
  CREATE TABLE past_parts (seq INTEGER PRIMARY KEY, records TEXT NOT NULL);
  CREATE TABLE past_blocks (seq INTEGER PRIMARY KEY, block BLOB NOT NULL);
  `,
];
