/**
 * The messages of Codex's shared server (`codex app-server`), which runs the sessions of all terminals: JSON-RPC over a
 * WebSocket on a Unix socket. The protocol is marked as experimental, so everything that cannot be read is ignored.
 */
import { asRecord, isRecord, type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Change } from "../../core/session/event.ts";
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

/** null if the status is of an unknown kind. */
export function readStatus(value: unknown): ThreadStatus | null {
  const { type, activeFlags } = asRecord(value);
  const flags: readonly unknown[] = Array.isArray(activeFlags) ? activeFlags : [];
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

export function createStatusChange(
  status: Exclude<ThreadStatus, "closed">,
  title: string | null,
): Change & { kind: "status" } {
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
  const { data } = asRecord(result);
  return (Array.isArray(data) ? data : []).filter(isRecord).flatMap((row) => {
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
