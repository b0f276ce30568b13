/** A message in the outbox: what it should show, what it shows, and what must be known about it after a kill. */
import { type Static, Type } from "@sinclair/typebox";
import { asList } from "../core/json.ts";
import { readRows } from "../core/saved-rows.ts";
import type { ChannelMessage } from "./channel.ts";

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

export type SavedMessage = Readonly<Static<typeof SavedMessageSchema>>;

export interface OutboxEntry {
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

const maxSaved = 1_000;

export function createEntry(key: string, id: string, title: string): OutboxEntry {
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

export const isWaiting = (entry: OutboxEntry): boolean =>
  entry.wanted !== null && !entry.isDropped && entry.wantedContent !== entry.shownContent;

/** Nothing more is to be delivered for it, now or later. */
export function isDone(entry: OutboxEntry): boolean {
  const isOver = entry.isFinal || (entry.isOver && entry.handle === null && !entry.mayBeSent);
  return isOver && !isWaiting(entry) && !entry.isSending;
}

/** `onLost`: it was being sent when beckon was killed, and sending it again could show it twice. */
export function readSavedEntries(saved: unknown, isIdempotent: boolean, onLost: () => void): OutboxEntry[] {
  const rows = readRows(SavedMessageSchema, asList(saved).slice(-maxSaved));
  return rows.map(({ key, id, title, handle, content, isSending = false, isDropped = false }) => {
    const isLost = isSending && !isIdempotent;
    if (isLost) onLost();
    // If its last state was not delivered, it is set again.
    return {
      ...createEntry(key, id, title),
      handle,
      mayBeSent: isSending && isIdempotent,
      isDropped: isDropped || isLost,
      wantedContent: content,
      shownContent: handle === null ? null : content,
    };
  });
}

export function saveEntries(entries: Iterable<OutboxEntry>): readonly SavedMessage[] {
  return [...entries].slice(-maxSaved).map((entry) => ({
    key: entry.key,
    id: entry.id,
    handle: entry.handle,
    isSending: entry.isSending || entry.mayBeSent,
    isDropped: entry.isDropped,
    content: entry.shownContent ?? "",
    title: entry.title,
  }));
}
