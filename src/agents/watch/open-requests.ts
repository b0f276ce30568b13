/**
 * Requests that an agent reports through a channel of its own, beside its hooks. Each belongs to an ask, and can be answered until the
 * agent says that it is over.
 */
import type { Ask } from "../../core/session/session.ts";
import type { WatchContext, WatchedRequest } from "../agent.ts";

/** `request` is the id of the event that asked. */
type OpenRequest = Pick<WatchedRequest, "request" | "sessionId">;

export interface OpenRequests<Id, Request extends OpenRequest> {
  has(id: Id): boolean;
  /** True if the ask belongs to one of them. */
  isTaken(ask: Ask): boolean;
  add(id: Id, request: Request, channel: Pick<WatchedRequest, "payload" | "send">): void;
  /** null if there is no such request. */
  end(id: Id): Request | null;
  endAll(isOver?: (request: Request) => boolean): void;
  /** null if the ask has ended. */
  findAsk(request: Request): Ask | null;
}

export function createOpenRequests<Id, Request extends OpenRequest>({
  findSession,
  addPendingRequest,
}: Pick<WatchContext, "findSession" | "addPendingRequest">): OpenRequests<Id, Request> {
  const open = new Map<Id, { readonly request: Request; release(): void }>();

  function end(id: Id): Request | null {
    const known = open.get(id);
    open.delete(id);
    known?.release();
    return known?.request ?? null;
  }

  return {
    has: (id) => open.has(id),
    isTaken: (ask) => [...open.values()].some(({ request }) => request.request === ask.request),
    add(id, request, channel) {
      open.set(id, { request, release: addPendingRequest({ ...channel, ...request }) });
    },
    end,
    endAll(isOver = () => true) {
      for (const [id, { request }] of open) if (isOver(request)) end(id);
    },
    findAsk: ({ sessionId, request }) =>
      findSession(sessionId)?.asks.find((ask) => ask.request === request) ?? null,
  };
}
