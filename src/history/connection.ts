/** The open database with its recorder. One that cannot be used is set aside, and a new one takes its place. */
import type { Database } from "bun:sqlite";
import { ignoreErrors } from "../storage/files.ts";
import { closeOnError, explainError, isDamaged, openDatabase, removeDatabase, setAside } from "./database.ts";
import { createRecorder, type Recorder, type RecorderOptions } from "./recorder/index.ts";

export interface OpenHistory {
  readonly db: Database;
  readonly recorder: Recorder;
  /** Work that paused must not go on with it. */
  isClosed: boolean;
}

export interface HistoryConnection {
  /** null while the database is closed. */
  current(): OpenHistory | null;
  /** Opens the database, or a new one in place of one that cannot be used. Throws if neither can be opened. */
  ensureOpen(): OpenHistory;
  /** Throws if the database cannot be set aside. */
  replace(error: unknown): void;
  /** All of the journal is in it. */
  onComplete(): void;
  close(): void;
}

export function createHistoryConnection(
  path: string,
  options: RecorderOptions,
  now: () => number,
  onReplaced: () => void,
): HistoryConnection {
  let open: OpenHistory | null = null;
  /** It took the place of another, and the journal has everything that is in it. */
  let isRebuilding = false;

  function openNow(): OpenHistory {
    const db = openDatabase(path);
    return closeOnError(db, () => ({ db, recorder: createRecorder(db, options), isClosed: false }));
  }

  function replace(error: unknown): void {
    close();
    onReplaced();
    const explanation = `history.db ${explainError(error)}`;
    if (isRebuilding) {
      // Set aside, it would push out the files that were worth keeping.
      removeDatabase(path);
      options.onError(`${explanation} though it is new: it was removed`);
      return;
    }
    const name = setAside(path, new Date(now()));
    isRebuilding = true;
    options.onError(`${explanation}: it was renamed to ${name}, and is rebuilt from the journal`);
  }

  function close(): void {
    const closing = open;
    open = null;
    if (!closing) return;
    closing.isClosed = true;
    ignoreErrors(() => closing.recorder.close());
    ignoreErrors(() => closing.db.close());
  }

  return {
    current: () => open,
    ensureOpen() {
      if (open) return open;
      try {
        open = openNow();
      } catch (error) {
        if (!isDamaged(error)) throw error;
        replace(error);
        open = openNow();
      }
      return open;
    },
    replace,
    onComplete() {
      isRebuilding = false;
    },
    close,
  };
}

/** Runs the work in one transaction. Queries can be answered while it waits, and see what it has written so far. */
export async function runTransaction<T>(history: OpenHistory, work: () => Promise<T>): Promise<T> {
  history.db.run("BEGIN IMMEDIATE");
  try {
    const result = await work();
    if (!history.isClosed) history.db.run("COMMIT");
    return result;
  } catch (error) {
    if (!history.isClosed) ignoreErrors(() => history.db.run("ROLLBACK"));
    throw error;
  }
}
