/** How far the log of one machine was read here, and what of it was lost: each entry names the one before. */
import type { LogHead } from "./wire.ts";

export interface LogProgress {
  /** Everything up to this number is known. */
  floor(): number;
  raise(number: number): void;
  /** The next entry. */
  take(head: LogHead, number: number): void;
  /** The machine was started again: what it did not get out before is in its history. */
  restart(before: number): void;
  /** The latest states have this number. The log did not have the newest of it: its server has trimmed or lost some. */
  skipTo(number: number): void;
  /** The latest states have to be read. */
  hasGap(): boolean;
  setGap(hasGap: boolean): void;
  /** The last entry before some that were lost, until the machine has said what they were about; null if none were. */
  missedFrom(): number | null;
  /** It is not known what the entries after this number were about. */
  miss(from: number): void;
  /** The machine has said what its entries up to this number were about; undefined if all of them. */
  onMissed(upTo: number | undefined): void;
}

export function createLogProgress(): LogProgress {
  let floor = 0;
  let last: number | null = null;
  let hasGap = false;
  let missedFrom: number | null = null;
  /** The first entry that is known after those that were lost. */
  let missedUntil = 0;

  function miss(from: number, until: number): void {
    missedFrom ??= from;
    missedUntil = until;
  }

  return {
    floor: () => floor,
    raise(number) {
      // Who follows it now does not have what an earlier follower had.
      if (number > 0 && number < floor) miss(number, floor);
      floor = Math.max(floor, number);
    },
    take({ before }, number) {
      // The first of this run: how far the machine was followed was saved now and then, so it may be further.
      const isNext = last === null ? floor === 0 || before === null || before <= floor : before === last;
      if (before !== null && !isNext) {
        hasGap = true;
        miss(floor, number);
      }
      last = number;
      floor = number;
    },
    restart(before) {
      hasGap = true;
      if (before > 0) miss(before, floor);
    },
    skipTo(number) {
      if (floor > 0 && number > floor) miss(floor, number);
      floor = Math.max(floor, number);
    },
    hasGap: () => hasGap,
    setGap(value) {
      hasGap = value;
    },
    missedFrom: () => missedFrom,
    miss: (from) => miss(from, floor),
    onMissed(upTo) {
      if (upTo === undefined || upTo >= missedUntil) missedFrom = null;
    },
  };
}
