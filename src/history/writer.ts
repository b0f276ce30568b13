/** Keeps the history up to date: writes what the app sends, removes what is too old, and copes with trouble. */
import { computeRetryMs } from "../core/backoff.ts";
import { hourMs } from "../core/timing.ts";
import { errorCode } from "../storage/files.ts";
import type { JournalPosition } from "../storage/journal/index.ts";
import { createStateReplay } from "./catch-up.ts";
import type { HistoryConnection } from "./connection.ts";
import { explainError, isDamaged } from "./database.ts";
import type { FromHistory, HistoryRetention, WaitingPart } from "./messages.ts";
import type { PastPart } from "./past-state.ts";
import { pauseFor, recordJournal } from "./record-journal.ts";
import { type PruneStep, pruneHistory } from "./retention.ts";
import type { OpenState, StateRow } from "./rows.ts";
import { readWaitingRows, type WaitingRows } from "./waiting-rows.ts";

export interface HistoryWriterOptions {
  readonly connection: HistoryConnection;
  /** The file with what waited. */
  readonly waitingRows: string;
  /** The journal's folder. */
  readonly journal: string;
  readonly retention: HistoryRetention;
  readonly post: (message: FromHistory) => void;
  readonly now: () => number;
  readonly report: (text: string) => void;
  /** Runs the work after what was sent before. */
  readonly enqueue: (work: () => Promise<void>) => void;
  /** The history is complete, or will not be for now. */
  readonly onReady: () => void;
  /** What was written long ago has changed. */
  readonly onPastChanged: () => void;
  readonly retryMs: number;
}

export interface HistoryWriter {
  /** Writes the journal up to a position at which the state is this. */
  catchUp(upTo: JournalPosition, state: OpenState, past: PastPart | null): Promise<void>;
  /** Does nothing until the next `catchUp` if something could not be written. Resolves with whether the rows are recorded. */
  write(upTo: JournalPosition, rows: string | WaitingRows, past: WaitingPart | null): Promise<boolean>;
  /** undefined while nothing is written. */
  recordedTo(): JournalPosition | undefined;
  setRetention(retention: HistoryRetention): Promise<void>;
  /** After an error, what was prepared is given up. The journal has it. */
  onFailure(error: unknown): void;
  stop(): void;
}

const maxRetryMs = 60_000;
const pruneMs = hourMs;
/** Before the first removal, so that a start is not slowed down. */
const firstPruneMs = 30_000;

export function createHistoryWriter(options: HistoryWriterOptions): HistoryWriter {
  const { connection, post, now } = options;
  let { retention } = options;
  /** What the app sends is not written until the state is known again. */
  let isBehind = true;
  let failures = 0;
  let retryTimer: ReturnType<typeof setTimeout> | null = null;
  let pruneTimer: ReturnType<typeof setTimeout> | null = null;
  let problem: string | null = null;
  let isStopped = false;

  function setProblem(text: string | null): void {
    if (text === problem) return;
    problem = text;
    post({ kind: "problem", text });
  }

  function onFailure(error: unknown): void {
    isBehind = true;
    post({ kind: "paused" });
    options.onReady();
    let pauseMs = computeRetryMs({ firstMs: options.retryMs, maxMs: maxRetryMs }, ++failures);
    try {
      if (isDamaged(error)) {
        connection.replace(error);
        // Once is an accident. If the new file fails too, the reason is another one, and trying at once would never end.
        if (failures === 1) pauseMs = 0;
        else
          setProblem(
            `The history ${explainError(error)}, and a new file fails too. beckon tries again later.`,
          );
      } else {
        setProblem(`The history ${explainError(error)}. beckon goes on without it and tries again.`);
        connection.close();
      }
    } catch (second) {
      setProblem(`The history ${explainError(error)}, and cannot be replaced (${errorCode(second)}).`);
      connection.close();
    }
    retryTimer ??= setTimeout(() => {
      retryTimer = null;
      if (!isStopped) post({ kind: "behind" });
    }, pauseMs);
  }

  async function catchUp(upTo: JournalPosition, state: OpenState, past: PastPart | null): Promise<void> {
    if (isStopped) return;
    try {
      const history = connection.ensureOpen();
      const part = { ...options, upTo, replay: createStateReplay() };
      const finish = () => {
        history.recorder.reconcile(state);
        history.recorder.addPast(past);
      };
      if (!(await recordJournal(history, part, finish))) return;
      options.onPastChanged();
      isBehind = false;
      connection.onComplete();
      options.onReady();
      failures = 0;
      setProblem(null);
      schedulePrune(firstPruneMs);
    } catch (error) {
      onFailure(error);
    }
  }

  async function write(
    upTo: JournalPosition,
    rows: string | WaitingRows,
    past: WaitingPart | null,
  ): Promise<boolean> {
    const read = (text: string | WaitingRows) =>
      typeof text === "string" ? text : readWaitingRows(options.waitingRows, text);
    const history = connection.current();
    if (isBehind || !history) return false;
    try {
      let isPastChanged = false;
      const isRecorded = await recordJournal(history, { ...options, upTo, replay: null }, () => {
        for (const row of JSON.parse(read(rows)) as StateRow[]) {
          history.recorder.recordRow(row);
          isPastChanged ||= row.kind === "past";
        }
        history.recorder.addPast(past && { from: past.from, records: read(past.records) });
      });
      if (isPastChanged) options.onPastChanged();
      return isRecorded;
    } catch (error) {
      onFailure(error);
      return false;
    }
  }

  function schedulePrune(ms: number): void {
    if (pruneTimer || isStopped) return;
    pruneTimer = setTimeout(() => {
      pruneTimer = null;
      options.enqueue(prune);
    }, ms);
  }

  async function prune(): Promise<void> {
    const history = connection.current();
    if (isBehind || !history) return;
    try {
      for (let step: PruneStep = { hasMore: true, isShrinking: false }; step.hasMore; ) {
        const started = performance.now();
        step = pruneHistory(history.db, retention, now(), step.isShrinking);
        if (step.hasMore) await pauseFor(performance.now() - started);
        if (history.isClosed) return;
      }
      options.onPastChanged();
      schedulePrune(pruneMs);
    } catch (error) {
      onFailure(error);
    }
  }

  return {
    catchUp,
    write,
    recordedTo: () => (isBehind ? undefined : connection.current()?.recorder.readCursor()?.position),
    setRetention(next) {
      retention = next;
      return prune();
    },
    onFailure,
    stop() {
      isStopped = true;
      if (retryTimer) clearTimeout(retryTimer);
      if (pruneTimer) clearTimeout(pruneTimer);
    },
  };
}
