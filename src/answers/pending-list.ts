/** The requests that wait, by the id of the event that asked: their heartbeats, and how they end without an answer. */
import { forgetOldest } from "../core/forget-oldest.ts";
import { limits } from "../core/limits.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { isSameSession, type SessionRefLike } from "../core/session/session-ref.ts";
import { findSettleTime } from "../core/session/settle.ts";
import { hashJson } from "../core/text/json-text.ts";
import { timing } from "../core/timing.ts";
import { findAsk, type PendingRequest } from "./pending-request.ts";

export interface PendingListOptions {
  readonly clock: () => ClockReading;
  readonly get: (ref: SessionRefLike) => Session | null;
  /** The session as it stands now. */
  readonly getSettled: (ref: SessionRefLike) => Session | null;
  /** Whether the settings allow answers now. */
  readonly isEnabled: () => boolean;
  readonly onChange: () => void;
  readonly heartbeatMs: number;
}

export interface PendingList {
  get(request: string): PendingRequest | null;
  /** Returns false if the request must not wait. */
  add(request: PendingRequest): boolean;
  remove(request: PendingRequest): void;
  /** The session changed: an ask may be over. */
  follow(session: Session): void;
  /** Settings or time may have ended an ask. */
  recheck(): void;
  /** Closes every connection without a decision. */
  stop(): void;
}

/** The hook prints nothing, and the terminal's dialog decides. */
export const noDecision = "{}\n";
const heartbeat = "\n";
const maxRemembered = 500;

export function createPendingList(options: PendingListOptions): PendingList {
  const { clock, getSettled, onChange } = options;
  const pending = new Map<string, PendingRequest>();
  /** Request → a hash of what the user was asked: the same request cannot ask for something else later. */
  const asked = new Map<string, string>();
  let heartbeatTimer: ReturnType<typeof setInterval> | null = null;
  let settleTimer: ReturnType<typeof setTimeout> | null = null;
  let isStopped = false;

  /**
   * False if the same request asked for something else before: a message on a phone or a notification may still show that, and
   * its buttons would answer this.
   */
  function rememberAsked({ request, details }: PendingRequest): boolean {
    const hash = hashJson(details);
    const before = asked.get(request);
    asked.delete(request);
    asked.set(request, before ?? hash);
    forgetOldest(asked, maxRemembered);
    return before === undefined || before === hash;
  }

  function add(request: PendingRequest): boolean {
    const earlier = pending.get(request.request);
    const hasRoom = earlier ? earlier.sent === null : pending.size < limits.maxPendingRequests;
    if (isStopped || !hasRoom || !rememberAsked(request)) return false;
    if (earlier) release(earlier);
    pending.set(request.request, request);
    request.connection.onClosed(() => {
      if (pending.get(request.request) === request) remove(request);
      request.sent?.confirm("closed");
    });
    request.connection.send(heartbeat);
    heartbeatTimer ??= setInterval(sendHeartbeats, options.heartbeatMs);
    recheckWhenSettled();
    onChange();
    return true;
  }

  function remove(request: PendingRequest): void {
    pending.delete(request.request);
    if (pending.size === 0 && heartbeatTimer) {
      clearInterval(heartbeatTimer);
      heartbeatTimer = null;
    }
    onChange();
  }

  function release(request: PendingRequest): void {
    remove(request);
    request.connection.send(noDecision);
    request.connection.close();
  }

  function releaseIfOver(request: PendingRequest, session: Session | null): void {
    // An answer that was sent is for the hook to confirm.
    if (request.sent && session && !session.ended) return;
    if (!options.isEnabled() || !findAsk(session, request.request)) release(request);
  }

  function sendHeartbeats(): void {
    const { t } = clock();
    for (const request of [...pending.values()]) {
      if (t - request.sinceT > timing.maxPendingMs) release(request);
      else request.connection.send(heartbeat);
    }
    recheck();
  }

  function recheck(): void {
    for (const request of [...pending.values()]) releaseIfOver(request, getSettled(request));
    recheckWhenSettled();
  }

  /** Some time after the last event the agent's status file decides, without another event. */
  function recheckWhenSettled(): void {
    if (settleTimer) clearTimeout(settleTimer);
    settleTimer = null;
    const { t } = clock();
    let nextT = Number.POSITIVE_INFINITY;
    for (const request of pending.values()) {
      const session = options.get(request);
      nextT = Math.min(nextT, (session && findSettleTime(session, t)) ?? Number.POSITIVE_INFINITY);
    }
    if (Number.isFinite(nextT) && !isStopped) settleTimer = setTimeout(recheck, nextT - t + 1);
  }

  return {
    get: (request) => pending.get(request) ?? null,
    add,
    remove,
    follow(changed) {
      if (pending.size === 0) return;
      const session = getSettled(changed);
      for (const request of [...pending.values()]) {
        if (isSameSession(request, changed)) releaseIfOver(request, session);
      }
      recheckWhenSettled();
    },
    recheck,
    stop() {
      isStopped = true;
      if (heartbeatTimer) clearInterval(heartbeatTimer);
      if (settleTimer) clearTimeout(settleTimer);
      const connections = [...pending.values()].map(({ connection }) => connection);
      pending.clear();
      for (const connection of connections) connection.close();
    },
  };
}
