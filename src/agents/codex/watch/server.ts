/**
 * Follows Codex's shared server. Every client gets the status of all threads; only a subscriber gets their requests, and a
 * subscribed thread is never unloaded. So beckon subscribes to a thread only while it waits for the user.
 */

import { existsSync } from "node:fs";
import { version } from "../../../../package.json";
import { readErrorMessage } from "../../../core/error-message.ts";
import { forgetOldest } from "../../../core/forget-oldest.ts";
import { asList, asRecord, type JsonRecord, readString, readText } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Moment, Place } from "../../../core/session/event.ts";
import type { Ask, Session } from "../../../core/session/session.ts";
import { hashJson } from "../../../core/text/json-text.ts";
import { errorCode } from "../../../storage/files.ts";
import type { WatchContext } from "../../agent.ts";
import { toOneLine } from "../../one-line.ts";
import { toMoment } from "../../watch/index.ts";
import { codexAnswering, listChangedFiles } from "../answering.ts";
import {
  approvalMethods,
  createStatusChange,
  listFileChangeItems,
  readFileChangeItem,
  readFileChanges,
  readServerRequest,
  readStatus,
  readThreads,
  type ServerRequest,
  type ServerThread,
  type ThreadStatus,
  withLastTurn,
} from "../server.ts";
import { socketPath } from "../setup/folder.ts";
import type { ServerConnection } from "./connection.ts";
import type { EmitCodexChange, RolloutWatcher } from "./rollouts.ts";
import type { FoundTerminal } from "./terminals.ts";

export interface ThreadWatcherOptions
  extends Pick<
    WatchContext,
    "env" | "clock" | "findSession" | "mask" | "onError" | "addPendingRequest" | "exec" | "listWindows"
  > {
  readonly emit: EmitCodexChange;
  readonly rollouts: RolloutWatcher;
}

export interface ThreadWatcher {
  /** Connects if a server is there. Called every second. */
  check(sessions: readonly Session[]): void;
  /** Whether the server runs the session. */
  runs(sessionId: string): boolean;
  /** Looks for the session's terminal. Resolves with why it is not known; null if it is, or the server does not run it. */
  locate(sessionId: string): Promise<string | null>;
  stop(): void;
}

interface OpenRequest {
  readonly threadId: string;
  readonly sessionId: string;
  /** The id of the event that asked. */
  readonly asked: string;
  readonly release: () => void;
}

const maxThreads = 100;
const maxContents = 500;
const maxItems = 50;
/** After the server resolved a request, a hook or its status closes the ask. Without trusted hooks this does. */
const closeAfterMs = 300;
/** How often a server that refused is tried again. */
const retryMs = 1_000;

