/** Keeps the connection to Codex's shared server, while there is one. */

import { existsSync } from "node:fs";
import { version } from "../../../../package.json";
import { readErrorMessage } from "../../../core/error-message.ts";
import type { Session } from "../../../core/session/session.ts";
import { errorCode } from "../../../storage/files.ts";
import type { WatchContext } from "../../agent.ts";
import { socketPath } from "../setup/folder.ts";
import type { ServerConnection } from "./connection.ts";
import { createFileChanges } from "./file-changes.ts";
import { createServerRequests } from "./requests.ts";
import type { EmitCodexChange, RolloutWatcher } from "./rollouts.ts";
import { createServerThreads, type ServerThreads } from "./threads.ts";

export interface CodexServerOptions
  extends Pick<
    WatchContext,
    "env" | "clock" | "findSession" | "mask" | "onError" | "addPendingRequest" | "exec" | "listWindows"
  > {
  readonly emit: EmitCodexChange;
  readonly rollouts: RolloutWatcher;
}

export interface CodexServerWatcher extends Pick<ServerThreads, "runs" | "locate"> {
  /** Connects if a server is there. Called every second. */
  check(sessions: readonly Session[]): void;
  /** Starts a turn with this prompt. Rejects if the server does not run the session. */
  startTurn(sessionId: string, text: string): Promise<void>;
  stop(): void;
}

/** How often a server that refused is tried again. */
const retryMs = 1_000;

export function watchServer(options: CodexServerOptions): CodexServerWatcher {
  const { clock, emit } = options;
  const path = socketPath(options.env);
  const changes = createFileChanges({ ...options, report });
  const requests = createServerRequests({ ...options, changes });
  let connection: ServerConnection | null = null;
  /** Of this connection: another server has others. */
  let threads: ServerThreads | null = null;
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
        onMessage: (message) => enqueue(() => threads?.receive(message)),
        onClosed: onLost,
      });
      if (isStopped) return opened.close();
      connection = opened;
      threads = createServerThreads({ ...options, connection: opened, requests, changes });
      const clientInfo = { name: "beckon", title: "beckon", version };
      await opened.call("initialize", { clientInfo, capabilities: { experimentalApi: true } });
      opened.notify("initialized");
      await enqueue(() => threads?.readLoaded(sessions));
    } catch (error) {
      report(error);
      connection?.close();
      connection = null;
      threads = null;
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

  function onLost(): void {
    connection = null;
    threads = null;
    requests.endAll();
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
    async startTurn(threadId, text) {
      if (!connection || !threads?.runs(threadId)) throw new Error("Codex's server does not run it any more");
      await connection.call("turn/start", { threadId, input: [{ type: "text", text }] });
    },
    runs: (sessionId) => threads?.runs(sessionId) ?? false,
    locate: async (sessionId) => threads?.locate(sessionId) ?? null,
    stop() {
      isStopped = true;
      requests.stop();
      connection?.close();
    },
  };
}
