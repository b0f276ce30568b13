/**
 * Writes the history: lines of the journal, and what the state adds to them. Every row has an id that follows from what it
 * records, so that recording something again changes nothing.
 */
import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import type { EventDetails } from "../agents/agent.ts";
import { type HookMessage, openEnvelope } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import type { LifecycleEvent } from "../core/lifecycle-event.ts";
import type { NormalizedFields } from "../core/normalized-event.ts";
import { type AgentEvent, createSessionKey } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import { statusTexts } from "../core/session/texts.ts";
import { timing } from "../core/timing.ts";
import type { HistoryItem, HistoryKind, SessionEvent, Severity } from "../core/wire.ts";
import { errorCode } from "../storage/files.ts";
import type { JournalLine, JournalPosition } from "../storage/journal/index.ts";
import { createLifecycleEvent, createWaitingEvent } from "./lifecycle.ts";
import { limitText } from "./limit-json.ts";
import { type EventRow, normalizeHook } from "./normalize.ts";
import type { AskRow, OpenState, SessionRow, StateRow } from "./rows.ts";

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
  /** Closes what was open when beckon last wrote and is not any more, and opens what is missing. */
  reconcile(open: OpenState): void;
  /** Frees the prepared statements: the database cannot be closed before. */
  close(): void;
}

export interface RecorderOptions {
  readonly agents: LoadedAgents;
  readonly defaultProvider: string;
  readonly onError: (text: string) => void;
}

const maxItemLength = 2_000;
/** The whole text is in the items. */
const maxTurnTextLength = 200;
/** Of a `seq`, see schema.ts. */
export const seqsPerMs = 1_024;
const maxAt = Math.floor(Number.MAX_SAFE_INTEGER / seqsPerMs) - 1;
/** A dialog that no hook described and that was gone sooner is not recorded: nobody could have seen what it asks. */
const minUnnamedMs = 1_000;
const maxKnownSessions = 5_000;
const streamPrefix = "journal/";

interface KnownSession {
  project: string | null;
  branch: string | null;
  firstCwd: string | null;
  turnCount: number;
  /** Payloads of the last second, to find duplicates. */
  payloads: { readonly key: string; readonly t: number }[];
  /** As it was last written by `recordSession`. null if it was not since the start. */
  written: SessionRow | null;
  /** The newest span. undefined if it was not read yet, null if there is none. */
  span: KnownSpan | null | undefined;
}

interface KnownSpan {
  readonly from: number;
  readonly state: string;
  /** null while it is open. */
  to: number | null;
}

export function toSeq(at: number): number {
  return Math.min(Math.max(0, Math.floor(at)), maxAt) * seqsPerMs;
}

