/**
 * Writes the history: lines of the journal, and what the state adds to them. Every row has an id that follows from what it
 * records, so that recording something again changes nothing.
 */
import type { Database } from "bun:sqlite";
import type { AgentEvent } from "../../core/session/event.ts";
import { nameOfChild } from "../../core/session/session.ts";
import { parseSessionKey } from "../../core/session/session-ref.ts";
import { errorCode } from "../../storage/files.ts";
import type { JournalLine, JournalPosition } from "../../storage/journal/index.ts";
import { type JournalledSessionEvent, readSessionEventBody } from "../../storage/journal/session-event.ts";
import { createPortItem, diedItem } from "../../streams/history-item.ts";
import type { PastPart } from "../past-state.ts";
import type { OpenState, PastRow, RowOf, StateRow } from "../rows.ts";
import { createAskWriter, itemSessionOf } from "./asks.ts";
import { createEventWriter } from "./events.ts";
import { createHookWriter, type HookWriterOptions } from "./hooks.ts";
import { createPastWriter } from "./past.ts";
import { createSessionWriter } from "./sessions.ts";
import { prepareStatements } from "./statements.ts";

interface Cursor {
  readonly position: JournalPosition;
  readonly inode: string;
}

export interface Recorder {
  /** The position up to which the journal is recorded. null if nothing is. */
  readCursor(): Cursor | null;
  /** Ends a transaction. */
  writeCursor(position: JournalPosition, inode: string, now: number): void;
  /** Returns the event, or null if the line is not an event, a test of doctor's, or a duplicate. */
  recordLine(line: JournalLine): AgentEvent | null;
  recordRow(row: StateRow): void;
  /** Keeps what moments are shown from again. */
  addPast(part: PastPart | null): void;
  /** Closes what was open of this machine's sessions when beckon last wrote and is not any more, and opens what is missing. */
  reconcile(open: OpenState): void;
  /** Gives back memory that is not needed while nothing happens. */
  shrink(): void;
  /** Frees the prepared statements: the database cannot be closed before. */
  close(): void;
}

export interface RecorderOptions extends HookWriterOptions {
  readonly onError: (text: string) => void;
}

const streamPrefix = "journal/";

