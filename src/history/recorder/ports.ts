/** Writes the work on ports: which session worked on which, when, and what it used. */
import type { SessionEvent } from "../../core/interfaces/wire.ts";
import type { JsonRecord } from "../../core/json.ts";
import type { SessionRow } from "../rows.ts";
import type { Statements } from "./statements.ts";

export interface PortWriter {
  write(row: SessionRow): void;
  writeRun(key: string, event: SessionEvent): void;
  addUsage(key: string, tokens: number, costMicros: number, isUnknown: number): void;
  close(isMeant: (key: string) => boolean): void;
}

export function createPortWriter(sql: Statements): PortWriter {
  /** The sessions that work on a port, and since when, so that most sessions need no query. */
  const runningPorts = new Map(sql.listOpenRuns.all().map(({ key, from_at }) => [key, from_at]));

  function write({ key, port, lastAt, endedAt }: SessionRow): void {
    const openSince = runningPorts.get(key);
    const isOpen = port !== null && endedAt === null;
    if (openSince !== undefined && (!isOpen || openSince !== port.since)) {
      sql.closeRun.run(Math.max(openSince, endedAt ?? port?.since ?? lastAt), key, openSince);
      runningPorts.delete(key);
    }
    if (!isOpen || openSince === port.since) return;
    sql.addRun.run(key, port.since, port.project, port.id, port.title);
    runningPorts.set(key, port.since);
  }

  function writeRun(key: string, { event_type, port_id, details, created_at }: SessionEvent): void {
    const { project, title, since } = (details ?? {}) as JsonRecord;
    if (event_type === "port_start" && typeof since === "number" && port_id !== undefined) {
      const { changes } = sql.startRun.run(key, since, String(project), port_id, String(title));
      if (changes > 0) runningPorts.set(key, since);
    }
    const isEnd = event_type === "port_end" || event_type === "session_end";
    if (isEnd && sql.endRuns.run(Date.parse(created_at), key).changes > 0) runningPorts.delete(key);
  }

  return {
    write,
    writeRun,
    addUsage(key, tokens, costMicros, isUnknown) {
      const since = runningPorts.get(key);
      if (since !== undefined) sql.addRunUsage.run(tokens, costMicros, isUnknown, key, since);
    },
    close(isMeant) {
      for (const key of [...runningPorts.keys()]) {
        if (!isMeant(key)) continue;
        sql.closeLostRuns.run(key);
        runningPorts.delete(key);
      }
    },
  };
}
