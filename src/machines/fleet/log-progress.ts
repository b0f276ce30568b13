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
  /** The machine has said what they were about. */
  onMissed(): void;
}

export function createLogProgress(): LogProgress {
  let floor = 0;
  let last: number | null = null;
  let hasGap = false;
  let missedFrom: number | null = null;
  return {
    floor: () => floor,
    raise(number) {
      floor = Math.max(floor, number);
    },
    take({ before }, number) {
      if (before !== null && last !== null && before !== last) {
        hasGap = true;
        missedFrom ??= floor;
      }
      last = number;
      floor = number;
    },
    restart(before) {
      hasGap = true;
      if (before > 0) missedFrom ??= before;
    },
    skipTo(number) {
      if (floor > 0 && number > floor) missedFrom ??= floor;
      floor = Math.max(floor, number);
    },
    hasGap: () => hasGap,
    setGap(value) {
      hasGap = value;
    },
    missedFrom: () => missedFrom,
    onMissed() {
      missedFrom = null;
    },
  };
}
