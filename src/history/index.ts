/**
 * History: what happened, in an SQLite database. The journal is what counts: the history is read from it, with what the state
 * adds, and can be rebuilt from it. This file takes what the app adds, keeps it (unsent-rows.ts, past-records.ts) and says when it is written; the
 * database belongs to a thread (thread-client.ts, engine.ts).
 */
import { rmSync } from "node:fs";
import type { Agent } from "../agents/agent.ts";
import type { Config } from "../core/config/config.ts";
import type { HistoryReader, Sink, Transition } from "../core/interfaces/index.ts";
import type { PastSession, StreamEvent } from "../core/interfaces/wire.ts";
import type { ClockReading } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import type { SessionView } from "../core/view/session-view.ts";
import { ignoreErrors } from "../storage/files.ts";
import type { JournalPosition } from "../storage/journal/index.ts";
import { waitAtMost } from "../system/schedule.ts";
import type { HistoryRetention, ToHistory } from "./messages.ts";
import { createPastRecords } from "./past-records.ts";
import type { PastContext } from "./past-state.ts";
import { createHistoryReader, type PastReader } from "./reader.ts";
import { createPastRow, createStateRow, type StateRow } from "./rows.ts";
import { chooseThread, type StartThread } from "./start-thread.ts";
import { createThreadClient } from "./thread-client.ts";
import { createUnsentRows } from "./unsent-rows.ts";
import { createWaitingRowsFile, nameWaitingRows } from "./waiting-rows.ts";

export interface HistoryOptions {
  /** The database. */
  readonly path: string;
  /** The journal's folder. */
  readonly journal: string;
  /** Everything before it is in the journal, and in the state. */
  readonly position: () => JournalPosition;
  readonly defaultProvider: string;
  /** The agents that are not in the table of all agents. Then there is no thread: functions cannot be sent to it. */
  readonly agents?: readonly Agent[] | undefined;
  readonly sessions: () => readonly Session[];
  /** A session as it is stored, not settled. */
  readonly get: (ref: SessionRefLike) => Session | null;
  /** What decides, besides the sessions, how they are shown. */
  readonly context: () => PastContext;
  readonly groupOf: (key: string) => SessionView["group"];
  readonly config: () => Pick<Config, "history">;
  readonly clock: () => ClockReading;
  readonly onProblem: (text: string) => void;
  /** For tests. */
  readonly startThread?: StartThread;
  /** For tests. */
  readonly restartMs?: number;
}

export interface History extends Sink, HistoryReader, PastReader {
  /** Why the history is incomplete. Empty if it is not. */
  problems(): readonly string[];
  /** Keeps an event of the stream for clients that connect again. */
  addStreamEvent(event: StreamEvent): void;
  /** What a session of another machine did while that was not linked: after `since`, on this machine's clock. */
  addPast(machine: string, session: PastSession, since: number): void;
  /** All sessions of another machine are known now: what is open of them, and what is not. */
  onMachineListed(machine: string): void;
  /**
   * Calls back once everything that was added so far is in the database, or if there is no history. Not in this run if something of
   * another machine was lost: that has to be asked for it again.
   */
  whenRecorded(callback: () => void): void;
  /** Calls back whenever it has lost what it had of other machines: a damaged database was replaced. Also if that was before. */
  whenReplaced(callback: () => void): void;
  /** The journal after this position is still needed. null if nothing is known to be. */
  recordedTo(): JournalPosition | null;
  stop(): Promise<void>;
}

/**
 * What happens within this time is written at once: a transaction costs about as much as five events. Programs that read the
 * database must see an event within a second.
 */
const writeMs = 500;
/** A thread that ends at once must not be started for every event. */
const defaultRestartMs = 30_000;
/** How long a stop waits for a thread that has just started. */
const readyMs = 3_000;
/** With fewer rows than this, a thread that is still writing is left alone. */
const maxRowsWhileWriting = 2_000;

