/** The app's side of the history's thread: starts it, also after it has died, and waits for its answers. */
import { readErrorMessage } from "../core/error-message.ts";
import type { JournalPosition } from "../storage/journal/index.ts";
import { waitAtMost } from "../system/schedule.ts";
import type { FromHistory, HistoryCall, ToHistory } from "./messages.ts";
import type { PastPart } from "./past-state.ts";
import type { StateRow } from "./rows.ts";
import type { StartThread, Thread } from "./start-thread.ts";
import type { WaitingRows, WaitingRowsFile } from "./waiting-rows.ts";

export interface ThreadClientOptions {
  readonly startThread: StartThread;
  readonly waitingRows: WaitingRowsFile;
  readonly isOn: () => boolean;
  readonly createOpenMessage: () => ToHistory;
  /** Called when the thread needs the state, which contains everything so far. */
  readonly describeState: () => Omit<Extract<ToHistory, { kind: "state" }>, "kind">;
  /** The thread knows the state, and takes rows. */
  readonly onReady: () => void;
  /** The thread has recorded the oldest of the rows that were sent with `write`. */
  readonly onRecorded: () => void;
  /** It could not record these; null if they are lost. They come in the order in which they were sent, before the thread is ready again. */
  readonly onReturned: (rows: readonly StateRow[] | null) => void;
  /** The thread has done all that was sent with `write`. */
  readonly onWritten: () => void;
  /** A new database has taken the place of a damaged one. */
  readonly onReplaced: () => void;
  readonly onProblem: (text: string) => void;
  readonly restartMs: number;
}

