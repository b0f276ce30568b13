/** Toasts on their way: one PowerShell at a time, and what comes meanwhile goes with the next. */
import type { Exec } from "../../core/ports.ts";
import { within } from "../notify/latest-per-key.ts";
import { batch, dataVariable, outcomes, type ToastJob } from "./toast.ts";

/** At login PowerShell takes its time. */
const runMs = 20_000;

export interface Toasts {
  /** null: done; else what went wrong. */
  send(job: ToastJob): Promise<string | null>;
  /** Takes back all that may be on the screen; in `stopMs` at most, whatever PowerShell does. */
  stop(): Promise<void>;
}

export function createToasts(command: readonly string[], exec: Exec, { stopMs = 5_000 } = {}): Toasts {
  const waiting: { readonly job: ToastJob; readonly done: (fault: string | null) => void }[] = [];
  /** Tags of what may be on the screen. Windows does not say when the person sends one away. */
  const shown = new Set<string>();
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const { count, data } = batch(waiting.map(({ job }) => job));
      const taken = waiting.splice(0, count);
      for (const { job } of taken) if (job.xml !== null) shown.add(job.tag);
      const ran = await exec(command, { timeoutMs: runMs, env: { [dataVariable]: data } });
      const faults =
        ran.code === null
          ? taken.map(() => `PowerShell cannot be run: ${ran.stderr.trim().slice(0, 200)}`)
          : outcomes(ran.stdout, count);
      for (const [index, { job, done }] of taken.entries()) {
        const fault = faults[index] ?? null;
        if (job.xml === null && fault === null) shown.delete(job.tag);
        done(fault);
      }
    }
    running = null;
  }

  function queue(job: ToastJob): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>();
    // What is not shown yet need not be shown: the last word on a toast counts.
    const older = waiting.findIndex((other) => other.job.tag === job.tag);
    if (older >= 0) for (const { done } of waiting.splice(older, 1)) done(null);
    waiting.push({ job, done: resolve });
    return promise;
  }

  return {
    send(job) {
      const done = queue(job);
      running ??= run();
      return done;
    },
    async stop() {
      const tags = new Set([...shown, ...waiting.map(({ job }) => job.tag)]);
      for (const tag of tags) void queue({ tag, xml: null });
      if (tags.size > 0) running ??= run();
      await within(stopMs, running ?? Promise.resolve());
    },
  };
}