export function createRecorder(db: Database, options: RecorderOptions): Recorder {
  const sql = prepareStatements(db);
  const sessions = new Map<string, KnownSession>();
  /** The last event of each session in this transaction. */
  const touched = new Map<string, AgentEvent>();
  /** As it was last written by this recorder, which is given up if a transaction fails. */
  let cursor: Cursor | null = null;
  const insertEvent = createInserter(sql.listEventIds);
  const insertItem = createInserter(sql.listItemIds);

  function findSession(key: string): KnownSession {
    const known = sessions.get(key);
    if (known) return known;
    if (sessions.size >= maxKnownSessions) {
      writeTouchedSessions();
      sessions.clear();
    }
    const row = sql.readSession.get(key);
    const session: KnownSession = {
      project: row?.project ?? null,
      branch: row?.branch ?? null,
      firstCwd: row?.cwd ?? null,
      turnCount: row?.turn_count ?? 0,
      payloads: [],
      written: null,
      span: undefined,
    };
    sessions.set(key, session);
    return session;
  }

  /** A hook that is registered twice sends its payload twice. After a prompt or the end of a turn it is a new event. */
  function isDuplicate(session: KnownSession, { payloadKey, t, change: { kind } }: AgentEvent): boolean {
    if (payloadKey === null) return false;
    const recent = session.payloads.filter((payload) => Math.abs(t - payload.t) <= timing.duplicateMs);
    const isKnown = recent.some(({ key }) => key === payloadKey);
    if (!isKnown) {
      const isNewTurn = kind === "prompt" || kind === "turn-end";
      session.payloads = isNewTurn ? [] : recent;
      session.payloads.push({ key: payloadKey, t });
    }
    return isKnown;
  }

  /** Returns false if the event is known. */
  function addEvent({ event, raw }: EventRow): boolean {
    const ts = Date.parse(event.ts);
    const values = eventValues(event, ts, raw);
    const seq = insertEvent.add(event.id, ts, (free) => {
      values[0] = free;
      return sql.addEvent.run(...values);
    });
    return seq !== null;
  }

  /** Returns the item's `seq`; null if the item is known. */
  function addItem(
    item: Omit<HistoryItem, "how" | "where" | "waitedMs" | "severity"> & { readonly severity?: Severity },
  ): number | null {
    const { id, at, key, provider, project, branch, kind, severity = "info" } = item;
    const text = limitText(item.text, maxItemLength);
    const seq = insertItem.add(id, at, (free) =>
      sql.addItem.run(free, id, key, provider, project, branch, kind, text, severity),
    );
    if (seq !== null) sql.addText.run(seq, toSearchText(text, item));
    return seq;
  }

  function addLifecycle(event: LifecycleEvent | null): void {
    if (event?.eventType === "session.lifecycle") {
      const { id, occurredAtIso, sessionId, provider, phase, projectPath, cwd } = event;
      const raw = JSON.stringify(event);
      sql.addSessionLifecycle.run(
        id,
        occurredAtIso,
        sessionId,
        provider,
        phase ?? "",
        projectPath,
        cwd ?? null,
        raw,
      );
    } else if (event?.eventType === "skill.lifecycle") {
      sql.addSkillLifecycle.run(
        event.id,
        event.occurredAtIso,
        event.sessionId,
        event.provider,
        event.skillName ?? "",
        event.phase ?? "",
        event.triggerCommand ?? null,
        event.targetDocPath ?? null,
        event.turnSeq ?? null,
        event.projectPath,
        JSON.stringify(event),
      );
    }
  }

  function recordTurn(key: string, session: KnownSession, event: AgentEvent): void {
    const { change } = event;
    if (change.kind === "prompt" && !change.byMachine) {
      session.turnCount++;
      const prompt = limitText(change.text, maxTurnTextLength);
      sql.addTurn.run(event.id, key, session.turnCount, event.at, prompt);
    }
    if (change.kind === "turn-end" && event.agentId === null) {
      const response = change.lastResponse && limitText(change.lastResponse, maxTurnTextLength);
      sql.endTurn.run(event.at, response, change.error, key, event.at);
    }
  }

  /** The agent's own report of a task replaces what was derived from a tool call. Returns false if the event is known. */
  function addEvents(rows: readonly EventRow[], event: AgentEvent, details: EventDetails): boolean {
    let isNew = false;
    for (const row of rows) {
      const { task_id, event_type } = row.event;
      if (details.task && task_id !== null) {
        if (details.task.isReported) sql.removeGuess.run(event.sessionId, task_id, event_type, event.at);
        else if (sql.findReport.get(event.sessionId, task_id, event_type, event.at)) continue;
      }
      if (addEvent(row)) isNew = true;
    }
    return isNew;
  }

  function recordLine({ id, at, key: payloadKey, body }: JournalLine): AgentEvent | null {
    const message = openEnvelope(body, options.defaultProvider, null);
    const agent = message && options.agents.get(message.provider);
    // The time since boot orders only the events of one boot, and the journal can have several.
    const event = agent?.translate(message as HookMessage, { at, t: at, id, key: payloadKey }) ?? null;
    if (!message || !event || isProbe(event)) return null;
    const key = createSessionKey(event.agent, event.sessionId);
    const session = findSession(key);
    if (isDuplicate(session, event)) return null;
    session.project ??= event.project ?? event.cwd?.split(/[\\/]/).filter(Boolean).at(-1) ?? null;
    session.firstCwd ??= event.cwd;
    const details = agent?.readDetails?.(message.payload) ?? {};
    if (!addEvents(normalizeHook(message, event, details), event, details)) return event;
    recordTurn(key, session, event);
    const { firstCwd, turnCount, project, branch } = session;
    addLifecycle(createLifecycleEvent(event, { projectPath: firstCwd, turnCount }));
    const item = describeItem(event, details);
    if (item) addItem({ id, at, key, provider: event.agent, project, branch, ...item });
    touched.set(key, event);
    return event;
  }

  /** Once for all events of a transaction. */
  function writeTouchedSessions(): void {
    for (const [key, { agent, sessionId, at, change }] of touched) {
      const { project, firstCwd, turnCount } = findSession(key);
      const endedAt = change.kind === "session-end" ? at : null;
      sql.touchSession.run(key, agent, sessionId, project, firstCwd, at, at, endedAt, turnCount);
    }
    touched.clear();
  }

  function recordSession(row: SessionRow): void {
    const session = findSession(row.key);
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
    );
    recordPort(row);
    if (row.tokens !== null) recordUsage(row, row.tokens, before);
  }

  /** The sessions that work on a port, and since when, so that most sessions need no query. */
  const runningPorts = new Map(sql.listOpenRuns.all().map(({ key, from_at }) => [key, from_at]));

  /** What happens to a port is listed. The rest of a session's events are listed already. */
  function recordPortItem(
    key: string,
    { id, event_type, summary, created_at, severity }: SessionEvent,
  ): void {
    const label = portItemLabels[event_type];
    if (label === undefined) return;
    const { project, branch } = findSession(key);
    const provider = key.slice(0, Math.max(0, key.indexOf(":")));
    const at = Date.parse(created_at);
    addItem({ id, at, key, provider, project, branch, kind: "port", text: `${label}${summary}`, severity });
  }

  function recordPort({ key, port, lastAt, endedAt }: SessionRow): void {
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

  /** What the session used since it was last written, on the day it did. */
  function recordUsage(
    row: SessionRow,
    tokens: number,
    before: { readonly tokens: number; readonly cost_micros: number | null } | null,
  ): void {
    const addedTokens = Math.max(0, tokens - (before?.tokens ?? 0));
    if (addedTokens === 0 && row.costMicros === (before?.cost_micros ?? null)) return;
    const addedMicros = Math.max(0, (row.costMicros ?? 0) - (before?.cost_micros ?? 0));
    const isUnknown = row.costMicros === null ? 1 : 0;
    sql.addUsage.run(formatLocalDate(row.lastAt), row.key, row.project, addedTokens, addedMicros, isUnknown);
    sql.writeUsage.run(tokens, row.costMicros, row.key);
    const runSince = runningPorts.get(row.key);
    if (runSince !== undefined) sql.addRunUsage.run(addedTokens, addedMicros, isUnknown, row.key, runSince);
  }

  function openAsk(session: SessionRow, ask: AskRow): void {
    recordSession(session);
    const { id, key, request, kind, agentId, tool, summary, openedAt } = ask;
    if (sql.findAsk.get(id, request)) return;
    const seq = addItem({ ...itemOf(session), id, at: openedAt, kind, text: formatAsk(ask) });
    sql.addAsk.run(id, key, request, kind, agentId, tool, summary, session.project, openedAt, seq);
    addEvent({ event: createSynthetic("agent_blocked", `${id}:blocked`, openedAt, session, ask), raw: null });
    const event = createWaitingEvent(id, session, { kind, at: openedAt }, findSession(key).firstCwd);
    addLifecycle(event);
  }

  function nameAsk(session: SessionRow, ask: AskRow): void {
    const text = formatAsk(ask);
    if (sql.nameAsk.run(ask.request, ask.kind, ask.tool, ask.summary, ask.id).changes === 0) {
      openAsk(session, ask);
      return;
    }
    const seq = sql.readAsk.get(ask.id, null)?.item_seq ?? null;
    if (seq === null) return;
    sql.nameItem.run(ask.kind, text, seq);
    sql.removeText.run(seq);
    sql.addText.run(seq, toSearchText(text, { ...itemOf(session), kind: ask.kind }));
  }

  function removeAsk({ id, opened_at, item_seq }: AskTableRow): void {
    if (item_seq !== null) {
      sql.removeText.run(item_seq);
      sql.removeItem.run(item_seq);
      insertItem.forget();
    }
    sql.removeAsk.run(id);
    sql.removeEvent.run(toSeq(opened_at), `${id}:blocked`);
    insertEvent.forget();
  }

  function closeAsk(
    id: string,
    request: string | null,
    at: number,
    waitedMs: number,
    session: SessionRow | null,
  ): void {
    const row = sql.readAsk.get(id, request);
    if (!row || row.closed_at !== null) return;
    if (row.request === null && row.tool === null && row.summary === "" && waitedMs < minUnnamedMs) {
      removeAsk(row);
      return;
    }
    sql.closeAsk.run(at, waitedMs, row.id);
    sql.closeItem.run(waitedMs, row.item_seq);
    if (!session) return;
    const ask: AskRow = { ...row, openedAt: at, agentId: row.agent_id };
    addEvent({
      event: createSynthetic("agent_unblocked", `${row.id}:unblocked`, at, session, ask),
      raw: null,
    });
  }

  function endAsk(id: string, request: string | null, how: string, where: string | null): void {
    const row = sql.readAsk.get(id, request);
    // What was derived from the journal does not know where.
    if (!row || row.place !== null) return;
    sql.endAsk.run(how, where, row.id);
    sql.endItem.run(how, where, row.item_seq);
  }

  function changeSpan(key: string, state: string | null, at: number): void {
    const session = findSession(key);
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
    readCursor() {
      if (cursor) return cursor;
      const row = sql.readCursor.get();
      if (!row) return null;
      const segment = row.stream_key.slice(streamPrefix.length);
      return { position: { segment, offset: row.byte_offset }, inode: row.inode };
    },
    writeCursor(position, inode, now) {
      writeTouchedSessions();
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
      switch (row.row) {
        case "session":
          return recordSession(row.session);
        case "ask-opened":
          return openAsk(row.session, row.ask);
        case "ask-named":
          return nameAsk(row.session, row.ask);
        case "ask-closed":
          return closeAsk(row.id, row.request, row.at, row.waitedMs, row.session);
        case "ask-ended":
          return endAsk(row.id, row.request, row.how, row.where);
        case "span":
          return changeSpan(row.key, row.state, row.at);
        case "child": {
          const { session, agentId, title, startedAt, endedAt } = row;
          const { key, agent, sessionId, project, cwd, lastAt } = session;
          const childKey = `${key}/${agentId}`;
          sql.writeChild.run(
            childKey,
            agent,
            agentId,
            project,
            cwd,
            title,
            startedAt,
            lastAt,
            endedAt,
            sessionId,
            agentId,
          );
          return;
        }
        case "died":
          return addItem({
            ...itemOf(row.session),
            id: `${row.session.key}#${row.at}:died`,
            at: row.at,
            kind: "failed",
            text: statusTexts.died,
            severity: "error",
          });
        case "session-event": {
          const {
            id,
            session_id,
            port_id = null,
            event_type,
            summary,
            details,
            severity,
            created_at,
          } = row.event;
          const detailsText = details === undefined ? null : JSON.stringify(details);
          sql.addSessionEvent.run(
            id,
            session_id,
            row.key,
            port_id,
            event_type,
            summary,
            detailsText,
            severity,
            created_at,
          );
          recordPortItem(row.key, row.event);
          return;
        }
        case "change":
          sql.addChange.run(row.seq, row.event, row.data);
      }
    },
    reconcile({ asks, spans, closing }) {
      const openIds = new Set([...closing, ...asks.flatMap(({ ask }) => [ask.id, ask.request ?? ask.id])]);
      for (const row of sql.listOpenAsks.all()) {
        if (openIds.has(row.id) || (row.request !== null && openIds.has(row.request))) continue;
        const at = Math.max(row.opened_at, row.last_at ?? row.opened_at);
        closeAsk(row.id, null, at, at - row.opened_at, null);
        endAsk(row.id, null, "dismissed", null);
      }
      const openSpans = new Map(spans.map((span) => [span.key, span]));
      for (const row of sql.listOpenSpans.all()) {
        if (openSpans.get(row.key)?.state === row.state) openSpans.delete(row.key);
        else changeSpan(row.key, null, Math.max(row.from_at, row.last_at ?? row.from_at));
      }
      // A session that still works on its port is written again after this.
      const live = new Set(spans.map(({ key }) => key));
      for (const key of [...runningPorts.keys()]) {
        if (live.has(key)) continue;
        sql.closeLostRuns.run(key);
        runningPorts.delete(key);
      }
      for (const { session, ask } of asks) openAsk(session, ask);
      for (const { key, state, since } of openSpans.values()) changeSpan(key, state, since);
    },
    close() {
      for (const statement of Object.values(sql)) statement.finalize();
    },
  };
}

