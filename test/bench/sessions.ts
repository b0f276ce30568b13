/** What one event costs beckon, compiled and whole, with 10, 1,000 and 10,000 sessions: it should be the same. */
import { join } from "node:path";
import { compile, cpuMsOf, inFolder, put, type Receiver, startBeckon } from "./processes.ts";
import { interleave, meets, ratio, table } from "./rounds.ts";

const rounds = 9;
const events = 30_000;
const counts = [10, 1_000, 10_000] as const;
const [few] = counts;
const since = Date.now() - 5 * 60 * 60_000;
const nameOf = (sessions: number) => `${sessions.toLocaleString("en")} sessions`;

interface Started {
  readonly sessions: number;
  readonly beckon: Receiver;
}

/** All threads of the process count, and all that it does beside: looks for dead processes, reads transcripts, saves its snapshot. */
async function costOf(
  { port, authorization, pid }: Receiver,
  part: number,
  sessions: number,
): Promise<number> {
  const before = cpuMsOf(pid);
  await put({ port, authorization, part, sessions, events, since, connections: 16 });
  return ((cpuMsOf(pid) - before) * 1_000) / events;
}

function compare(started: readonly Started[], firstPart: number, busy: (sessions: number) => number) {
  return interleave(
    started.map(({ sessions, beckon }) => ({
      name: nameOf(sessions),
      run: (round) => costOf(beckon, firstPart + 3 + round, busy(sessions)),
    })),
    { rounds },
  );
}

async function measure(folder: string): Promise<boolean> {
  const binary = await compile(folder);
  const started = await Promise.all(
    counts.map(async (sessions) => ({
      sessions,
      beckon: await startBeckon(binary, join(folder, `home-${sessions}`)),
    })),
  );
  // Every session has been heard of.
  for (const { sessions, beckon } of started) await costOf(beckon, 0, sessions);
  const some = await compare(started, 1, () => few);
  const all = await compare(started, 1 + 3 + rounds, (sessions) => sessions);
  for (const { beckon } of started) await beckon.stop();
  const base = nameOf(few);
  console.log(`${few} of them at work\n${table(some, "µs of CPU/event", [base], 1)}`);
  // What the processor's cache does not hold costs any state more: state.ts shows the least.
  console.log(`all of them at work\n${table(all, "µs of CPU/event", [base], 1)}`);
  return counts
    .slice(1)
    .map((sessions) => {
      const name = nameOf(sessions);
      return meets(`an event with ${name}, ${few} of them at work`, ratio(some, name, base), "at most", 1.3);
    })
    .every(Boolean);
}

process.exitCode = (await inFolder(measure)) ? 0 : 1;
