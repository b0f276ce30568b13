/**
 * The messages of Codex's shared server (`codex app-server`), which runs the sessions of all terminals: JSON-RPC over a
 * WebSocket on a Unix socket. The protocol is marked as experimental, so everything that cannot be read is ignored.
 */
import { asList, asRecord, type JsonRecord, listRecords, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Change } from "../../core/session/event.ts";
import { isAbsolute } from "../../core/text/paths.ts";
import { toOneLine } from "../one-line.ts";

/** A thread of the server. */
export interface ServerThread {
  readonly id: string;
  /** The session that a subagent's thread belongs to; its own id otherwise. */
  readonly sessionId: string;
  readonly cwd: string | null;
  readonly path: string | null;
  readonly name: string | null;
  readonly status: ThreadStatus;
  readonly isExec: boolean;
}

export type ThreadStatus = "idle" | "busy" | "permission" | "question" | "error" | "closed";
export type LoadedStatus = Exclude<ThreadStatus, "closed">;

/** null if the status is of an unknown kind. */
export function readStatus(value: unknown): ThreadStatus | null {
  const { type, activeFlags } = asRecord(value);
  const flags = asList(activeFlags);
  switch (type) {
    case "active":
      if (flags.includes("waitingOnApproval")) return "permission";
      return flags.includes("waitingOnUserInput") ? "question" : "busy";
    case "idle":
      return "idle";
    case "systemError":
      return "error";
    case "notLoaded":
      return "closed";
    default:
      return null;
  }
}

export function createStatusChange(status: LoadedStatus, title: string | null): Change & { kind: "status" } {
  switch (status) {
    case "permission":
    case "question":
      return { kind: "status", status: "waiting", waitingFor: status, title };
    default:
      return { kind: "status", status: status === "busy" ? "busy" : "idle", waitingFor: null, title };
  }
}

/** The threads in the result of `thread/list`. */
export function readThreads(result: unknown): readonly ServerThread[] {
  return listRecords(asRecord(result).data).flatMap((row) => {
    const id = readText(row.id, limits.maxIdLength);
    if (id === null) return [];
    const name = readText(row.name, limits.maxTextLength);
    return [
      {
        id,
        sessionId: readText(row.sessionId, limits.maxIdLength) ?? id,
        cwd: readText(row.cwd, limits.maxPathLength),
        path: readText(row.path, limits.maxPathLength),
        name: name === null ? null : toOneLine(name),
        status: readStatus(row.status) ?? "closed",
        isExec: row.source === "exec",
      },
    ];
  });
}

/** A question of the server to its clients: an approval, or a question of the model's. */
export interface ServerRequest {
  /** Of the JSON-RPC message: the answer has the same. */
  readonly id: number | string;
  readonly threadId: string;
  readonly turnId: string | null;
  /** The tool call. */
  readonly itemId: string | null;
  /** The message's parameters with its `method`: what `answering` describes and decides. */
  readonly payload: JsonRecord;
}

export const approvalMethods = {
  command: "item/commandExecution/requestApproval",
  patch: "item/fileChange/requestApproval",
  question: "item/tool/requestUserInput",
} as const;

const knownMethods: ReadonlySet<unknown> = new Set(Object.values(approvalMethods));

/** null if the message is something else, or a request that beckon cannot answer. */
export function readServerRequest(message: JsonRecord): ServerRequest | null {
  const { id, method } = message;
  const params = asRecord(message.params);
  const threadId = readText(params.threadId, limits.maxIdLength);
  if (!knownMethods.has(method) || threadId === null) return null;
  if (typeof id !== "number" && typeof id !== "string") return null;
  return {
    id,
    threadId,
    turnId: readText(params.turnId, limits.maxIdLength),
    itemId: readText(params.itemId, limits.maxIdLength),
    payload: { ...params, method },
  };
}

/** A change of one file as the server has read it from the patch: what it does if it is allowed. */
export interface FileChange {
  readonly kind: "add" | "delete" | "update";
  readonly path: string;
  /** The new path of a file that is moved. */
  readonly moveTo: string | null;
  /** The content of a file that is added or deleted, the unified diff of one that is updated. */
  readonly diff: string;
}

/** Reads the `changes` of an item. null if one of them cannot be read, or there is none. */
export function readFileChanges(changes: unknown): readonly FileChange[] | null {
  if (!Array.isArray(changes) || changes.length === 0) return null;
  const read = changes.map(readFileChange).filter((change) => change !== null);
  return read.length === changes.length ? read : null;
}

function readFileChange(value: unknown): FileChange | null {
  const { path, kind: kindFields, diff } = asRecord(value);
  const { type: kind, move_path: moveTo = null } = asRecord(kindFields);
  if (!isFullPath(path) || typeof diff !== "string") return null;
  if (kind !== "add" && kind !== "delete" && kind !== "update") return null;
  if (moveTo !== null && (kind !== "update" || !isFullPath(moveTo))) return null;
  return { kind, path, moveTo, diff };
}

const isFullPath = (path: unknown): path is string => typeof path === "string" && isAbsolute(path);

/** An item of a turn that changes files. */
export interface FileChangeItem {
  readonly id: string;
  /** As the server sent them: `readFileChanges` reads them. */
  readonly changes: unknown;
}

/** null if the item is something else. */
export function readFileChangeItem(item: unknown): FileChangeItem | null {
  const { type, id, changes } = asRecord(item);
  const itemId = readText(id, limits.maxIdLength);
  return type === "fileChange" && itemId !== null ? { id: itemId, changes } : null;
}

/**
 * Parameters of `thread/resume` for which the result has the items of the last turn. No other call returns an item that waits for
 * an approval: `thread/read`, `thread/turns/list` and `thread/items/read` have it only when it is over (measured with 0.166).
 */
export const withLastTurn = {
  excludeTurns: true,
  initialTurnsPage: { limit: 1, itemsView: "full" },
} as const;

export function listFileChangeItems(resumed: unknown): readonly FileChangeItem[] {
  const { data } = asRecord(asRecord(resumed).initialTurnsPage);
  return listRecords(data)
    .flatMap(({ items }) => asList(items))
    .map(readFileChangeItem)
    .filter((item) => item !== null);
}
