/** Shows the newest of many values, at most once in a while: nothing queues behind a slow panel. */
export interface Latest<T> {
  set(value: T): void;
  /** Shows now what still waits. */
  flush(): void;
  stop(): void;
}

export function latest<T>(show: (value: T) => void, everyMs: number): Latest<T> {
  let waiting: { readonly value: T } | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    if (waiting === null) return;
    const { value } = waiting;
    waiting = null;
    show(value);
  }

  function pause(): void {
    timer = setTimeout(() => {
      timer = null;
      if (waiting === null) return;
      pause();
      flush();
    }, everyMs);
  }

  return {
    set(value) {
      waiting = { value };
      if (timer !== null) return;
      pause();
      flush();
    },
    flush,
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      waiting = null;
    },
  };
}
