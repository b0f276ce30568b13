/** Saves soon after a change, not at every change. */

export interface SaverOptions {
  /** Saved once nothing has changed for this long, */
  readonly quietMs?: number;
  /** but no later than this after the first change. */
  readonly maxMs?: number;
  readonly onError: (text: string) => void;
}

export interface Saver {
  poke(): void;
  /** Saves now what is not saved yet. */
  flush(): void;
}

/** What `save` throws is reported and never gets out; it is tried again after the next change, and by flush. */
export function createSaver(save: () => void, options: SaverOptions): Saver {
  const { quietMs = 1_000, maxMs = 5_000, onError } = options;
  let unsaved = false;
  let first = 0;
  let last = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function wait(ms: number): void {
    timer = setTimeout(wake, ms);
    timer.unref();
  }

  function wake(): void {
    const now = performance.now();
    const left = Math.min(last + quietMs, first + maxMs) - now;
    if (left > 1) wait(left);
    else flush();
  }

  function flush(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (!unsaved) return;
    try {
      save();
      unsaved = false;
    } catch (error) {
      onError(error instanceof Error ? error.message : String(error));
    }
  }

  return {
    // Called for every event: no timer is touched while one runs.
    poke() {
      last = performance.now();
      unsaved = true;
      if (timer) return;
      first = last;
      wait(quietMs);
    },
    flush,
  };
}
