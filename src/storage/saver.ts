/** Saves soon after a change, but not at every change. */

import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import { schedule as scheduleTimer } from "../system/schedule.ts";

export interface SaverOptions {
  /** Saves once nothing has changed for this long, */
  readonly quietMs?: number;
  /** but no later than this after the first change, unless saving takes long. */
  readonly maxDelayMs?: number;
  /** The longest pause after a save that took long. */
  readonly maxPauseMs?: number;
  readonly onError: (text: string) => void;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
  readonly schedule?: Schedule;
}

export interface Saver {
  /** Something changed. */
  schedule(): void;
  /** Saves now if something has changed since the last save. */
  flush(): void;
}

/** After a save that took long, the pause is this many times as long: at most a hundredth of the time goes into saving. */
const pauseFactor = 100;

/** If `save` throws, the error is reported, and saving is tried again after the next change or by flush. */
export function createSaver(save: () => void, options: SaverOptions): Saver {
  const { quietMs = 1_000, maxDelayMs = 5_000, maxPauseMs = 60_000, onError } = options;
  const { now = () => performance.now(), schedule = scheduleTimer } = options;
  let isSaved = true;
  let firstChangeAt = 0;
  let lastChangeAt = 0;
  let savedAt = 0;
  let saveTookMs = 0;
  let cancel: (() => void) | null = null;

  function saveIfDue(): void {
    const dueAt = Math.min(lastChangeAt + quietMs, firstChangeAt + maxDelayMs);
    const pauseEndsAt = savedAt + Math.min(saveTookMs * pauseFactor, maxPauseMs);
    const waitMs = Math.max(dueAt, pauseEndsAt) - now();
    if (waitMs > 1) cancel = schedule(saveIfDue, waitMs);
    else flush();
  }

  function flush(): void {
    cancel?.();
    cancel = null;
    if (isSaved) return;
    const startedAt = now();
    try {
      save();
      isSaved = true;
    } catch (error) {
      onError(readErrorMessage(error));
    }
    savedAt = now();
    saveTookMs = savedAt - startedAt;
  }

  return {
    // Called for every event, so a running timer is left as it is.
    schedule() {
      lastChangeAt = now();
      isSaved = false;
      if (cancel) return;
      firstChangeAt = lastChangeAt;
      cancel = schedule(saveIfDue, quietMs);
    },
    flush,
  };
}
