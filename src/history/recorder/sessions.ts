/** Writes sessions: what is known of each, what it used, the ports it worked on, and when it worked or waited. */
import type { SessionEvent, Span, SpanState } from "../../core/interfaces/wire.ts";
import type { AgentEvent } from "../../core/session/event.ts";
import type { Session } from "../../core/session/session.ts";
import { formatLocalDate } from "../../system/clock.ts";
import { isSameSession, type SessionRow } from "../rows.ts";
import type { SessionTableRow } from "../schema.ts";
import { createPortWriter } from "./ports.ts";
import type { KnownSpan, Statements } from "./statements.ts";

/** What the recorder remembers of a session, so that most events need no query. */
export interface KnownSession {
  project: string | null;
  branch: string | null;
  firstCwd: string | null;
  turnCount: number;
  /** When its first event happened. null before that. */
  firstAt: number | null;
  /** Payloads of the last second, to find duplicates. */
  payloads: Session["payloads"];
  /** The public ids of subagents that have a name, by the agent's own ids. */
  readonly agentIds: Map<string, string>;
  /** As it was last written by `write`. null if it was not since the start. */
  written: SessionRow | null;
  /** The newest span. undefined if it was not read yet, null if there is none. */
  span: KnownSpan | null | undefined;
}

export interface SessionWriter {
  find(key: string): KnownSession;
  /** Notes the newest event of a session. `writeTouched` writes it. */
  touch(key: string, event: AgentEvent): void;
  /** To be called once for all events of a transaction. */
  writeTouched(): void;
  write(row: SessionRow): void;
  changeSpan(key: string, state: SpanState | null, at: number): void;
  /** What another machine knows of its session after `since` replaces what was taken to be so. */
  replaceSpans(key: string, since: number, spans: readonly Span[]): void;
  /** The work on a port, from the events of a session: a history that is rebuilt has nothing else. */
  writeRun(key: string, event: SessionEvent): void;
  /** Ends the work on ports of all of these sessions. */
  closePorts(isMeant: (key: string) => boolean): void;
}

const maxKnownSessions = 5_000;

export function createSessionWriter(sql: Statements): SessionWriter {
  const sessions = new Map<string, KnownSession>();
  /** The last event of each session in this transaction. */
  const touched = new Map<string, AgentEvent>();
  const ports = createPortWriter(sql);

  function find(key: string): KnownSession {
    const known = sessions.get(key);
    if (known) return known;
    if (sessions.size >= maxKnownSessions) {
      writeTouched();
      sessions.clear();
    }
    const row = sql.readSession.get(key);
    const session: KnownSession = {
      project: row?.project ?? null,
      branch: row?.branch ?? null,
      firstCwd: row?.cwd ?? null,
      turnCount: row?.turn_count ?? 0,
      firstAt: row?.started_at ?? null,
      payloads: [],
      agentIds: new Map(),
      written: null,
      span: undefined,
    };
    sessions.set(key, session);
    return session;
  }

  function writeTouched(): void {
    for (const [key, { agent, sessionId, at, change }] of touched) {
      const { project, firstCwd, turnCount, firstAt } = find(key);
      const endedAt = change.kind === "session-end" ? at : null;
      const times = [firstAt ?? at, at, endedAt];
      sql.touchSession.run(key, agent, sessionId, project, firstCwd, ...times, turnCount);
    }
    touched.clear();
  }

  /** What the session used since it was last written, on the day it did. */
  function writeUsage(
    row: SessionRow,
    tokens: number,
    before: Pick<SessionTableRow, "tokens" | "cost_micros"> | null,
  ): void {
    const addedTokens = Math.max(0, tokens - (before?.tokens ?? 0));
    if (addedTokens === 0 && row.costMicros === (before?.cost_micros ?? null)) return;
    const addedMicros = Math.max(0, (row.costMicros ?? 0) - (before?.cost_micros ?? 0));
    const isUnknown = row.costMicros === null ? 1 : 0;
    sql.addUsage.run(formatLocalDate(row.lastAt), row.key, row.project, addedTokens, addedMicros, isUnknown);
    sql.writeUsage.run(tokens, row.costMicros, row.key);
    ports.addUsage(row.key, addedTokens, addedMicros, isUnknown);
  }

  function changeSpan(key: string, state: SpanState | null, at: number): void {
    const session = find(key);
    session.span ??= sql.readLastSpan.get(key);
    const last = session.span;
    const isOpen = last != null && last.to === null;
    if (isOpen ? last.state === state : state === null) return;
    // A late event can date the change before the span began.
    const changedAt = Math.max(at, last?.to ?? last?.from ?? 0);
    if (isOpen && changedAt === last.from) {
      sql.removeSpan.run(key, last.from);
      session.span = undefined;
      if (state !== null) changeSpan(key, state, changedAt);
      return;
    }
    if (isOpen) {
      last.to = changedAt;
      sql.closeSpan.run(changedAt, key, last.from);
    }
    if (state === null) return;
    if (last?.state === state && last.to === changedAt) {
      last.to = null;
      sql.reopenSpan.run(key, last.from);
    } else {
      session.span = { from: changedAt, to: null, state };
      sql.addSpan.run(key, changedAt, state);
    }
  }

  return {
    find,
    writeRun: ports.writeRun,
    closePorts: ports.close,
    touch: (key, event) => void touched.set(key, event),
    writeTouched,
    write(row) {
      const session = find(row.key);
      if (session.written && isSameSession(session.written, row)) return;
      session.written = row;
      session.project = row.project ?? session.project;
      session.branch = row.branch;
      const before = sql.readUsage.get(row.key);
      sql.writeSession.run(
        row.key,
        row.agent,
        row.sessionId,
        session.project,
        row.cwd,
        row.branch,
        row.title,
        row.model,
        row.startedAt,
        row.lastAt,
        row.endedAt,
        row.tty,
        row.pid,
        row.fingerprint,
        row.attended === null ? null : Number(row.attended),
        row.transcript,
      );
      ports.write(row);
      if (row.tokens !== null) writeUsage(row, row.tokens, before);
    },
    changeSpan,
    replaceSpans(key, since, spans) {
      const later = spans.filter(({ to }) => to === null || to > since);
      if (later.length === 0) return;
      sql.removeLaterSpans.run(key, since);
      sql.cutSpan.run(since, key, since);
      find(key).span = undefined;
      for (const { state, from, to } of later) {
        changeSpan(key, state, Math.max(from, since));
        if (to !== null) changeSpan(key, null, to);
      }
    },
  };
}