interface FilterFields {
  readonly project?: string | null | undefined;
  readonly provider?: string | undefined;
  readonly kind?: string | undefined;
  readonly key?: string | undefined;
}

/** Words of the search index that stand for a project, an agent, a kind or a session. Nobody searches for them. */
export function createFilterWords({ project, provider, kind, key }: FilterFields): string[] {
  const words: string[] = [];
  if (project != null) words.push(createFilterWord("_p", project));
  if (provider !== undefined) words.push(createFilterWord("_a", provider));
  if (kind !== undefined) words.push(createFilterWord("_k", kind));
  if (key !== undefined) words.push(createFilterWord("_s", key));
  return words;
}

const filterWords = new Map<string, string>();
const maxFilterWords = 5_000;

function createFilterWord(prefix: string, value: string): string {
  const name = prefix + value;
  const known = filterWords.get(name);
  if (known !== undefined) return known;
  if (filterWords.size >= maxFilterWords) filterWords.clear();
  const word = `${prefix}_${Bun.hash(value).toString(36)}`;
  filterWords.set(name, word);
  return word;
}

/** A colour code before a word would become a part of it. */
function toSearchText(text: string, fields: FilterFields): string {
  const plain = text.includes("\u001b") ? Bun.stripANSI(text) : text;
  return `${plain} ${createFilterWords(fields).join(" ")}`;
}

