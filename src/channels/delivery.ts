/**
 * The requests that deliver the messages of one channel: one at a time, with pauses after failures. After several failures in a
 * row it stops trying for a while.
 */
import { computeRetryMs } from "../core/backoff.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import { minuteMs } from "../core/timing.ts";
import { createCalls } from "../system/calls.ts";
import { waitAtMost } from "../system/schedule.ts";
import { type Channel, type ChannelMessage, DeliveryError } from "./channel.ts";
import { isWaiting, type OutboxEntry } from "./outbox-entry.ts";

export interface DeliveryOptions {
  readonly channel: Pick<Channel, "send" | "update">;
  /** See Service. */
  readonly isIdempotent: boolean;
  /** By their keys, in the order in which they are delivered. */
  readonly entries: Map<string, OutboxEntry>;
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
  /** What is saved of the messages has changed. */
  readonly onChange: () => void;
  /** Writes it to disk now. */
  readonly flush: () => void;
  /** Not called for updates. */
  readonly onSent: (key: string) => void;
  /** Gives up what the entry should show. */
  readonly drop: (entry: OutboxEntry, reason: string) => void;
  /** A request for the entry is over. */
  readonly onDone: (entry: OutboxEntry) => void;
  readonly onProblem: (text: string) => void;
  /** For tests. */
  readonly requestMs?: number;
}

export interface Delivery {
  /** Delivers what waits, now or after the pause. */
  start(): void;
  /** Why messages are not delivered now; null if they are. */
  problem(): string | null;
  /** Sends nothing more. Resolves when the request that is under way is over. */
  stop(): Promise<void>;
}

const backoff = { firstMs: 1_000, maxMs: minuteMs };
const maxFailuresInRow = 5;
/** The pauses of the breaker. */
const brokenBackoff = { firstMs: minuteMs, maxMs: 5 * minuteMs };
const defaultRequestMs = 30_000;

export function createDelivery(options: DeliveryOptions): Delivery {
  const { channel, entries, clock, schedule, drop, onChange, onProblem } = options;
  let failures = 0;
  let pausedUntilT = Number.NEGATIVE_INFINITY;
  let problem: string | null = null;
  let isBroken = false;
  let isStopped = false;
  let cancelPause = () => {};
  const calls = createCalls({
    items: () => entries.values(),
    maxCalls: 1,
    plan: (entry) => (isWaiting(entry) && !isTooOld(entry) ? () => deliver(entry) : null),
    onDone(entry) {
      options.onDone(entry);
      start();
    },
  });

  function start(): void {
    if (isStopped) return;
    const pauseMs = pausedUntilT - clock().t;
    if (pauseMs > 0) {
      cancelPause();
      cancelPause = schedule(start, pauseMs);
      return;
    }
    calls.start();
  }

  function isTooOld(entry: OutboxEntry): boolean {
    if (clock().at <= entry.deadlineAt) return false;
    const isUpdate = entry.handle !== null;
    drop(entry, isUpdate ? "the message could not be updated in time" : "it could not be sent in time");
    return true;
  }

  async function deliver(entry: OutboxEntry): Promise<void> {
    const { wanted: message, wantedContent: content } = entry;
    if (message === null) return;
    try {
      if (entry.handle === null) await send(entry, message, content);
      else await withDeadline(channel.update?.(entry.handle, message) ?? Promise.resolve());
      entry.shownContent = content;
      onDelivered();
    } catch (error) {
      onFailed(entry, error);
    } finally {
      entry.isSending = false;
    }
  }

  async function send(entry: OutboxEntry, message: ChannelMessage, content: string): Promise<void> {
    entry.isSending = true;
    // On disk before a byte is written: after a kill it is known that the message may be out.
    onChange();
    options.flush();
    entry.handle = await withDeadline(channel.send(message, entry.id));
    Object.assign(entry, { mayBeSent: false, isSending: false, shownContent: content });
    onChange();
    options.flush();
    options.onSent(entry.key);
  }

  /** For a client that does not keep its own deadline. */
  async function withDeadline<T>(work: Promise<T>): Promise<T> {
    const done = work.then((value) => ({ value }));
    const result = await waitAtMost(options.requestMs ?? defaultRequestMs, done, schedule);
    if (!result) throw new DeliveryError("no answer in time", { isUncertain: true });
    return result.value;
  }

  function onDelivered(): void {
    if (isBroken) onProblem("it works again");
    failures = 0;
    problem = null;
    isBroken = false;
  }

  function onFailed(entry: OutboxEntry, error: unknown): void {
    const failure = error instanceof DeliveryError ? error : null;
    const reason = readErrorMessage(error);
    problem = reason;
    if (failure?.isPermanent) {
      onProblem(
        `${entry.handle === null ? "a message was refused" : "a message could not be updated"}: ${reason}`,
      );
      drop(entry, reason);
      return;
    }
    if (failure?.isUncertain && entry.handle === null && !options.isIdempotent) {
      drop(entry, `it may or may not have arrived: ${reason}`);
      return;
    }
    // At the end of the queue, so that a message which always fails does not hold up the others.
    if (entries.delete(entry.key)) entries.set(entry.key, entry);
    failures++;
    const isBreaking = failures >= maxFailuresInRow;
    const pauseMs = isBreaking
      ? computeRetryMs(brokenBackoff, failures - maxFailuresInRow + 1, failure ?? {})
      : computeRetryMs(backoff, failures, failure ?? {});
    pausedUntilT = clock().t + pauseMs;
    if (isBreaking && !isBroken) {
      isBroken = true;
      onProblem(`${failures} failures in a row, so it pauses between attempts: ${reason}`);
    }
  }

  return {
    start,
    problem: () => problem,
    stop() {
      isStopped = true;
      cancelPause();
      return calls.finish();
    },
  };
}
