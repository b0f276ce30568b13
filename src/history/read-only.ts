/** Reads the history without the app: `beckon history` and `beckon stats` while it is stopped, and the export. */
import type { NormalizedEvent } from "../streams/normalized-event.ts";
import { explainError, openReadOnly } from "./database.ts";
import { exportEvents, type QueryCall, runCall } from "./queries/index.ts";

/** Throws an error for the user if the database cannot be read. */
export function readHistory(path: string, call: QueryCall, now: number): unknown {
  return withDatabase(path, (db) => runCall(db, call, now));
}

/** Calls `write` with every event, ordered by time, then id. */
export function exportHistory(path: string, write: (event: NormalizedEvent) => void): void {
  withDatabase(path, (db) => {
    for (const event of exportEvents(db)) write(event);
  });
}

function withDatabase<T>(path: string, use: (db: ReturnType<typeof openReadOnly>) => T): T {
  try {
    const db = openReadOnly(path);
    try {
      return use(db);
    } finally {
      db.close();
    }
  } catch (error) {
    throw new Error(`the history ${explainError(error)}: ${path}`, { cause: error });
  }
}
