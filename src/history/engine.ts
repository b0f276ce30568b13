/** What the history's thread does: it opens the database, writes what the app sends, answers queries and copes with trouble. */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { LoadedAgents } from "../agents/index.ts";
import { computeRetryMs } from "../core/backoff.ts";
import { hourMs } from "../core/timing.ts";
import { errorCode, ignoreErrors } from "../storage/files.ts";
import type { JournalPosition } from "../storage/journal/index.ts";
import { readJournalLines } from "../storage/journal/read.ts";
import { createStateReplay, type StateReplay } from "./catch-up.ts";
import { closeOnError, explainError, isDamaged, openDatabase, setAside } from "./database.ts";
import type { FromHistory, HistoryCall, HistoryRetention, ToHistory } from "./messages.ts";
import { runCall, type StatsCache } from "./queries/index.ts";
import { createRecorder, type Recorder } from "./recorder/index.ts";
import { type PruneStep, pruneHistory } from "./retention.ts";
import type { OpenState, StateRow } from "./rows.ts";

export interface EngineOptions {
  readonly loadAgents: () => Promise<LoadedAgents>;
  readonly post: (message: FromHistory) => void;
  readonly now?: () => number;
  /** For tests. */
  readonly retryMs?: number;
}

export interface Engine {
  /** Handles messages in order; queries overtake the rest. */
  handle(message: ToHistory): void;
  /** Gives back memory that is not needed while nothing happens. */
  shrink(): void;
}

/** A query waits for a slice at most. */
const sliceLines = 200;
/**
 * Lines of one transaction. Every transaction writes each page that it changed once, and a segment of the search index: with 300
 * lines this costs twice the CPU of 4,000.
 */
const transactionLines = 4_000;
const defaultRetryMs = 5_000;
const maxRetryMs = 60_000;
const firstQueryMs = 2_000;
const pruneMs = hourMs;
/** Before the first removal, so that a start is not slowed down. */
const firstPruneMs = 30_000;

interface OpenHistory {
  readonly db: Database;
  readonly recorder: Recorder;
}

