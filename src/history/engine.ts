/** What the history's thread does: it takes the app's messages, and answers queries while the writer works. */
import type { Database } from "bun:sqlite";
import type { LoadedAgents } from "../agents/index.ts";
import type { StudyTask } from "../rules/study.ts";
import { ignoreErrors } from "../storage/files.ts";
import { createHistoryConnection, type HistoryConnection } from "./connection.ts";
import { explainError, explainOldSqlite, isDamaged, readSqliteVersion } from "./database.ts";
import type { FromHistory, HistoryCall, ToHistory } from "./messages.ts";
import { runCall, type StatsCache } from "./queries/index.ts";
import { nameWaitingRows } from "./waiting-rows.ts";
import { createHistoryWriter, type HistoryWriter } from "./writer.ts";

export interface EngineOptions {
  readonly loadAgents: () => Promise<LoadedAgents>;
  readonly post: (message: FromHistory) => void;
  readonly now?: () => number;
  /** For tests. */
  readonly retryMs?: number;
  /** For tests. */
  readonly sqliteVersion?: () => string;
}

export interface Engine {
  /** Handles messages in order; most queries overtake the rest. */
  handle(message: ToHistory): void;
  /** Gives back memory that is not needed while nothing happens. */
  shrink(): void;
}

const defaultRetryMs = 5_000;
const firstQueryMs = 2_000;

export function createEngine({
  loadAgents,
  post,
  now = Date.now,
  retryMs = defaultRetryMs,
  sqliteVersion = readSqliteVersion,
}: EngineOptions): Engine {
  let history: { readonly connection: HistoryConnection; readonly writer: HistoryWriter } | null = null;
  const statsCache: StatsCache = new Map();
  let queue: Promise<void> = Promise.resolve();
  const isOpened = Promise.withResolvers<void>();
  /** The first queries wait until the history is complete, but not for a rebuild. */
  const isReady = Promise.withResolvers<void>();
  let hasWaited = false;

  const report = (text: string) => post({ kind: "report", text });

  async function open(message: Extract<ToHistory, { kind: "open" }>): Promise<void> {
    const { path, defaultProvider, journal, retention } = message;
    const tooOld = explainOldSqlite(sqliteVersion());
    if (tooOld !== null) {
      isOpened.resolve();
      isReady.resolve();
      post({ kind: "unavailable", text: tooOld });
      return;
    }
    const agents = await loadAgents();
    const onReplaced = () => post({ kind: "replaced" });
    const recorderOptions = { agents, defaultProvider, onError: report };
    const connection = createHistoryConnection(path, recorderOptions, now, onReplaced);
    const writer = createHistoryWriter({
      connection,
      waitingRows: nameWaitingRows(path),
      journal,
      retention,
      post,
      now,
      report,
      enqueue,
      onReady: isReady.resolve,
      onPastChanged: () => statsCache.clear(),
      retryMs,
    });
    history = { connection, writer };
    isOpened.resolve();
    post({ kind: "behind" });
  }

  async function answer(id: number, call: HistoryCall): Promise<void> {
    if (!hasWaited) await waitUntilReady();
    try {
      if (!history) throw new Error("the history is not set up");
      const { db } = history.connection.ensureOpen();
      const value =
        call.name === "studyAsks" ? await study(db, call.task) : runCall(db, call, now(), statsCache);
      post({ kind: "result", id, value });
    } catch (error) {
      post({ kind: "failed", id, reason: `The history ${explainError(error)}.` });
      if (isDamaged(error)) history?.writer.onFailure(error);
    }
  }

  /** Loaded when it is first needed. The agents read what was asked from their own payloads. */
  async function study(db: Database, task: StudyTask): Promise<unknown> {
    const [{ readPastAsks }, { studyAsks }, agents] = await Promise.all([
      import("./queries/past-asks.ts"),
      import("../rules/study.ts"),
      loadAgents(),
    ]);
    const dangers = [...agents.values()].flatMap((agent) => agent.dangers ?? []);
    return studyAsks(readPastAsks(db, agents), task, dangers, now());
  }

  /** After all that was sent before. Another machine takes the answer for all there is, and does not ask again. */
  async function answerInFull(id: number, call: HistoryCall): Promise<void> {
    await isOpened.promise;
    await isReady.promise;
    enqueue(async () => {
      if (history?.writer.recordedTo() === undefined)
        post({ kind: "failed", id, reason: "The history is not complete." });
      else await answer(id, call);
    });
  }

  async function waitUntilReady(): Promise<void> {
    await isOpened.promise;
    const timer = setTimeout(isReady.resolve, firstQueryMs);
    await isReady.promise;
    clearTimeout(timer);
    hasWaited = true;
  }

  async function handleInOrder(message: ToHistory): Promise<void> {
    switch (message.kind) {
      case "open":
        return open(message);
      case "state":
        return history?.writer.catchUp(message.upTo, message.open, message.past);
      case "write":
        return post({
          kind: "written",
          isRecorded: (await history?.writer.write(message.upTo, message.rows, message.past)) ?? false,
          upTo: history?.writer.recordedTo(),
        });
      case "retention":
        return history?.writer.setRetention(message.retention);
      case "close":
        isOpened.resolve();
        isReady.resolve();
        history?.writer.stop();
        history?.connection.close();
        post({ kind: "closed" });
    }
  }

  function enqueue(work: () => Promise<void>): void {
    queue = queue.then(work);
  }

  return {
    handle(message) {
      if (message.kind !== "query") enqueue(() => handleInOrder(message));
      else if (message.call.name === "findPast") void answerInFull(message.id, message.call);
      else void answer(message.id, message.call);
    },
    shrink() {
      statsCache.clear();
      const current = history?.connection.current();
      current?.recorder.shrink();
      ignoreErrors(() => current?.db.run("PRAGMA shrink_memory"));
    },
  };
}
