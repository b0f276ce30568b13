/**
 * What waits to be written to a fleet, in order. While the server is away it gets no longer than its limit: the newest state of each
 * session stays, and of each ask a state in which it is open, and its end.
 */
import { type Static, Type } from "@sinclair/typebox";
import { isRecord } from "../../core/json.ts";
import { readRows } from "../../core/saved-rows.ts";
import { type OwnerMessage, parseOwnerMessage } from "../protocol.ts";

export interface Outgoing {
  readonly number: number;
  /** The machine's clocks when it happened. */
  readonly at: number;
  readonly t: number;
  /** The session that it is about; null if none. */
  readonly key: string | null;
  readonly message: OwnerMessage;
}

export interface FleetOutbox {
  add(outgoing: Outgoing): void;
  /** The next ones to be written. */
  first(count: number): readonly Outgoing[];
  /** The newest that was dropped because there were too many, since the last call; null if none was. */
  takeLost(): number | null;
  /** Those up to this number were written. It may have been shortened meanwhile. */
  drop(upTo: number): void;
  /** A newer state of the same session waits too. */
  isLate(outgoing: Outgoing): boolean;
  size(): number;
  /** For the file; `restore` reads it. */
  save(): readonly object[];
}

/** What is not written for longer than a moment. */
const compactFrom = 64;
const maxEntries = 2_000;
/** Of the file, in characters. */
const maxLength = 1024 * 1024;

const SavedRow = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  at: Type.Number(),
  t: Type.Number(),
  key: Type.Union([Type.String(), Type.Null()]),
  line: Type.String(),
});

export function createOutbox(saved: readonly unknown[]): FleetOutbox {
  let waiting: Outgoing[] = restore(saved);
  /** The length at which it is shortened next. */
  let shortenFrom = compactFrom;
  let lost: number | null = null;

  return {
    add(outgoing) {
      waiting.push(outgoing);
      if (waiting.length < shortenFrom) return;
      const kept = shorten(waiting);
      waiting = kept.slice(-maxEntries);
      lost = kept.at(-maxEntries - 1)?.number ?? lost;
      shortenFrom = Math.max(compactFrom, 2 * waiting.length);
    },
    first: (count) => waiting.slice(0, count),
    takeLost() {
      const number = lost;
      lost = null;
      return number;
    },
    drop(upTo) {
      const next = waiting.findIndex(({ number }) => number > upTo);
      waiting.splice(0, next < 0 ? waiting.length : next);
    },
    isLate: ({ number, key, message }) =>
      message.kind === "session" &&
      waiting.some((other) => other.key === key && other.number > number && isState(other)),
    size: () => waiting.length,
    save() {
      const rows = shorten(waiting)
        .slice(-maxEntries)
        .map(({ message, ...row }) => ({ ...row, line: JSON.stringify(message) }));
      let length = 0;
      // The newest are worth most.
      const start = rows.findLastIndex(({ line }) => {
        length += line.length;
        return length > maxLength;
      });
      return rows.slice(start + 1);
    },
  };
}

/** Says how the session is, or that it is gone. */
const isState = ({ message: { kind } }: Outgoing): boolean => kind === "session" || kind === "gone";

function readAskIds({ message }: Outgoing): readonly string[] {
  const asks = message.kind === "session" ? message.described.session.asks : null;
  if (!Array.isArray(asks)) return [];
  return asks.flatMap((ask: unknown) => (isRecord(ask) && typeof ask.id === "string" ? [ask.id] : []));
}

/** From the newest to the oldest: a state stays if it is the newest of its session, or the newest that has one of its asks. */
function shorten(waiting: readonly Outgoing[]): Outgoing[] {
  const seen = new Set<string>();
  const kept = waiting.toReversed().filter((outgoing) => {
    if (!isState(outgoing)) return true;
    const names = [`${outgoing.key}`, ...readAskIds(outgoing).map((id) => `${outgoing.key}#${id}`)];
    const isNew = names.some((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return isNew;
  });
  return kept.reverse();
}

function restore(saved: readonly unknown[]): Outgoing[] {
  return readRows(SavedRow, saved).flatMap(({ line, ...row }: Static<typeof SavedRow>): Outgoing[] => {
    const message = parseOwnerMessage(line);
    return message && typeof message !== "string" ? [{ ...row, message }] : [];
  });
}