export function createRecorder(db: Database, options: RecorderOptions): Recorder {
  const sql = prepareStatements(db);
  const events = createEventWriter(sql);
  const sessions = createSessionWriter(sql);
  const asks = createAskWriter(sql, events, sessions);
  const past = createPastWriter(sql);
  const writeHook = createHookWriter(sql, events, sessions, options);
  /** As it was last written by this recorder, which is given up if a transaction fails. */
  let cursor: Cursor | null = null;

  function recordLine(line: JournalLine): AgentEvent | null {
    const recorded = readSessionEventBody(line.body);
    if (!recorded) return writeHook(line);
    recordSessionEvent(recorded);
    return null;
  }

  function recordChild({ session, child }: RowOf<"child-appeared" | "child-ended">): void {
    const { key, agent, sessionId, project, cwd, lastAt } = session;
    const { agentId, startedAt, running, at } = child;
    const times = [startedAt, lastAt, running ? null : at];
    const title = nameOfChild(child);
    sql.writeChild.run(
      `${key}/${agentId}`,
      agent,
      agentId,
      project,
      cwd,
      title,
      ...times,
      sessionId,
      agentId,
    );
  }

  /** The journal and the app both send it: it counts once. */
  function recordSessionEvent({ key, event }: JournalledSessionEvent): void {
    const { id, session_id, port_id = null, event_type, summary, severity, created_at } = event;
    const details = event.details === undefined ? null : JSON.stringify(event.details);
    const text = [summary, details];
    const row = [id, session_id, key, port_id, event_type, ...text, severity, created_at];
    if (sql.addSessionEvent.run(...row).changes === 0) return;
    sessions.writeRun(key, event);
    const item = createPortItem(event);
    if (!item) return;
    const { project, branch } = sessions.find(key);
    const provider = parseSessionKey(key)?.agent ?? "";
    events.addItem(id, Date.parse(created_at), { key, provider, project, branch }, item);
  }

  function recordPast({ session, asks: past, since, spans }: PastRow): void {
    sessions.write(session);
    for (const { id, ask } of past) {
      const { request, openedAt, closedAt, waitedMs, how, place, detail } = ask;
      asks.open({ id, session, ask: { ...ask, at: openedAt } });
      if (closedAt === null) continue;
      const waited = waitedMs ?? closedAt - openedAt;
      asks.close({ id, request }, session, closedAt, waited);
      asks.correct({ id, request }, closedAt, waited);
      if (how !== null) asks.end({ id, request }, how, place, detail);
    }
    sessions.replaceSpans(session.key, since, spans);
  }

  /** Closes what was open of a machine's sessions and is not any more, and opens what is missing. */
  function reconcile(open: OpenState, machine: string | null): void {
    const isMeant = (key: string) => (parseSessionKey(key)?.machine ?? null) === machine;
    asks.closeLost(open, isMeant);
    const missing = new Map(open.spans.map((span) => [span.key, span]));
    for (const { key, state, from_at, last_at } of sql.listOpenSpans.all()) {
      if (missing.get(key)?.state === state) missing.delete(key);
      else if (isMeant(key)) sessions.changeSpan(key, null, Math.max(from_at, last_at ?? from_at));
    }
    // A session that still works on its port is written again after this.
    const live = new Set(open.spans.map(({ key }) => key));
    sessions.closePorts((key) => isMeant(key) && !live.has(key));
    for (const row of open.asks) asks.open(row);
    for (const { key, state, since } of missing.values()) sessions.changeSpan(key, state, since);
  }

  return {
    readCursor() {
      if (cursor) return cursor;
      const row = sql.readCursor.get();
      if (!row) return null;
      const segment = row.stream_key.slice(streamPrefix.length);
      return { position: { segment, offset: row.byte_offset }, inode: row.inode };
    },
    writeCursor(position, inode, now) {
      sessions.writeTouched();
      const key = streamPrefix + position.segment;
      if (cursor?.position.segment !== position.segment) sql.removeCursors.run(key);
      sql.writeCursor.run(key, inode, position.offset, new Date(now).toISOString());
      cursor = { position, inode };
    },
    recordLine(line) {
      try {
        return recordLine(line);
      } catch (error) {
        // A line that cannot be recorded must not keep the lines after it out of the history.
        if (errorCode(error).startsWith("SQLITE_") && !errorCode(error).startsWith("SQLITE_CONSTRAINT"))
          throw error;
        options.onError(`the history skipped the event ${line.id}: ${error}`);
        return null;
      }
    },
    recordRow(row) {
      switch (row.kind) {
        case "session":
          return sessions.write(row.session);
        case "ask-opened":
          return asks.open(row);
        case "ask-named":
          return asks.name(row);
        case "ask-closed":
          return asks.close({ id: row.id, request: row.ask.request }, row.session, row.at, row.waitedMs);
        case "ask-ended":
          return asks.end({ id: row.id, request: row.ask.request }, row.how, row.where, row.detail ?? null);
        case "span":
          return sessions.changeSpan(row.session.key, row.state, row.at);
        case "child-appeared":
        case "child-ended":
          return recordChild(row);
        case "session-event":
          return recordSessionEvent(row);
        case "died":
          events.addItem(`${row.session.key}#${row.at}:died`, row.at, itemSessionOf(row.session), diedItem);
          return;
        case "past":
          return recordPast(row);
        case "listed":
          return reconcile(row.open, row.machine);
        case "change":
          sql.addChange.run(row.seq, row.event, row.data);
      }
    },
    addPast: past.add,
    shrink: past.shrink,
    reconcile: (open) => reconcile(open, null),
    close() {
      for (const statement of Object.values(sql)) statement.finalize();
    },
  };
}
