/** Saves soon after a change, not at every change. */

export interface SaverOptions {
  /** Saved once nothing has changed for this long, */
  readonly quietMs?: number;
  /** but no later than this after the first change, unless saving takes very long. */
  readonly maxMs?: number;
  /** How long it may rest after a save that took long. */
  readonly maxRestMs?: number;
  readonly onError: (text: string) => void;
}

export interface Saver {
  schedule(): void;
  /** Saves now what is not saved yet. */
  flush(): void;
}

/** What takes long is done less often: no more than a hundredth of the time goes into it. */
const restFactor = 100;

/** What `save` throws is reported and never gets out; it is tried again after the next change, and by flush. */
export function createSaver(save: () => void, options: SaverOptions): Saver {
  const { quietMs = 1_000, maxMs = 5_000, maxRestMs = 60_000, onError } = options;
  let unsaved = false;
  let first = 0;
  let last = 0;
  let savedAt = 0;
  let tookMs = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function wait(ms: number): void {
    timer = setTimeout(wake, ms);
    timer.unref();
  }

  function wake(): void {
    const now = performance.now();
    const due = Math.min(last + quietMs, first + maxMs);
    const left = Math.max(due, savedAt + Math.min(tookMs * restFactor, maxRestMs)) - now;
    if (left > 1) wait(left);
    else flush();
  }

  function flush(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (!unsaved) return;
    const started = performance.now();
    try {
      save();
      unsaved = false;
    } catch (error) {
      onError(error instanceof Error ? error.message : String(error));
    }
    savedAt = performance.now();
    tookMs = savedAt - started;
  }

  return {
    // Called for every event: no timer is touched while one runs.
    schedule() {
      last = performance.now();
      unsaved = true;
      if (timer) return;
      first = last;
      wait(quietMs);
    },
    flush,
  };
}
