/**
 * The messages of one channel: the newest state of each, oldest change first. What is too old is dropped. What was sent, and what
 * was being sent, survives a kill. The requests are made in delivery.ts.
 */
import { randomBytes } from "node:crypto";
import { minuteMs } from "../core/timing.ts";
import type { ChannelMessage } from "./channel.ts";
import { createDelivery, type DeliveryOptions } from "./delivery.ts";
import {
  createEntry,
  isDone,
  isWaiting,
  type OutboxEntry,
  readSavedEntries,
  type SavedMessage,
  saveEntries,
} from "./outbox-entry.ts";

export interface OutboxOptions extends Omit<DeliveryOptions, "entries" | "drop" | "onDone"> {
  /** What `saved` returned before the last stop. */
  readonly saved: unknown;
  /** A message will not be sent. */
  readonly onDropped: (key: string, reason: string) => void;
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

const maxWaiting = 200;
/** How long a message is tried to be updated after its ask has ended. */
const finalDeadlineMs = 60 * minuteMs;

export function createOutbox(options: OutboxOptions): Outbox {
  const { channel, isIdempotent, clock, onChange, onProblem } = options;
  const onLost = () =>
    onProblem("beckon was killed while it sent a message, which may or may not have arrived");
  const saved = readSavedEntries(options.saved, isIdempotent, onLost);
  const entries = new Map(saved.map((entry) => [entry.key, entry]));
  const delivery = createDelivery({
    ...options,
    entries,
    drop,
    onDone(entry) {
      removeIfDone(entry);
      onChange();
    },
  });

  function drop(entry: OutboxEntry, reason: string): void {
    entry.isDropped = true;
    entry.wanted = null;
    if (entry.handle === null) options.onDropped(entry.key, reason);
    else onProblem(reason);
    removeIfDone(entry);
    onChange();
  }

  function removeIfDone(entry: OutboxEntry): void {
    if (isDone(entry)) entries.delete(entry.key);
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
      delivery.start();
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
      delivery.start();
    },
    adopt(key, handle) {
      const entry = entries.get(key);
      if (!entry || entry.handle !== null || entry.isSending) return;
      Object.assign(entry, { handle, isDropped: false, shownContent: entry.wantedContent });
      onChange();
    },
    problem: delivery.problem,
    saved: () => saveEntries(entries.values()),
    stop: delivery.stop,
  };
}
