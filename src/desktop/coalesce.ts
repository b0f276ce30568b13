/** Keeps only the newest of many updates, so that nothing queues up behind a slow panel or notification server. */
import type { Schedule } from "../core/interfaces/index.ts";
import { schedule as systemSchedule } from "../system/schedule.ts";

export interface Throttle<T> {
  set(value: T): void;
  /** Passes on the value that still waits, if there is one. */
  flush(): void;
  stop(): void;
}

/** Passes on the first value at once, and then the newest one at most every `everyMs`. */
export function createThrottle<T>(
  pass: (value: T) => void,
  everyMs: number,
  schedule: Schedule = systemSchedule,
): Throttle<T> {
  let waiting: { readonly value: T } | null = null;
  let cancel: (() => void) | null = null;

  function flush(): void {
    if (waiting === null) return;
    const { value } = waiting;
    waiting = null;
    pass(value);
  }

  function pause(): void {
    cancel = schedule(() => {
      cancel = null;
      if (waiting === null) return;
      pause();
      flush();
    }, everyMs);
  }

  return {
    set(value) {
      waiting = { value };
      if (cancel !== null) return;
      pause();
      flush();
    },
    flush,
    stop() {
      cancel?.();
      cancel = null;
      waiting = null;
    },
  };
}

export interface KeyedQueue<Task> {
  /** Resolves when no task is left for this key. */
  set(key: string, task: Task): Promise<void>;
  /** The task that runs for this key, or comes next. */
  get(key: string): Task | undefined;
  /** All keys with a task. */
  keys(): readonly string[];
}

interface KeyState<Task> {
  task: Task;
  isDone: boolean;
  finished: Promise<void>;
}

/**
 * Runs at most one task for each key, and at most `maxConcurrent` in all. If several tasks for a key arrive meanwhile, only
 * the last one runs. `run` must not reject.
 */
export function createKeyedQueue<Task>(
  maxConcurrent: number,
  run: (key: string, task: Task) => Promise<void>,
): KeyedQueue<Task> {
  const states = new Map<string, KeyState<Task>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function work(key: string, state: KeyState<Task>): Promise<void> {
    if (running >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    while (!state.isDone) {
      state.isDone = true;
      await run(key, state.task);
    }
    states.delete(key);
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return {
    set(key, task) {
      const existing = states.get(key);
      if (existing !== undefined) {
        existing.task = task;
        existing.isDone = false;
        return existing.finished;
      }
      const state: KeyState<Task> = { task, isDone: false, finished: Promise.resolve() };
      states.set(key, state);
      state.finished = work(key, state);
      return state.finished;
    },
    get: (key) => states.get(key)?.task,
    keys: () => [...states.keys()],
  };
}
