/** The requests of the session feed: those of a session are made one after the other, and repeated while they may succeed later. */
import { computeRetryMs } from "../../core/backoff.ts";
import type { Schedule } from "../../core/interfaces/index.ts";
import { pause } from "../../system/schedule.ts";
import { DeliveryError } from "../channel.ts";

export interface FeedQueueOptions {
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface FeedQueue {
  /** Adds to the queue of the session. Resolves with whether it was sent. A phase replaces the phase that still waits. */
  add(key: string, isPhase: boolean, run: () => Promise<boolean>): Promise<boolean>;
  /** The session has requests that wait or are being made. */
  has(key: string): boolean;
  /** Repeats what may succeed later. Resolves with null if it failed, and logs why. */
  attempt<Result>(what: string, work: () => Promise<Result>, onRefused: () => void): Promise<Result | null>;
  stop(): void;
}

/** A post, and who waits for it. */
interface Task {
  readonly isPhase: boolean;
  readonly run: () => Promise<boolean>;
  readonly onDone: (isSent: boolean) => void;
}

interface SessionQueue {
  readonly tasks: Task[];
  isRunning: boolean;
}

const maxAttempts = 4;
const backoff = { firstMs: 1_000, maxMs: 60_000 };
/** Posts of one session that wait. Of more, the oldest are dropped. */
const maxWaiting = 20;

export function createFeedQueue({ schedule, onProblem }: FeedQueueOptions): FeedQueue {
  const queues = new Map<string, SessionQueue>();
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(key: string, queue: SessionQueue): Promise<void> {
    queue.isRunning = true;
    for (let task = queue.tasks.shift(); task; task = queue.tasks.shift())
      task.onDone(signal.aborted ? false : await task.run());
    queue.isRunning = false;
    queues.delete(key);
  }

  return {
    add(key, isPhase, work) {
      const queue = queues.get(key) ?? { tasks: [], isRunning: false };
      queues.set(key, queue);
      return new Promise((resolve) => {
        if (isPhase) drop(queue, (task) => task.isPhase);
        if (queue.tasks.length >= maxWaiting) drop(queue, (task) => task === queue.tasks[0]);
        queue.tasks.push({ isPhase, run: work, onDone: resolve });
        if (!queue.isRunning) void run(key, queue);
      });
    },
    has: (key) => queues.has(key),
    async attempt(what, work, onRefused) {
      for (let count = 1; !signal.aborted; count++) {
        try {
          return await work();
        } catch (error) {
          const failure = error instanceof DeliveryError ? error : new DeliveryError(String(error));
          if (failure.isPermanent || count >= maxAttempts) {
            onProblem(`${what}: ${failure.message}`);
            if (failure.isPermanent) onRefused();
            return null;
          }
          await pause(computeRetryMs(backoff, count, failure), signal, schedule);
        }
      }
      return null;
    },
    stop: () => stopping.abort(),
  };
}

function drop(queue: SessionQueue, isDropped: (task: Task) => boolean): void {
  for (const task of queue.tasks.filter(isDropped)) {
    queue.tasks.splice(queue.tasks.indexOf(task), 1);
    task.onDone(false);
  }
}