const portItemLabels: Readonly<Partial<Record<SessionEvent["event_type"], string>>> = {
  port_start: "started ",
  port_end: "ended ",
  untracked_edit: "",
  dependency_resolved: "",
};

interface ItemText {
  readonly kind: HistoryKind;
  readonly text: string;
  readonly severity?: Severity;
}

/** null if the event is not listed: only the start of a tool is, and asks are listed by themselves. */
function describeItem({ change }: AgentEvent, details: EventDetails): ItemText | null {
  switch (change.kind) {
    case "session-start":
      if (change.source === "compact") return { kind: "compact", text: "compacted" };
      return { kind: "started", text: change.source };
    case "session-end":
      return { kind: "ended", text: change.reason ?? "" };
    case "prompt":
      return change.byMachine ? null : { kind: "prompt", text: change.text };
    case "tool-start": {
      if (change.skill) return { kind: "skill", text: change.skill.triggerCommand };
      return { kind: "tool", text: [change.tool, change.summary].filter(Boolean).join(": ") };
    }
    case "tool-end": {
      if (change.outcome !== "failed") return null;
      const text = `${change.tool} failed: ${details.error ?? ""}`.trimEnd();
      return { kind: "tool", text, severity: "warn" };
    }
    case "turn-end":
      if (change.error !== null) return { kind: "failed", text: change.error, severity: "error" };
      return change.lastResponse ? { kind: "answer", text: change.lastResponse } : null;
    case "compact-start":
      return { kind: "compact", text: "compacting" };
    default:
      return details.isNotification ? { kind: "notification", text: details.message ?? "" } : null;
  }
}

