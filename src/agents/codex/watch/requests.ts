/**
 * The requests of the server's threads. Each belongs to an ask, which a hook may have opened before it, and can be answered
 * until the server resolves it.
 */
import { forgetOldest } from "../../../core/forget-oldest.ts";
import { readString } from "../../../core/json.ts";
import type { AskDetails } from "../../../core/session/ask-details.ts";
import type { Change } from "../../../core/session/event.ts";
import type { Ask, Session } from "../../../core/session/session.ts";
import { hashJson } from "../../../core/text/json-text.ts";
import type { WatchContext, WatchedRequest } from "../../agent.ts";
import { toOneLine } from "../../one-line.ts";
import { createOpenRequests } from "../../watch/open-requests.ts";
import { codexAnswering, listChangedFiles } from "../answering.ts";
import { readFileChanges, type ServerRequest, type ServerThread } from "../server.ts";
import type { ServerConnection } from "./connection.ts";
import type { FileChanges } from "./file-changes.ts";
import type { EmitCodexChange } from "./rollouts.ts";

export interface ServerRequestsOptions
  extends Pick<WatchContext, "clock" | "findSession" | "mask" | "addPendingRequest"> {
  readonly emit: EmitCodexChange;
  readonly changes: FileChanges;
}

export interface ServerRequests {
  add(request: ServerRequest, thread: ServerThread, connection: ServerConnection): Promise<void>;
  /** The server has the answer to a request. */
  onResolved(id: unknown): void;
  endOfThread(threadId: string): void;
  endAll(): void;
  stop(): void;
}

interface ThreadRequest extends Pick<WatchedRequest, "request" | "sessionId"> {
  readonly threadId: string;
}

const maxContents = 500;
/** After the server resolved a request, a hook or its status closes the ask. Without trusted hooks this does. */
const closeAfterMs = 300;

export function createServerRequests(options: ServerRequestsOptions): ServerRequests {
  const { clock, findSession, emit, mask } = options;
  const requests = createOpenRequests<number | string, ThreadRequest>(options);
  /** The event that asked → a hash of what it asked for. */
  const contents = new Map<string, string>();
  const timers = new Set<ReturnType<typeof setTimeout>>();

  /**
   * The ask that a hook has opened for the same call, or that was for the same request on an earlier connection. null if there is
   * none. One call can ask several times for different commands.
   */
  function findAsk({ asks }: Session, { itemId, turnId }: ServerRequest, content: string): string | null {
    const isFree = (ask: Ask) =>
      ask.request !== null && !requests.isTaken(ask) && (contents.get(ask.request) ?? content) === content;
    const byCall = asks.find((ask) => itemId !== null && ask.toolUseId === itemId && isFree(ask));
    const byTurn = asks.find((ask) => ask.toolUseId === null && ask.promptId === turnId && isFree(ask));
    return (byCall ?? byTurn)?.request ?? null;
  }

  function openAsk(thread: ServerThread, request: ServerRequest, details: AskDetails | null): string | null {
    const change = details && createAsk(request, details, mask);
    if (!change) return null;
    const { id, sessionId } = thread;
    const agentId = id === sessionId ? null : id;
    const name = String(request.payload.method);
    return emit({ sessionId, agentId, promptId: request.turnId, name }, clock(), change);
  }

  function closeAsk(request: ThreadRequest): void {
    const ask = requests.findAsk(request);
    if (!ask) return;
    const change: Change = { kind: "ask-ended", inputKey: ask.inputKey, outcome: null };
    emit({ sessionId: request.sessionId, agentId: ask.agentId }, clock(), change);
  }

  return {
    async add(received, thread, connection) {
      if (!findSession(thread.sessionId) || requests.has(received.id)) return;
      const request = await options.changes.addTo(received, thread, connection);
      const session = findSession(thread.sessionId);
      // Another server can use the same id for another request.
      if (!session || !connection.isOpen()) return;
      const { sessionId } = session;
      const { id, payload } = request;
      const details = codexAnswering.describe(payload, { cwd: thread.cwd });
      const content = hashJson({ details });
      const asked = findAsk(session, request, content) ?? openAsk(thread, request, details);
      if (asked === null) return;
      contents.set(asked, content);
      forgetOldest(contents, maxContents);
      const send = (decision: object): boolean => connection.respond(id, decision);
      requests.add(id, { request: asked, sessionId, threadId: thread.id }, { payload, send });
    },
    onResolved(id) {
      const request = typeof id === "number" || typeof id === "string" ? requests.end(id) : null;
      if (!request) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        closeAsk(request);
      }, closeAfterMs);
      timers.add(timer);
    },
    endOfThread(threadId) {
      requests.endAll((request) => request.threadId === threadId);
    },
    endAll: () => requests.endAll(),
    stop() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** null if it is neither a permission nor a question. */
function createAsk(
  { itemId, payload }: ServerRequest,
  { kind, tool, questions, lines }: AskDetails,
  mask: (text: string) => string,
): Change | null {
  if (kind !== "permission" && kind !== "question") return null;
  const files = listChangedFiles(readFileChanges(payload.changes), readString(payload.patch));
  const [first = ""] = files.length > 0 ? [files.join(", ")] : lines;
  return {
    kind: "ask",
    ask: kind,
    tool,
    inputKey: hashJson({ itemId }),
    ...(itemId === null ? {} : { toolUseId: itemId }),
    summary: mask(toOneLine(questions[0]?.question ?? first)),
    options: (questions[0]?.options ?? []).map(({ label }) => mask(label)),
    ...(questions.length > 1 ? { questions: questions.length } : {}),
  };
}