export function watchServer(options: ThreadWatcherOptions): ThreadWatcher {
  const { clock, findSession, emit, mask, rollouts } = options;
  const path = socketPath(options.env);
  const threads = new Map<string, ServerThread>();
  const subscribed = new Set<string>();
  const requests = new Map<number | string, OpenRequest>();
  /** The event that asked → a hash of what it asked for. */
  const contents = new Map<string, string>();
  /** Of each thread that waits: item → the server's changes of files. null if it was asked for them, and has not sent them. */
  const items = new Map<string, Map<string, unknown>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let connection: ServerConnection | null = null;
  let isConnecting = false;
  let isStopped = false;
  let triedMs = Number.NEGATIVE_INFINITY;
  /** The last problem in the log. */
  let reported: string | null = null;
  /** Messages are handled one after another: some need a question back to the server first. */
  let queue: Promise<unknown> = Promise.resolve();

  async function connect(sessions: readonly Session[]): Promise<void> {
    isConnecting = true;
    triedMs = performance.now();
    try {
      // Loaded only where a server is: users of other agents do not pay for it.
      const { connectServer } = await import("./connection.ts");
      const opened = await connectServer(path, {
        onMessage: (message) => enqueue(() => receive(message)),
        onClosed: onLost,
      });
      if (isStopped) return opened.close();
      connection = opened;
      const clientInfo = { name: "beckon", title: "beckon", version };
      await opened.call("initialize", { clientInfo, capabilities: { experimentalApi: true } });
      opened.notify("initialized");
      await enqueue(() => readLoaded(sessions));
    } catch (error) {
      report(error);
      connection?.close();
      connection = null;
      forgetStatus(sessions, error);
    } finally {
      isConnecting = false;
    }
  }

  function enqueue(work: () => unknown): Promise<unknown> {
    queue = queue.then(work).catch(report);
    return queue;
  }

  /** Another version of Codex can refuse a call. Once in the log is enough: it would be refused at every message. */
  function report(error: unknown): void {
    // The end of the connection ends every open call.
    if (connection === null || isStopped) return;
    const problem = readErrorMessage(error);
    if (problem !== reported) options.onError(`Codex's server: ${problem}`);
    reported = problem;
  }

  /** What the server does now: for sessions that started before beckon, or while it was not connected. */
  async function readLoaded(sessions: readonly Session[]): Promise<void> {
    const loaded = asRecord(await connection?.call("thread/loaded/list", {})).data;
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
  }

  async function readThreadList(): Promise<void> {
    const listed = readThreads(await connection?.call("thread/list", { limit: maxThreads }));
    for (const thread of listed) threads.set(thread.id, thread);
  }

  async function receive(message: JsonRecord): Promise<void> {
    const params = asRecord(message.params);
    const threadId = readText(params.threadId, limits.maxIdLength);
    switch (message.method) {
      case "thread/status/changed": {
        const status = readStatus(params.status);
        if (threadId === null || status === null) return;
        // The threads that write titles are not in the list.
        if (!threads.has(threadId)) await readThreadList();
        const thread = threads.get(threadId);
        if (!thread) return;
        const now = clock();
        const emittedAt = typeof message.emittedAtMs === "number" ? message.emittedAtMs : null;
        const current = { ...thread, status };
        threads.set(threadId, current);
        applyStatus(current, toMoment(now, emittedAt));
        // The name is made up during the first turn.
        if (status === "idle" && thread.name === null) await readTitle(threadId);
        return;
      }
      case "thread/closed":
        if (threadId !== null) onClosed(threadId);
        return;
      case "serverRequest/resolved":
        return onResolved(params.requestId);
      case "item/started": {
        const item = readFileChangeItem(params.item);
        if (threadId !== null && item !== null) rememberChanges(threadId, item.id, item.changes);
        return;
      }
      default: {
        const request = readServerRequest(message);
        if (request) await onRequest(request);
      }
    }
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
      const change = createStatusChange(findShownStatus(thread), title);
      const attended = thread.isExec ? false : null;
      emit({ sessionId, cwd, transcriptPath, attended, name: "thread/status/changed" }, when, change);
      void (thread.name === null ? locate(sessionId) : updatePlace(sessionId));
    }
    if (status === "permission" || status === "question") subscribe(id);
    else unsubscribe(id);
  }

  async function locate(sessionId: string): Promise<string | null> {
    // The name is made up after the first turn has begun, and the user can change it: nothing reports either.
    await readThreadList().catch(() => {});
    return updatePlace(sessionId);
  }

  /** Looks for the terminal by the name that is known. Resolves with why it was not found; null if it was. */
  async function updatePlace(sessionId: string): Promise<string | null> {
    const thread = threads.get(sessionId);
    if (!thread || !isLoaded(thread)) return null;
    const { findTerminal, listTitles } = await import("./terminals.ts");
    const titles = listTitles(thread);
    const isUnique = [...threads.values()].every(
      (other) =>
        other === thread || !isLoaded(other) || !listTitles(other).some((title) => titles.includes(title)),
    );
    const terminal: FoundTerminal = isUnique
      ? await findTerminal(thread, options)
      : { kind: "none", why: "another session has the same title" };
    const session = findSession(sessionId);
    if (!session || isStopped) return null;
    const place = terminal.kind === "found" ? terminal.place : null;
    if (!isSamePlace(session.place, place)) emit({ sessionId }, clock(), { kind: "located", place });
    if (terminal.kind === "found") return null;
    // The user may paste the command into a shell.
    const hint = /^\w[\w-]*$/.test(sessionId) ? ` Open it: codex resume ${sessionId}` : "";
    return `Codex's shared server runs it, and ${terminal.why}.${hint}`;
  }

  /** What the terminal shows: a reviewer model's decision shows no dialog, and a proposed plan shows one after the turn. */
  function findShownStatus({ sessionId, status }: ServerThread): Exclude<ThreadStatus, "closed"> {
    const session = findSession(sessionId);
    if (session) rollouts.read(session);
    const rollout = rollouts.find(sessionId);
    if (status === "permission" && rollout?.approvals === "model") return "busy";
    if (status === "idle" && rollouts.hasOpenPlan(sessionId)) return "permission";
    return status === "closed" ? "idle" : status;
  }

  function onClosed(threadId: string): void {
    const thread = threads.get(threadId);
    threads.delete(threadId);
    subscribed.delete(threadId);
    items.delete(threadId);
    if (!thread || thread.id !== thread.sessionId) return;
    if (findSession(thread.sessionId)?.ended === null)
      emit({ sessionId: thread.sessionId }, clock(), { kind: "gone", why: "file" });
  }

  function subscribe(threadId: string): void {
    if (subscribed.has(threadId) || !connection) return;
    subscribed.add(threadId);
    connection.call("thread/resume", { threadId, excludeTurns: true }).catch(() => {
      subscribed.delete(threadId);
    });
  }

  function unsubscribe(threadId: string): void {
    items.delete(threadId);
    if (!subscribed.delete(threadId)) return;
    connection?.call("thread/unsubscribe", { threadId }).catch(() => {});
    for (const [id, request] of requests) if (request.threadId === threadId) endRequest(id);
  }

  async function onRequest(request: ServerRequest): Promise<void> {
    const thread = threads.get(request.threadId);
    if (!thread || !findSession(thread.sessionId) || requests.has(request.id)) return;
    const server = connection;
    const payload = await addChanges(request, thread);
    const session = findSession(thread.sessionId);
    // Another server can use the same id for another request.
    if (!session || isStopped || connection !== server) return;
    const { sessionId } = session;
    const content = hashJson({ details: codexAnswering.describe(payload, { cwd: thread.cwd }) });
    const asked = findAsk(session, request, content) ?? openAsk(thread, request, payload);
    if (asked === null) return;
    contents.set(asked, content);
    forgetOldest(contents, maxContents);
    const send = (decision: object): boolean => server?.respond(request.id, decision) === true;
    const release = options.addPendingRequest({ request: asked, sessionId, payload, send });
    requests.set(request.id, { threadId: thread.id, sessionId, asked, release });
  }

  /** The request's payload. For a change of files with what the server and the rollout file say about it. */
  async function addChanges(request: ServerRequest, thread: ServerThread): Promise<JsonRecord> {
    const { payload, itemId } = request;
    if (payload.method !== approvalMethods.patch || itemId === null) return payload;
    const changes = await findChanges(thread.id, itemId);
    const session = findSession(thread.sessionId);
    if (session) rollouts.read(session);
    const call = rollouts.find(thread.sessionId)?.calls.get(itemId);
    // The paths of a patch in another folder would be read as those of the session's.
    const isHere = call !== undefined && (call.folder === null || call.folder === thread.cwd);
    const patch = isHere ? call.patch : null;
    return { ...payload, changes, folder: thread.cwd, ...(patch === null ? {} : { patch }) };
  }

  /** The server's changes for an item. null if it does not send them. */
  async function findChanges(threadId: string, itemId: string): Promise<unknown> {
    if (items.get(threadId)?.has(itemId)) return items.get(threadId)?.get(itemId);
    // Asked once: an answer that is too long ends the connection.
    rememberChanges(threadId, itemId, null);
    try {
      const resumed = await connection?.call("thread/resume", { threadId, ...withLastTurn });
      for (const { id, changes } of listFileChangeItems(resumed)) rememberChanges(threadId, id, changes);
    } catch (error) {
      report(error);
    }
    return items.get(threadId)?.get(itemId) ?? null;
  }

  function rememberChanges(threadId: string, itemId: string, changes: unknown): void {
    const known = items.get(threadId) ?? new Map<string, unknown>();
    items.set(threadId, known);
    known.delete(itemId);
    known.set(itemId, changes);
    forgetOldest(known, maxItems);
  }

  /**
   * The ask that a hook has opened for the same call, or that was for the same request on an earlier connection. null if there is
   * none. One call can ask several times for different commands.
   */
  function findAsk({ asks }: Session, { itemId, turnId }: ServerRequest, content: string): string | null {
    const pendingIds = new Set([...requests.values()].map(({ asked }) => asked));
    const isFree = ({ request }: Ask) =>
      request !== null && !pendingIds.has(request) && (contents.get(request) ?? content) === content;
    const byCall = asks.find((ask) => itemId !== null && ask.toolUseId === itemId && isFree(ask));
    const byTurn = asks.find((ask) => ask.toolUseId === null && ask.promptId === turnId && isFree(ask));
    return (byCall ?? byTurn)?.request ?? null;
  }

  function openAsk(thread: ServerThread, request: ServerRequest, payload: JsonRecord): string | null {
    const details = codexAnswering.describe(payload, { cwd: thread.cwd });
    if (!details || (details.kind !== "permission" && details.kind !== "question")) return null;
    const { sessionId } = thread;
    const files = listChangedFiles(readFileChanges(payload.changes), readString(payload.patch));
    const [first = ""] = files.length > 0 ? [files.join(", ")] : details.lines;
    const subject = {
      sessionId,
      agentId: thread.id === sessionId ? null : thread.id,
      promptId: request.turnId,
      name: String(payload.method),
    };
    return emit(subject, clock(), {
      kind: "ask",
      ask: details.kind,
      tool: details.tool,
      inputKey: hashJson({ itemId: request.itemId }),
      ...(request.itemId === null ? {} : { toolUseId: request.itemId }),
      summary: mask(toOneLine(details.questions[0]?.question ?? first)),
      options: (details.questions[0]?.options ?? []).map(({ label }) => mask(label)),
      ...(details.questions.length > 1 ? { questions: details.questions.length } : {}),
    });
  }

  function onResolved(id: unknown): void {
    if (typeof id !== "number" && typeof id !== "string") return;
    const request = endRequest(id);
    if (!request) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const ask = findSession(request.sessionId)?.asks.find((open) => open.request === request.asked);
      if (!ask) return;
      const subject = { sessionId: request.sessionId, agentId: ask.agentId };
      emit(subject, clock(), { kind: "ask-ended", inputKey: ask.inputKey, outcome: null });
    }, closeAfterMs);
    timers.add(timer);
  }

  function endRequest(id: number | string): OpenRequest | null {
    const request = requests.get(id);
    if (!request) return null;
    requests.delete(id);
    request.release();
    return request;
  }

  function onLost(): void {
    connection = null;
    subscribed.clear();
    threads.clear();
    for (const id of [...requests.keys()]) endRequest(id);
    triedMs = performance.now();
  }

  /** Nothing answers: a status that was read before is not true any more. */
  function forgetStatus(sessions: readonly Session[], error: unknown): void {
    const isServerGone = ["ENOENT", "ECONNREFUSED"].includes(errorCode(error));
    for (const { sessionId, file, ended } of sessions) {
      if (file === null || ended) continue;
      emit({ sessionId }, clock(), isServerGone ? { kind: "gone", why: "process" } : { kind: "status-lost" });
    }
  }

  return {
    check(sessions) {
      if (connection || isConnecting || isStopped || performance.now() - triedMs < retryMs) return;
      const hasStatus = sessions.some(({ file, ended }) => file !== null && !ended);
      if (hasStatus || existsSync(path)) void connect(sessions);
    },
    runs(sessionId) {
      const thread = threads.get(sessionId);
      return thread !== undefined && isLoaded(thread);
    },
    locate,
    stop() {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      connection?.close();
    },
  };
}

/** The server lists all sessions of the user, also those that ended long ago or that another process runs. */
const isLoaded = ({ status }: ServerThread): boolean => status !== "closed";

const isSamePlace = (known: Place | null, place: Place | null): boolean =>
  known?.pid === place?.pid && known?.tty === place?.tty && known?.env.WINDOWID === place?.env.WINDOWID;