interface Inserter {
  /** Calls `insert` with a free `seq` and returns it. Returns null if the table has a row with this id and time. */
  add(id: string, at: number, insert: (seq: number) => { readonly changes: number }): number | null;
  /** To be called when a row was removed. */
  forget(): void;
}

/** What is known of the rows of one millisecond. */
interface Moment {
  /** The first `seq` that may be free. */
  next: number;
  readonly ids: Set<string>;
}

const maxMoments = 16;

type IdLister = Statement<{ seq: number; id: string }, [number, number]>;

/** So many rows of one millisecond may have pushed others into the next one. */
const crowdedRows = seqsPerMs - 24;

/**
 * A unique index on random ids would cost more than the row itself, because every insert changes another page. The same event has
 * the same time whenever it is recorded, so only rows of its millisecond have to be compared, and mostly there are none.
 */
function createInserter(listIds: IdLister): Inserter {
  /** By the first `seq` of the millisecond. Events of several sessions arrive a little out of order. */
  const moments = new Map<number, Moment>();

  function remember(first: number, moment: Moment): Moment {
    if (moments.size >= maxMoments) moments.delete(moments.keys().next().value ?? first);
    moments.set(first, moment);
    return moment;
  }

  function load(first: number): Moment {
    const moment: Moment = { next: first, ids: new Set() };
    for (let from = first, count = crowdedRows; count >= crowdedRows; from += seqsPerMs) {
      const rows = listIds.all(from, from + seqsPerMs);
      for (const { seq, id } of rows) {
        moment.ids.add(id);
        moment.next = seq + 1;
      }
      count = rows.length;
    }
    return moment;
  }

  return {
    add(id, at, insert) {
      const first = toSeq(at);
      let moment = moments.get(first);
      if (!moment) {
        if (insert(first).changes > 0) {
          remember(first, { next: first + 1, ids: new Set([id]) });
          return first;
        }
        moment = remember(first, load(first));
      }
      if (moment.ids.has(id)) return null;
      while (insert(moment.next).changes === 0) moment.next++;
      moment.ids.add(id);
      return moment.next++;
    },
    forget: () => moments.clear(),
  };
}

