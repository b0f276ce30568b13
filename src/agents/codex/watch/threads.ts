/**
 * The threads of Codex's shared server, while it is connected. Every client gets the status of all threads; only a subscriber
 * gets their requests, and a subscribed thread is never unloaded. So beckon subscribes to a thread only while it waits for the
 * user.
 */
import { asList, asRecord, type JsonRecord, readText } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Moment } from "../../../core/session/event.ts";
import type { Session } from "../../../core/session/session.ts";
import type { WatchContext } from "../../agent.ts";
import { toMoment } from "../../watch/index.ts";
import {
  createStatusChange,
  type LoadedStatus,
  readFileChangeItem,
  readServerRequest,
  readStatus,
  readThreads,
  type ServerThread,
  type ThreadStatus,
} from "../server.ts";
import type { ServerConnection } from "./connection.ts";
import type { FileChanges } from "./file-changes.ts";
import { type ThreadPlaceOptions, updatePlace } from "./place.ts";
import type { ServerRequests } from "./requests.ts";
import type { RolloutWatcher } from "./rollouts.ts";

export interface ServerThreadsOptions extends ThreadPlaceOptions, Pick<WatchContext, "mask"> {
  readonly connection: ServerConnection;
  readonly rollouts: RolloutWatcher;
  readonly requests: ServerRequests;
  readonly changes: FileChanges;
}

export interface ServerThreads {
  /** What the server does now: for sessions that started before beckon, or while it was not connected. */
  readLoaded(sessions: readonly Session[]): Promise<void>;
  receive(message: JsonRecord): Promise<void>;
  /** Whether the server runs the session. */
  runs(sessionId: string): boolean;
  /** Looks for the session's terminal. Resolves with why it is not known; null if it is, or the server does not run it. */
  locate(sessionId: string): Promise<string | null>;
}

const maxThreads = 100;

export function createServerThreads(options: ServerThreadsOptions): ServerThreads {
  const { connection, clock, findSession, emit, mask, rollouts, requests, changes } = options;
  const threads = new Map<string, ServerThread>();
  const subscribed = new Set<string>();

  async function readThreadList(): Promise<void> {
    const listed = readThreads(await connection.call("thread/list", { limit: maxThreads }));
    for (const thread of listed) threads.set(thread.id, thread);
  }

  async function changeStatus(threadId: string, status: ThreadStatus, sentAt: number | null): Promise<void> {
    // The threads that write titles are not in the list.
    if (!threads.has(threadId)) await readThreadList();
    const thread = threads.get(threadId);
    if (!thread) return;
    const current = { ...thread, status };
    threads.set(threadId, current);
    applyStatus(current, toMoment(clock(), sentAt));
    // The name is made up during the first turn.
    if (status === "idle" && thread.name === null) await readTitle(threadId);
  }

  async function readTitle(threadId: string): Promise<void> {
    await readThreadList();
    const thread = threads.get(threadId);
    if (thread?.name == null || thread.id !== thread.sessionId) return;
    emit({ sessionId: thread.sessionId }, clock(), { kind: "enriched", with: { title: mask(thread.name) } });
  }

  function applyStatus(thread: ServerThread, when: Moment): void {
    const { id, sessionId, cwd, path: transcriptPath, status } = thread;
    if (status === "closed") {
      onClosed(id);
      return;
    }
    // A subagent's thread changes nothing but its own requests.
    if (id === sessionId) {
      const title = thread.name === null ? null : mask(thread.name);
      const change = createStatusChange(findShownStatus(sessionId, status), title);
      const attended = thread.isExec ? false : null;
      emit({ sessionId, cwd, transcriptPath, attended, name: "thread/status/changed" }, when, change);
      void (thread.name === null ? locate(sessionId) : locateByName(sessionId));
    }
    if (status === "permission" || status === "question") subscribe(id);
    else unsubscribe(id);
  }

  /** What the terminal shows: a reviewer model's decision shows no dialog, and a proposed plan shows one after the turn. */
  function findShownStatus(sessionId: string, status: LoadedStatus): LoadedStatus {
    const session = findSession(sessionId);
    if (session) rollouts.read(session);
    if (status === "permission" && rollouts.find(sessionId)?.approvals === "model") return "busy";
    return status === "idle" && rollouts.hasOpenPlan(sessionId) ? "permission" : status;
  }

  async function locate(sessionId: string): Promise<string | null> {
    // The name is made up after the first turn has begun, and the user can change it: nothing reports either.
    await readThreadList().catch(() => {});
    return locateByName(sessionId);
  }

  async function locateByName(sessionId: string): Promise<string | null> {
    const thread = threads.get(sessionId);
    if (!thread || !isLoaded(thread) || !connection.isOpen()) return null;
    const others = [...threads.values()].filter((other) => other !== thread && isLoaded(other));
    return updatePlace(thread, others, options);
  }

  function onClosed(threadId: string): void {
    const thread = threads.get(threadId);
    threads.delete(threadId);
    subscribed.delete(threadId);
    changes.forget(threadId);
    if (!thread || thread.id !== thread.sessionId) return;
    if (findSession(thread.sessionId)?.ended === null)
      emit({ sessionId: thread.sessionId }, clock(), { kind: "gone", why: "file" });
  }

  function subscribe(threadId: string): void {
    if (subscribed.has(threadId)) return;
    subscribed.add(threadId);
    connection.call("thread/resume", { threadId, excludeTurns: true }).catch(() => {
      subscribed.delete(threadId);
    });
  }

  function unsubscribe(threadId: string): void {
    changes.forget(threadId);
    if (!subscribed.delete(threadId)) return;
    connection.call("thread/unsubscribe", { threadId }).catch(() => {});
    requests.endOfThread(threadId);
  }

  return {
    async readLoaded(sessions) {
      const loaded = asRecord(await connection.call("thread/loaded/list", {})).data;
      const ids: ReadonlySet<unknown> = new Set(asList(loaded));
      await readThreadList();
      for (const thread of threads.values()) {
        if (!ids.has(thread.id)) threads.delete(thread.id);
        else if (thread.status !== "idle" || findSession(thread.sessionId)) applyStatus(thread, clock());
      }
      for (const { sessionId, file, ended } of sessions) {
        if (file !== null && !ended && !threads.has(sessionId))
          emit({ sessionId }, clock(), { kind: "status-lost" });
      }
    },
    async receive(message) {
      const params = asRecord(message.params);
      const threadId = readText(params.threadId, limits.maxIdLength);
      switch (message.method) {
        case "thread/status/changed": {
          const status = readStatus(params.status);
          const sentAt = typeof message.emittedAtMs === "number" ? message.emittedAtMs : null;
          if (threadId !== null && status !== null) await changeStatus(threadId, status, sentAt);
          return;
        }
        case "thread/closed":
          if (threadId !== null) onClosed(threadId);
          return;
        case "serverRequest/resolved":
          return requests.onResolved(params.requestId);
        case "item/started": {
          const item = readFileChangeItem(params.item);
          if (threadId !== null && item !== null) changes.remember(threadId, item);
          return;
        }
        default: {
          const request = readServerRequest(message);
          const thread = request && threads.get(request.threadId);
          if (request && thread) await requests.add(request, thread, connection);
        }
      }
    },
    runs(sessionId) {
      const thread = threads.get(sessionId);
      return thread !== undefined && isLoaded(thread);
    },
    locate,
  };
}

/** The server lists all sessions of the user, also those that ended long ago or that another process runs. */
const isLoaded = ({ status }: ServerThread): boolean => status !== "closed";
