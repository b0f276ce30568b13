/** What the server's threads want to change in files. A request names only its item; the changes come before it, or are asked for. */
import { forgetOldest } from "../../../core/forget-oldest.ts";
import type { WatchContext } from "../../agent.ts";
import {
  approvalMethods,
  type FileChangeItem,
  listFileChangeItems,
  type ServerRequest,
  type ServerThread,
  withLastTurn,
} from "../server.ts";
import type { ServerConnection } from "./connection.ts";
import type { RolloutWatcher } from "./rollouts.ts";

export interface FileChangesOptions extends Pick<WatchContext, "findSession"> {
  readonly rollouts: RolloutWatcher;
  /** Called if the server refuses to send them. */
  readonly report: (error: unknown) => void;
}

export interface FileChanges {
  remember(threadId: string, item: FileChangeItem): void;
  /** Adds to a request for a change of files what the server and the rollout file say about it. Others stay as they are. */
  addTo(request: ServerRequest, thread: ServerThread, connection: ServerConnection): Promise<ServerRequest>;
  forget(threadId: string): void;
}

const maxItems = 50;

export function createFileChanges({ findSession, rollouts, report }: FileChangesOptions): FileChanges {
  /** Of each thread that waits: item → the server's changes of files. null if it was asked for them, and has not sent them. */
  const items = new Map<string, Map<string, unknown>>();

  function remember(threadId: string, { id, changes }: FileChangeItem): void {
    const known = items.get(threadId) ?? new Map<string, unknown>();
    items.set(threadId, known);
    known.delete(id);
    known.set(id, changes);
    forgetOldest(known, maxItems);
  }

  /** The server's changes for an item. null if it does not send them. */
  async function find(threadId: string, itemId: string, connection: ServerConnection): Promise<unknown> {
    if (items.get(threadId)?.has(itemId)) return items.get(threadId)?.get(itemId);
    // Asked once, also after it has connected again: an answer that is too long ends the connection.
    remember(threadId, { id: itemId, changes: null });
    try {
      const resumed = await connection.call("thread/resume", { threadId, ...withLastTurn });
      for (const item of listFileChangeItems(resumed)) remember(threadId, item);
    } catch (error) {
      report(error);
    }
    return items.get(threadId)?.get(itemId) ?? null;
  }

  return {
    remember,
    async addTo(request, thread, connection) {
      const { payload, itemId } = request;
      if (payload.method !== approvalMethods.patch || itemId === null) return request;
      const changes = await find(thread.id, itemId, connection);
      const session = findSession(thread.sessionId);
      if (session) rollouts.read(session);
      const call = rollouts.find(thread.sessionId)?.calls.get(itemId);
      // The paths of a patch in another folder would be read as those of the session's.
      const isHere = call !== undefined && (call.folder === null || call.folder === thread.cwd);
      const patch = isHere && call.patch !== null ? { patch: call.patch } : {};
      return { ...request, payload: { ...payload, changes, folder: thread.cwd, ...patch } };
    },
    forget: (threadId) => void items.delete(threadId),
  };
}
