/**
 * Delivers the messages of one channel: one request at a time, the newest state of each message, oldest change first. It retries
 * with pauses, stops trying for a while after several failures in a row, and drops what is too old. What was sent, and what was
 * being sent, survives a kill.
 */
import { randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { computeRetryMs } from "../core/backoff.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import { asList } from "../core/json.ts";
import { readRows } from "../core/saved-rows.ts";
import type { ClockReading } from "../core/session/event.ts";
import { minuteMs } from "../core/timing.ts";
import { createCalls } from "../system/calls.ts";
import { waitAtMost } from "../system/schedule.ts";
import { type Channel, type ChannelMessage, DeliveryError } from "./channel.ts";

export interface OutboxOptions {
  readonly channel: Pick<Channel, "send" | "update">;
  /** See Service. */
  readonly isIdempotent: boolean;
  /** What `saved` returned before the last stop. */
  readonly saved: unknown;
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
  /** What `saved` returns has changed. */
  readonly onChange: () => void;
  /** Writes `saved` to disk now. */
  readonly flush: () => void;
  /** Not called for updates. */
  readonly onSent: (key: string) => void;
  /** A message will not be sent. */
  readonly onDropped: (key: string, reason: string) => void;
  readonly onProblem: (text: string) => void;
  /** For tests. */
  readonly requestMs?: number;
}

export interface Outbox {
  /** Sets what the message of this key shows. `content` is equal for messages that say the same. */
  put(message: ChannelMessage, content: string, deadlineAt: number): void;
  /** What the message last put shows; null if there is none. */
  contentOf(key: string): string | null;
  titleOf(key: string): string | null;
  keys(): readonly string[];
  /**
   * The ask is over: sets the last state of its message. Without one, or if it was never sent, nothing more is sent. `isLast`: it
   * is forgotten once that is delivered.
   */
  finish(key: string, message: ChannelMessage | null, content: string, isLast?: boolean): void;
  /** The handle of a message whose answer was lost has become known: it can be updated from now on. */
  adopt(key: string, handle: string): void;
  /** Why messages are not delivered now; null if they are. */
  problem(): string | null;
  saved(): readonly SavedMessage[];
  /** Sends nothing more. Resolves when the request that is under way is over. */
  stop(): Promise<void>;
}

const Text = Type.String({ maxLength: 4_096 });

const SavedMessageSchema = Type.Object({
  key: Text,
  /** The same for every attempt. */
  id: Text,
  /** Names the sent message to the service; null if it was not sent. */
  handle: Type.Union([Text, Type.Null()]),
  /** A request was written when beckon was killed. */
  isSending: Type.Optional(Type.Boolean()),
  isDropped: Type.Optional(Type.Boolean()),
  /** A hash of what it shows; empty if it was not sent. */
  content: Text,
  title: Text,
});

type SavedMessage = Readonly<Static<typeof SavedMessageSchema>>;

interface Entry {
  readonly key: string;
  readonly id: string;
  handle: string | null;
  isSending: boolean;
  /** It was being sent when beckon was killed, and the service shows it once if it is sent again. */
  mayBeSent: boolean;
  isDropped: boolean;
  /** Its ask is over, so it is not sent any more, only updated. */
  isOver: boolean;
  /** It is forgotten once its last state is delivered. */
  isFinal: boolean;
  wanted: ChannelMessage | null;
  wantedContent: string;
  shownContent: string | null;
  deadlineAt: number;
  title: string;
}

const maxWaiting = 200;
const backoff = { firstMs: 1_000, maxMs: minuteMs };
const maxFailuresInRow = 5;
/** The pauses of the breaker. */
const brokenBackoff = { firstMs: minuteMs, maxMs: 5 * minuteMs };
const defaultRequestMs = 30_000;
const maxSaved = 1_000;

export function createOutbox(options: OutboxOptions): Outbox {
  const { channel, clock, schedule, onChange, onProblem, requestMs = defaultRequestMs } = options;
  const entries = new Map<string, Entry>();
  let failures = 0;
  let pausedUntilT = Number.NEGATIVE_INFINITY;
  let problem: string | null = null;
  let isBroken = false;
  const calls = createCalls({
    items: () => entries.values(),
    maxCalls: 1,
    plan: (entry) => (isWaiting(entry) && !isTooOld(entry) ? () => deliver(entry) : null),
    onDone(entry) {
      removeIfDone(entry);
      onChange();
      pump();
    },
  });
  let isStopped = false;
  let cancelPause = () => {};

  const saved = readRows(SavedMessageSchema, asList(options.saved).slice(-maxSaved));
  for (const { key, id, title, handle, content, isSending = false, isDropped = false } of saved) {
    const isLost = isSending && !options.isIdempotent;
    if (isLost) onProblem("beckon was killed while it sent a message, which may or may not have arrived");
    // If its last state was not delivered, it is set again.
    entries.set(key, {
      ...createEntry(key, id, title),
      handle,
      mayBeSent: isSending && options.isIdempotent,
      isDropped: isDropped || isLost,
      wantedContent: content,
      shownContent: handle === null ? null : content,
    });
  }

  const isWaiting = (entry: Entry): boolean =>
    entry.wanted !== null && !entry.isDropped && entry.wantedContent !== entry.shownContent;

  function pump(): void {
    if (isStopped) return;
    const pauseMs = pausedUntilT - clock().t;
    if (pauseMs > 0) {
      cancelPause();
      cancelPause = schedule(pump, pauseMs);
      return;
    }
    calls.start();
  }

  function isTooOld(entry: Entry): boolean {
    if (clock().at <= entry.deadlineAt) return false;
    const isUpdate = entry.handle !== null;
    drop(entry, isUpdate ? "the message could not be updated in time" : "it could not be sent in time");
    return true;
  }

  function drop(entry: Entry, reason: string): void {
    entry.isDropped = true;
    entry.wanted = null;
    if (entry.handle === null) options.onDropped(entry.key, reason);
    else onProblem(reason);
    removeIfDone(entry);
    onChange();
  }

  function removeIfDone(entry: Entry): void {
    const isDone = entry.isFinal || (entry.isOver && entry.handle === null && !entry.mayBeSent);
    if (isDone && !isWaiting(entry) && !entry.isSending) entries.delete(entry.key);
  }

  async function deliver(entry: Entry): Promise<void> {
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

  async function send(entry: Entry, message: ChannelMessage, content: string): Promise<void> {
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
    const result = await waitAtMost(requestMs, done, schedule);
    if (!result) throw new DeliveryError("no answer in time", { isUncertain: true });
    return result.value;
  }

  function onDelivered(): void {
    if (isBroken) onProblem("it works again");
    failures = 0;
    problem = null;
    isBroken = false;
  }

  function onFailed(entry: Entry, error: unknown): void {
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

  function limitWaiting(): void {
    const unsent = [...entries.values()].filter((entry) => isWaiting(entry) && entry.handle === null);
    const [oldest] = unsent;
    if (unsent.length >= maxWaiting && oldest) drop(oldest, `more than ${maxWaiting} messages wait`);
  }

  return {
    put(message, content, deadlineAt) {
      const known = entries.get(message.key);
      if (known?.wantedContent === content && known.wanted !== null) return;
      if (!known) limitWaiting();
      const entry = known ?? createEntry(message.key, randomBytes(9).toString("hex"), message.title);
      const wasWaiting = isWaiting(entry);
      Object.assign(entry, {
        wanted: message,
        wantedContent: content,
        title: message.title,
        isOver: false,
        isFinal: false,
      });
      if (!wasWaiting) {
        entry.deadlineAt = deadlineAt;
        entries.delete(entry.key);
        entries.set(entry.key, entry);
      }
      onChange();
      pump();
    },
    contentOf: (key) => entries.get(key)?.wantedContent ?? null,
    titleOf: (key) => entries.get(key)?.title ?? null,
    keys: () => [...entries.values()].filter(({ isFinal }) => !isFinal).map(({ key }) => key),
    finish(key, message, content, isLast = true) {
      const entry = entries.get(key);
      if (!entry) return;
      entry.isOver = true;
      entry.isFinal = isLast;
      const isUnsent = entry.handle === null && !entry.mayBeSent && !entry.isSending;
      if (message === null || entry.isDropped || isUnsent || !channel.update) entry.wanted = null;
      else if (entry.wantedContent !== content || entry.wanted === null) {
        Object.assign(entry, { wanted: message, wantedContent: content });
        entry.deadlineAt = clock().at + finalDeadlineMs;
      }
      removeIfDone(entry);
      onChange();
      pump();
    },
    adopt(key, handle) {
      const entry = entries.get(key);
      if (!entry || entry.handle !== null || entry.isSending) return;
      Object.assign(entry, { handle, isDropped: false, shownContent: entry.wantedContent });
      onChange();
    },
    problem: () => problem,
    saved: () =>
      [...entries.values()].slice(-maxSaved).map((entry) => ({
        key: entry.key,
        id: entry.id,
        handle: entry.handle,
        isSending: entry.isSending || entry.mayBeSent,
        isDropped: entry.isDropped,
        content: entry.shownContent ?? "",
        title: entry.title,
      })),
    stop() {
      isStopped = true;
      cancelPause();
      return calls.finish();
    },
  };
}

/** How long a message is tried to be updated after its ask has ended. */
const finalDeadlineMs = 60 * minuteMs;

function createEntry(key: string, id: string, title: string): Entry {
  return {
    key,
    id,
    handle: null,
    isSending: false,
    mayBeSent: false,
    isDropped: false,
    isOver: false,
    isFinal: false,
    wanted: null,
    wantedContent: "",
    shownContent: null,
    deadlineAt: Number.POSITIVE_INFINITY,
    title,
  };
}