/** In the order of the columns; the first is `seq`. */
function eventValues(event: NormalizedFields, ts: number, raw: string | null): SQLQueryBindings[] {
  return [
    null,
    event.id,
    ts,
    event.event_type,
    event.source,
    event.workspace_id,
    event.terminal_session_id,
    event.run_id,
    event.session_id,
    event.agent_id,
    event.target_agent_id,
    event.task_id,
    event.severity,
    JSON.stringify(event.payload),
    event.thinking_text,
    raw,
  ];
}

/** Whether nothing would change but the time of the last event, which is written with the events. */
function isSameSession(a: SessionRow, b: SessionRow): boolean {
  return (Object.keys(b) as (keyof SessionRow)[]).every((name) => name === "lastAt" || a[name] === b[name]);
}

function itemOf({ key, agent, project, branch }: SessionRow) {
  return { key, provider: agent, project, branch };
}

function formatAsk({ tool, summary }: AskRow): string {
  return [tool, summary].filter(Boolean).join(": ");
}

function createSynthetic(
  event_type: "agent_blocked" | "agent_unblocked",
  id: string,
  at: number,
  session: SessionRow,
  ask: Pick<AskRow, "kind" | "agentId" | "tool" | "summary">,
): NormalizedFields {
  const workspace = session.project ?? "unknown";
  return {
    id,
    version: "1.1",
    ts: new Date(at).toISOString(),
    event_type,
    source: "synthetic",
    workspace_id: workspace,
    terminal_session_id: session.tty ?? session.fingerprint ?? "unknown",
    run_id: null,
    session_id: session.sessionId,
    agent_id: `${workspace}/${ask.agentId ?? "leader"}`,
    target_agent_id: null,
    task_id: null,
    severity: "info",
    payload: { kind: ask.kind, ...(ask.tool === null ? {} : { tool_name: ask.tool }), summary: ask.summary },
    thinking_text: null,
  };
}