export interface ThreadClient {
  /** Why the history is incomplete. null if it is not. */
  problem(): string | null;
  /** There will be no history while beckon runs; `problem` says why. */
  isUnavailable(): boolean;
  isRunning(): boolean;
  /** The position up to which the journal is recorded, as far as that is known. */
  recordedTo(): JournalPosition | null;
  /** Starts the thread if it does not run, but not soon after it has died. Returns whether it takes rows now. */
  ensureReady(): boolean;
  /** Does nothing without a thread. */
  post(message: ToHistory): void;
  /** Whether it has not done yet what it was sent with `write`. */
  isWriting(): boolean;
  /** `past` is what the thread keeps as it is. */
  write(upTo: JournalPosition, rows: readonly StateRow[], past: PastPart | null): void;
  /** Rejects with what the user should read if there is no answer. */
  call(query: HistoryCall): Promise<unknown>;
  close(): Promise<void>;
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

const queryMs = 30_000;
const closeMs = 3_000;

export function createThreadClient(options: ThreadClientOptions): ThreadClient {
  let thread: Thread | null = null;
  /** The thread knows the state, and takes rows. */
  let isReady = false;
  let problem: string | null = null;
  let isUnavailable = false;
  let hasDied = false;
  /** Runs while the thread is dead. */
  let restartTimer: ReturnType<typeof setTimeout> | null = null;
  let onClosed: (() => void) | null = null;
  /** The rows that were sent with `write` and that the thread has not answered, oldest first. */
  let sent: (string | WaitingRows)[] = [];
  /** It needs the state, and gets it when all of those are answered. */
  let isBehind = false;
  let recordedTo: JournalPosition | null = null;
  let nextCall = 1;
  const calls = new Map<number, PendingCall>();

  function ensureThread(): Thread {
    if (thread) return thread;
    isBehind = false;
    options.waitingRows.clear();
    thread = options.startThread(onMessage, onDied);
    thread.post(options.createOpenMessage());
    return thread;
  }

  function onMessage(message: FromHistory): void {
    switch (message.kind) {
      case "behind":
        isBehind = true;
        if (sent.length === 0) sendState();
        return;
      case "written":
        recordedTo = message.upTo ?? recordedTo;
        if (!message.isRecorded) returnRows(1);
        else if (sent.shift() !== undefined) options.onRecorded();
        if (sent.length > 0) return;
        options.waitingRows.clear();
        if (isBehind) sendState();
        else options.onWritten();
        return;
      case "paused":
        isReady = false;
        return;
      case "problem":
        problem = message.text;
        options.onProblem(problem ?? "the history is written again");
        return;
      case "unavailable":
        isUnavailable = true;
        problem = message.text;
        options.onProblem(problem);
        rejectCalls(problem);
        thread?.end();
        thread = null;
        return;
      case "replaced":
        options.onReplaced();
        return;
      case "report":
        options.onProblem(message.text);
        return;
      case "result":
        takeCall(message.id)?.resolve(message.value);
        return;
      case "failed":
        takeCall(message.id)?.reject(new Error(message.reason));
        return;
      case "closed":
        onClosed?.();
    }
  }

  function sendState(): void {
    isBehind = false;
    thread?.post({ kind: "state", ...options.describeState() });
    isReady = true;
    if (hasDied) problem = null;
    hasDied = false;
    options.onReady();
  }

  /** The oldest that were sent. */
  function returnRows(count: number): void {
    for (const rows of sent.splice(0, count)) options.onReturned(readAgain(rows));
  }

  function readAgain(rows: string | WaitingRows): readonly StateRow[] | null {
    try {
      return JSON.parse(options.waitingRows.read(rows));
    } catch (error) {
      options.onProblem(`rows of the history could not be read again: ${readErrorMessage(error)}`);
      return null;
    }
  }

  function onDied(reason: string): void {
    thread = null;
    returnRows(sent.length);
    isReady = false;
    hasDied = true;
    restartTimer ??= setTimeout(restart, options.restartMs);
    problem = `The history's thread has ended (${reason}). beckon starts it again soon.`;
    options.onProblem(problem);
    rejectCalls(problem);
    onClosed?.();
  }

  /** The new thread reads from the journal what the old one has not written. */
  function restart(): void {
    restartTimer = null;
    if (options.isOn()) ensureThread();
  }

  function takeCall(id: number): PendingCall | undefined {
    const call = calls.get(id);
    calls.delete(id);
    if (call) clearTimeout(call.timer);
    return call;
  }

  function rejectCalls(reason: string): void {
    for (const id of [...calls.keys()]) takeCall(id)?.reject(new Error(reason));
  }

  return {
    problem: () => problem,
    isUnavailable: () => isUnavailable,
    isRunning: () => thread !== null,
    recordedTo: () => recordedTo,
    ensureReady() {
      if (restartTimer) return false;
      ensureThread();
      return isReady;
    },
    post: (message) => thread?.post(message),
    isWriting: () => thread !== null && sent.length > 0,
    write(upTo, rows, past) {
      if (!thread) return;
      // If it is in the middle of something, they have to wait.
      const put = (text: string) => (sent.length > 0 ? options.waitingRows.put(text) : text);
      const waiting = {
        rows: put(JSON.stringify(rows)),
        past: past && { from: past.from, records: put(past.records) },
      };
      sent.push(waiting.rows);
      thread.post({ kind: "write", upTo, ...waiting });
    },
    call(query) {
      if (restartTimer) return Promise.reject(new Error(problem ?? "The history is not ready."));
      const id = nextCall++;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => takeCall(id)?.reject(new Error("The history is busy.")), queryMs);
      calls.set(id, { resolve, reject, timer });
      ensureThread().post({ kind: "query", id, call: query });
      return promise;
    },
    async close() {
      if (restartTimer) clearTimeout(restartTimer);
      restartTimer = null;
      rejectCalls("The history is closed.");
      const closing = thread;
      if (!closing) return;
      const done = Promise.withResolvers<void>();
      onClosed = done.resolve;
      closing.post({ kind: "close" });
      await waitAtMost(closeMs, done.promise);
      closing.end();
      sent = [];
      options.waitingRows.clear();
      thread = null;
      isReady = false;
      isUnavailable = false;
      problem = null;
    },
  };
}