export function createEngine({
  loadAgents,
  post,
  now = Date.now,
  retryMs = defaultRetryMs,
}: EngineOptions): Engine {
  let settings: Extract<ToHistory, { kind: "open" }> | null = null;
  let agents: LoadedAgents = new Map();
  let open: OpenHistory | null = null;
  const statsCache: StatsCache = new Map();
  /** What the app sends is not written until the state is known again. */
  let isBehind = true;
  let failures = 0;
  let retryTimer: ReturnType<typeof setTimeout> | null = null;
  let pruneTimer: ReturnType<typeof setTimeout> | null = null;
  let problem: string | null = null;
  let isClosed = false;
  let queue: Promise<void> = Promise.resolve();
  /** The first queries wait until the history is complete, but not for a rebuild. */
  const isReady = Promise.withResolvers<void>();
  let hasWaited = false;

  const report = (text: string) => post({ kind: "report", text });

  function setProblem(text: string | null): void {
    if (text === problem) return;
    problem = text;
    post({ kind: "problem", text });
  }

  function createOpen(db: Database, defaultProvider: string): OpenHistory {
    return closeOnError(db, () => ({
      db,
      recorder: createRecorder(db, { agents, defaultProvider, onError: report }),
    }));
  }

  function close(): void {
    const current = open;
    open = null;
    if (!current) return;
    ignoreErrors(() => current.recorder.close());
    ignoreErrors(() => current.db.close());
  }

  /** Opens the database, or a new one in place of one that cannot be used. Throws if neither can be opened. */
  function ensureOpen(): OpenHistory {
    if (open) return open;
    if (!settings) throw new Error("the history is not set up");
    const { path, defaultProvider } = settings;
    try {
      open = createOpen(openDatabase(path), defaultProvider);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      replaceDatabase(path, error);
      open = createOpen(openDatabase(path), defaultProvider);
    }
    return open;
  }

  function replaceDatabase(path: string, error: unknown): void {
    close();
    const name = setAside(path, new Date(now()));
    report(`history.db ${explainError(error)}: it was renamed to ${name}, and is rebuilt from the journal`);
  }

  /** After an error, what was prepared is given up. The journal has it. */
  function onFailure(error: unknown): void {
    isBehind = true;
    post({ kind: "paused" });
    isReady.resolve();
    const path = settings?.path ?? "";
    let pauseMs = computeRetryMs({ firstMs: retryMs, maxMs: maxRetryMs }, ++failures);
    try {
      if (isDamaged(error)) {
        replaceDatabase(path, error);
        pauseMs = 0;
      } else {
        setProblem(`The history ${explainError(error)}. beckon goes on without it and tries again.`);
        close();
      }
    } catch (second) {
      setProblem(`The history ${explainError(error)}, and cannot be replaced (${errorCode(second)}).`);
      close();
    }
    retryTimer ??= setTimeout(() => {
      retryTimer = null;
      if (!isClosed) post({ kind: "behind" });
    }, pauseMs);
  }

  /**
   * Writes the lines of the journal from the cursor to `upTo`, at most so many that one transaction should have. Pauses
   * between slices. Resolves with true if there are more, with null if the database was closed meanwhile.
   */
  async function recordLines(
    current: OpenHistory,
    folder: string,
    upTo: JournalPosition,
    replay: StateReplay | null,
  ): Promise<boolean | null> {
    const { recorder } = current;
    let end = readCursor(recorder, folder, upTo);
    let count = 0;
    let sliceStarted = performance.now();
    for (const { line, end: lineEnd } of readJournalLines(folder, end, report)) {
      if (isAfter(lineEnd, upTo)) break;
      if (count === transactionLines) return finish(true);
      if (count > 0 && count % sliceLines === 0) {
        await pauseFor(performance.now() - sliceStarted);
        if (open !== current) return null;
        sliceStarted = performance.now();
      }
      const event = recorder.recordLine(line);
      if (event && replay) for (const row of replay.apply(event)) recorder.recordRow(row);
      end = lineEnd;
      count++;
    }
    return finish(false);

    function finish(hasMore: boolean): boolean {
      // Also past lines that could not be read.
      const position = hasMore ? end : upTo;
      if (position) recorder.writeCursor(position, readInode(folder, position.segment), now());
      return hasMore;
    }
  }

  /** Runs the work in one transaction. Queries can be answered while it waits, and see what it has written so far. */
  async function runTransaction<T>(current: OpenHistory, work: () => T | Promise<T>): Promise<T> {
    current.db.run("BEGIN IMMEDIATE");
    try {
      const result = await work();
      if (open === current) current.db.run("COMMIT");
      return result;
    } catch (error) {
      if (open === current) ignoreErrors(() => current.db.run("ROLLBACK"));
      throw error;
    }
  }

  /** null if the journal is not the one that was recorded, so all of it is read. Known events are ignored. */
  function readCursor(recorder: Recorder, folder: string, upTo: JournalPosition): JournalPosition | null {
    const cursor = recorder.readCursor();
    if (!cursor || isAfter(cursor.position, upTo)) return null;
    const inode = readInode(folder, cursor.position.segment);
    const isReplaced = inode !== "" && cursor.inode !== "" && inode !== cursor.inode;
    return isReplaced ? { ...cursor.position, offset: 0 } : cursor.position;
  }

  async function catchUp(upTo: JournalPosition, state: OpenState): Promise<void> {
    if (isClosed || !settings) return;
    const { journal } = settings;
    try {
      const current = ensureOpen();
      const replay = createStateReplay();
      for (let hasMore: boolean | null = true; hasMore; ) {
        hasMore = await runTransaction(current, () => recordLines(current, journal, upTo, replay));
        if (open !== current) return;
      }
      await runTransaction(current, () => current.recorder.reconcile(state));
      statsCache.clear();
      isBehind = false;
      isReady.resolve();
      failures = 0;
      setProblem(null);
      schedulePrune(firstPruneMs);
    } catch (error) {
      onFailure(error);
    }
  }

  async function write(upTo: JournalPosition, rows: readonly StateRow[]): Promise<void> {
    if (isBehind || !open || !settings) return;
    const current = open;
    const { journal } = settings;
    try {
      for (let hasMore: boolean | null = true; hasMore && open === current; ) {
        hasMore = await runTransaction(current, async () => {
          const isIncomplete = await recordLines(current, journal, upTo, null);
          if (isIncomplete === false) for (const row of rows) current.recorder.recordRow(row);
          return isIncomplete;
        });
      }
    } catch (error) {
      onFailure(error);
    }
  }

  function schedulePrune(ms: number): void {
    if (pruneTimer || isClosed) return;
    pruneTimer = setTimeout(() => {
      pruneTimer = null;
      queue = queue.then(prune);
    }, ms);
  }

  async function prune(): Promise<void> {
    if (!open || !settings || isBehind) return;
    const current = open;
    try {
      const { retention } = settings;
      for (let step: PruneStep = { hasMore: true, isShrinking: false }; step.hasMore; ) {
        const started = performance.now();
        step = pruneHistory(current.db, retention, now(), step.isShrinking);
        if (step.hasMore) await pauseFor(performance.now() - started);
        if (open !== current) return;
      }
      statsCache.clear();
      schedulePrune(pruneMs);
    } catch (error) {
      onFailure(error);
    }
  }

  async function answer(id: number, call: HistoryCall): Promise<void> {
    if (!hasWaited) await waitUntilReady();
    try {
      const value = runCall(ensureOpen().db, call, now(), statsCache);
      post({ kind: "result", id, value });
    } catch (error) {
      post({ kind: "failed", id, reason: `The history ${explainError(error)}.` });
      if (isDamaged(error)) onFailure(error);
    }
  }

  async function waitUntilReady(): Promise<void> {
    const timer = setTimeout(isReady.resolve, firstQueryMs);
    await isReady.promise;
    clearTimeout(timer);
    hasWaited = true;
  }

  async function handleInOrder(message: ToHistory): Promise<void> {
    switch (message.kind) {
      case "open":
        settings = message;
        agents = await loadAgents();
        post({ kind: "behind" });
        return;
      case "state":
        return catchUp(message.upTo, message.open);
      case "write":
        return write(message.upTo, message.rows);
      case "retention": {
        const { retention }: { retention: HistoryRetention } = message;
        if (settings) settings = { ...settings, retention };
        return prune();
      }
      case "close":
        isClosed = true;
        isReady.resolve();
        if (retryTimer) clearTimeout(retryTimer);
        if (pruneTimer) clearTimeout(pruneTimer);
        close();
        post({ kind: "closed" });
    }
  }

  return {
    handle(message) {
      if (message.kind === "query") void answer(message.id, message.call);
      else queue = queue.then(() => handleInOrder(message));
    },
    shrink() {
      statsCache.clear();
      ignoreErrors(() => open?.db.run("PRAGMA shrink_memory"));
    },
  };
}

/** Long work pauses for as long as each slice took: queries get in, and a storm of hooks gets the processor. */
const pauseFor = (tookMs: number): Promise<void> => Bun.sleep(tookMs);

function isAfter(a: JournalPosition, b: JournalPosition): boolean {
  return a.segment > b.segment || (a.segment === b.segment && a.offset > b.offset);
}

/** Empty if the file is gone, or the system has no inodes. */
function readInode(folder: string, segment: string): string {
  const stats = statSync(join(folder, segment), { throwIfNoEntry: false });
  return stats?.ino ? String(stats.ino) : "";
}