/** The local day: "2026-11-17". */
export function formatLocalDate(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

type Values = SQLQueryBindings[];

interface AskTableRow {
  readonly id: string;
  readonly key: string;
  readonly request: string | null;
  readonly kind: AskRow["kind"];
  readonly agent_id: string | null;
  readonly tool: string | null;
  readonly summary: string;
  readonly opened_at: number;
  readonly closed_at: number | null;
  readonly place: string | null;
  readonly item_seq: number | null;
}

function prepareStatements(db: Database) {
  const write = (text: string) => db.prepare<unknown, Values>(text);
  const read = <Row>(text: string) => db.prepare<Row, Values>(text);
  return {
    readCursor: read<{ stream_key: string; inode: string; byte_offset: number }>(
      "SELECT stream_key, inode, byte_offset FROM lifecycle_stream_offsets ORDER BY stream_key DESC LIMIT 1",
    ),
    removeCursors: write("DELETE FROM lifecycle_stream_offsets WHERE stream_key <> ?"),
    writeCursor: write("INSERT OR REPLACE INTO lifecycle_stream_offsets VALUES (?, ?, ?, ?)"),
    addEvent: write(
      "INSERT OR IGNORE INTO normalized_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    listEventIds: db.prepare<{ seq: number; id: string }, [number, number]>(
      "SELECT seq, id FROM normalized_events WHERE seq >= ? AND seq < ?",
    ),
    removeEvent: write(
      `DELETE FROM normalized_events WHERE seq >= ?1 AND seq < ?1 + ${seqsPerMs} AND id = ?2`,
    ),
    removeGuess: write(
      "DELETE FROM normalized_events WHERE session_id = ? AND task_id = ? AND event_type = ? AND id LIKE '%:task' AND ts > ? - 60000",
    ),
    findReport: read<{ n: number }>(
      "SELECT 1 AS n FROM normalized_events WHERE session_id = ? AND task_id = ? AND event_type = ? AND id NOT LIKE '%:task' AND ts > ? - 60000",
    ),
    addItem: write(
      `INSERT OR IGNORE INTO items (seq, id, key, provider, project, branch, kind, text, severity)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    listItemIds: db.prepare<{ seq: number; id: string }, [number, number]>(
      "SELECT seq, id FROM items WHERE seq >= ? AND seq < ?",
    ),
    removeItem: write("DELETE FROM items WHERE seq = ?"),
    nameItem: write("UPDATE items SET kind = ?, text = ? WHERE seq = ?"),
    closeItem: write("UPDATE items SET waited_ms = ? WHERE seq = ?"),
    endItem: write("UPDATE items SET how = ?, place = ? WHERE seq = ?"),
    addText: write("INSERT INTO items_fts (rowid, text) VALUES (?, ?)"),
    removeText: write("DELETE FROM items_fts WHERE rowid = ?"),
    readSession: read<{
      project: string | null;
      branch: string | null;
      cwd: string | null;
      turn_count: number;
    }>("SELECT project, branch, cwd, turn_count FROM sessions WHERE key = ?"),
    touchSession: write(
      `INSERT INTO sessions (key, provider, session_id, project, cwd, started_at, last_at, ended_at, turn_count)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET last_at = max(last_at, excluded.last_at),
       ended_at = excluded.ended_at, turn_count = excluded.turn_count`,
    ),
    writeSession: write(
      `INSERT INTO sessions (key, provider, session_id, project, cwd, branch, title, model, started_at, last_at, ended_at,
       tty, parent_pid, fingerprint, attended) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET project = excluded.project, cwd = coalesce(cwd, excluded.cwd),
       branch = excluded.branch, title = excluded.title, model = excluded.model,
       started_at = min(started_at, excluded.started_at), last_at = max(last_at, excluded.last_at),
       ended_at = excluded.ended_at, tty = excluded.tty, parent_pid = excluded.parent_pid,
       fingerprint = excluded.fingerprint, attended = excluded.attended`,
    ),
    writeChild: write(
      `INSERT INTO sessions (key, provider, session_id, project, cwd, title, started_at, last_at, ended_at, parent_session_id,
       agent_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET title = excluded.title,
       last_at = max(last_at, excluded.last_at), ended_at = excluded.ended_at`,
    ),
    readUsage: read<{ tokens: number; cost_micros: number | null }>(
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
    listOpenAsks: read<{ id: string; request: string | null; opened_at: number; last_at: number | null }>(
      `SELECT asks.id, request, opened_at, last_at FROM asks LEFT JOIN sessions ON sessions.key = asks.key
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
  };
}
