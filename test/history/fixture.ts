/** The history's engine in this process, with a journal that the test writes. */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadAgents } from "../../src/agents/index.ts";
import type { HistoryPage, HistoryQuery } from "../../src/core/interfaces/wire.ts";
import { createEngine } from "../../src/history/engine.ts";
import type { FromHistory, HistoryCall, HistoryRetention, ToHistory } from "../../src/history/messages.ts";
import type { AskRow, OpenState, SessionRow, StateRow } from "../../src/history/rows.ts";
import { openJournal } from "../../src/storage/journal/index.ts";
import { waitUntil } from "../wait-until.ts";

const noOpenState: OpenState = { asks: [], spans: [], closing: [] };

/** The row of a session of Claude Code. */
export const createTestRow = (name: string, more: Partial<SessionRow>): SessionRow => ({
  key: `claude:${name}`,
  agent: "claude",
  sessionId: name,
  project: null,
  cwd: null,
  branch: null,
  title: null,
  model: null,
  startedAt: 0,
  lastAt: 0,
  endedAt: null,
  tty: null,
  pid: null,
  fingerprint: null,
  attended: true,
  tokens: null,
  costMicros: null,
  port: null,
  transcript: null,
  ...more,
});

/** The row of a permission request that opened at this time. */
export const createTestAsk = (id: string, session: SessionRow, at: number, summary: string): AskRow => ({
  kind: "ask-opened",
  id,
  session,
  ask: {
    id,
    kind: "permission",
    at,
    t: at,
    agentId: null,
    tool: "Bash",
    toolUseId: null,
    promptId: null,
    inputKey: null,
    summary,
    options: [],
    request: null,
    from: "hook",
    hidden: false,
  },
});

export interface HistoryFixture {
  readonly path: string;
  readonly messages: FromHistory[];
  /** Appends hook events to the journal, one a second. */
  append(...payloads: Record<string, unknown>[]): Promise<void>;
  /** Opens the history, and resolves when it has read the journal. */
  open(retention?: HistoryRetention): Promise<void>;
  /** Resolves when the rows and the journal are written. */
  write(rows?: readonly StateRow[]): Promise<void>;
  setRetention(retention: HistoryRetention): Promise<void>;
  ask<T>(call: HistoryCall): Promise<T>;
  findItems(query?: HistoryQuery): Promise<HistoryPage>;
  /** Reads the database beside the engine. */
  read<Row>(sql: string): Row[];
  problem(): string | null;
  reports(): string[];
  close(): Promise<void>;
}

export interface FixtureOptions {
  readonly now?: () => number;
  readonly startAt?: number;
  readonly open?: () => OpenState;
  /** The journal's folder, if it is not beside the database. */
  readonly journal?: string;
  /** When the n-th event happened. Without it, a second after the one before. */
  readonly at?: (n: number) => number;
  /** Milliseconds since boot of the n-th event. */
  readonly sinceBoot?: (n: number) => number;
}

export function createHistoryFixture(folder: string, options: FixtureOptions = {}): HistoryFixture {
  const { now = Date.now, startAt = now() - 60_000, open = () => noOpenState } = options;
  const journalFolder = options.journal ?? join(folder, "journal");
  mkdirSync(journalFolder, { recursive: true });
  const journal = openJournal(journalFolder, {
    retentionDays: () => 7,
    onError: (text) => reports.push(text),
  });
  const path = join(folder, "history.db");
  const messages: FromHistory[] = [];
  const reports: string[] = [];
  const results = new Map<number, PromiseWithResolvers<unknown>>();
  let problem: string | null = null;
  const run = crypto.randomUUID();
  let nextId = 1;
  let events = 0;
  const post = (message: FromHistory): void => {
    messages.push(message);
    if (message.kind === "behind")
      engine.handle({ kind: "state", upTo: journal.position(), open: open(), past: null });
    if (message.kind === "problem") problem = message.text;
    if (message.kind === "report") reports.push(message.text);
    if (message.kind === "result") results.get(message.id)?.resolve(message.value);
    if (message.kind === "failed") results.get(message.id)?.reject(new Error(message.reason));
  };
  const engine = createEngine({ loadAgents: () => loadAgents(), post, now, retryMs: 20 });
  const send = (message: ToHistory) => engine.handle(structuredClone(message));
  const ask = async <T>(call: HistoryCall): Promise<T> => {
    const id = nextId++;
    const result = Promise.withResolvers<unknown>();
    results.set(id, result);
    send({ kind: "query", id, call });
    return result.promise as Promise<T>;
  };
  /** Messages are handled in order: when this row is written, those before it are handled. Ends early in trouble. */
  const settle = async (rows: readonly StateRow[]) => {
    const seq = ++marker;
    const row: StateRow = { kind: "change", seq, event: "snapshot", data: "{}" };
    send({ kind: "write", upTo: journal.position(), rows: JSON.stringify([...rows, row]), past: null });
    await waitUntil(async () => {
      if (problem !== null || messages.some(({ kind }) => kind === "paused")) return true;
      const call = { name: "findMissedEvents", afterId: String(seq - 1) } as const;
      return ask<readonly unknown[]>(call).then(
        (missed) => missed.length > 0,
        () => true,
      );
    }, 20_000);
  };
  let marker = 0;
  let retention: HistoryRetention = { days: 365, maxMb: 1_000 };

  return {
    path,
    messages,
    async append(...payloads) {
      const writes = payloads.map((payload) => {
        const id = `${run}-${++events}`;
        const at = options.at?.(events) ?? startAt + events * 1_000;
        const text = JSON.stringify({ provider: "claude", _meta: { id }, payload });
        const t = options.sinceBoot?.(events) ?? at;
        return journal.append({ id, at, t, boot: null, key: id, text });
      });
      await Promise.all(writes);
    },
    async open(kept = retention) {
      retention = kept;
      send({ kind: "open", path, journal: journalFolder, defaultProvider: "claude", retention });
      await ask({ name: "findMissedEvents", afterId: "0" }).catch(() => {});
    },
    async write(rows = []) {
      await settle(rows);
    },
    async setRetention(kept) {
      retention = kept;
      send({ kind: "retention", retention });
      await settle([]);
    },
    ask,
    findItems: (query = {}) => ask<HistoryPage>({ name: "findItems", query }),
    read<Row>(sql: string): Row[] {
      const db = new Database(path, { readonly: true });
      try {
        return db.query<Row, []>(sql).all();
      } finally {
        db.close();
      }
    },
    problem: () => problem,
    reports: () => reports,
    async close() {
      send({ kind: "close" });
      await waitUntil(() => messages.some(({ kind }) => kind === "closed"), 2_000);
      journal.close();
    },
  };
}