export function createHistory(options: HistoryOptions): History {
  const { config, restartMs = defaultRestartMs } = options;
  const unsent = createUnsentRows(options.sessions);
  const past = createPastRecords(options);
  let writeTimer: ReturnType<typeof setTimeout> | null = null;
  /** There was something to write while the thread was still writing. */
  let isOverdue = false;
  let isStopped = false;
  /** Somebody waits for the thread. */
  let onReady: (() => void) | null = null;
  /** How often rows were sent, and how often it is known what became of them. */
  let sentCount = 0;
  let answeredCount = 0;
  /** With the count of the rows that they wait for. */
  let recordedCallbacks: { readonly callback: () => void; count: number }[] = [];
  let wasReplaced = false;
  let onReplaced = () => {};
  let retention = readRetention(config().history);

  const isWanted = () => retention !== null && !isStopped;
  const isOn = () => isWanted() && !client.isUnavailable();
  if (retention === null) removeFiles(options.path);
  else past.startOver();

  const client = createThreadClient({
    startThread: options.startThread ?? chooseThread(options.agents),
    waitingRows: createWaitingRowsFile(nameWaitingRows(options.path)),
    isOn,
    createOpenMessage: () => createOpenMessage(options, retention),
    describeState() {
      const open = unsent.describeState();
      past.onLost();
      return { upTo: options.position(), open, past: past.take() };
    },
    onReady() {
      write();
      onReady?.();
    },
    onRecorded() {
      answeredCount++;
      callBack();
    },
    onReturned(rows) {
      answeredCount++;
      unsent.putBack(rows);
      // They are in what is sent next.
      for (const waiting of recordedCallbacks) waiting.count = sentCount + 1;
    },
    onWritten() {
      if (isOverdue) write();
    },
    onReplaced() {
      wasReplaced = true;
      onReplaced();
    },
    onProblem: options.onProblem,
    restartMs,
  });

  const reader = createHistoryReader({
    ...options,
    now: () => options.clock().at,
    retention: () => (isWanted() ? retention : null),
    writeNow() {
      if (!unsent.isEmpty() || !past.isEmpty()) write();
    },
    client,
  });

  function callBack(): void {
    const isOff = retention === null || client.isUnavailable();
    if (unsent.hasLost() && !isOff) return;
    const due = recordedCallbacks.filter(({ count }) => isOff || count <= answeredCount);
    recordedCallbacks = recordedCallbacks.filter((waiting) => !due.includes(waiting));
    for (const { callback } of due) callback();
  }

  function add(row: StateRow): void {
    unsent.add(row);
    scheduleWrite();
  }

  function scheduleWrite(): void {
    writeTimer ??= setTimeout(writeIfIdle, writeMs);
  }

  /** Waits for the thread if it lags behind: sessions that change again meanwhile are sent once. */
  function writeIfIdle(): void {
    writeTimer = null;
    if (client.isWriting() && unsent.count() < maxRowsWhileWriting) isOverdue = true;
    else write();
  }

  function write(): void {
    if (writeTimer) clearTimeout(writeTimer);
    writeTimer = null;
    isOverdue = false;
    if (!isOn() || !client.ensureReady()) return;
    sentCount++;
    client.write(options.position(), unsent.take(), past.take());
  }

  function waitUntilReady(): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<void>();
    onReady = resolve;
    return waitAtMost(readyMs, promise);
  }

  function onContext(): void {
    if (!isOn()) return;
    past.onContext();
    if (!past.isEmpty()) scheduleWrite();
  }

  function closeThread(): Promise<void> {
    if (writeTimer) clearTimeout(writeTimer);
    writeTimer = null;
    unsent.clear();
    past.clear();
    return client.close().then(() => {
      answeredCount = sentCount;
    });
  }

  return {
    name: "history",
    onChange({ session }) {
      if (!isOn() || isProbe(session)) return;
      unsent.addSession(session);
      past.onChange(session);
      scheduleWrite();
    },
    onTransition(transition: Transition) {
      if (!isOn()) return;
      if (transition.kind === "departed") past.onDeparted(transition.key);
      add(createStateRow(transition));
    },
    onRefresh: onContext,
    addStreamEvent({ id, event, data }) {
      if (isOn()) add({ kind: "change", seq: Number(id), event, data: JSON.stringify(data) });
    },
    addPast(machine, session, since) {
      if (isOn()) add(createPastRow(machine, session, since));
    },
    onMachineListed(machine) {
      if (!isOn()) return;
      unsent.addListed(machine);
      scheduleWrite();
    },
    ...reader,
    problems() {
      const problem = client.problem();
      return problem === null || !isWanted() ? [] : [problem];
    },
    onSettingsChanged() {
      onContext();
      const next = readRetention(config().history);
      const isChanged = JSON.stringify(next) !== JSON.stringify(retention);
      if (retention === null && next !== null) past.startOver();
      retention = next;
      if (isChanged && next) client.post({ kind: "retention", retention: next });
      if (isChanged && next === null)
        void closeThread().then(() => {
          if (retention !== null) return;
          removeFiles(options.path);
          callBack();
        });
    },
    whenRecorded(callback) {
      recordedCallbacks.push({ callback, count: unsent.isEmpty() ? sentCount : sentCount + 1 });
      callBack();
    },
    whenReplaced(callback) {
      onReplaced = callback;
      if (wasReplaced) callback();
    },
    recordedTo: () => (isOn() ? client.recordedTo() : null),
    async stop() {
      past.onStop();
      // Without a thread, the next start reads it from the journal, which has nothing of other machines.
      if (unsent.hasOfOthers() && isOn() && !client.ensureReady()) await waitUntilReady();
      if (client.isRunning()) write();
      isStopped = true;
      await closeThread();
    },
  };
}

/** null if the history is off. */
function readRetention(history: Config["history"]): HistoryRetention | null {
  return history === "off" ? null : history;
}

export { createEmptyHistory } from "./empty.ts";

function createOpenMessage(
  { path, journal, defaultProvider }: HistoryOptions,
  retention: HistoryRetention | null,
): Extract<ToHistory, { kind: "open" }> {
  return { kind: "open", path, journal, defaultProvider, retention: retention ?? { days: 1, maxMb: 1 } };
}

/** Of a history that is off, nothing is kept. */
function removeFiles(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`, nameWaitingRows(path)])
    ignoreErrors(() => rmSync(file, { force: true }));
}
