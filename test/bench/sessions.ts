/** What one event costs beckon, compiled and whole, with 10, 1,000 and 10,000 sessions at work: it should be the same. */
import { join } from "node:path";
import { compile, cpuMsOf, inFolder, put, startBeckon } from "./processes.ts";
import { interleave, meets, ratio, table } from "./rounds.ts";

const rounds = 9;
const events = 30_000;
const counts = [10, 1_000, 10_000] as const;
const since = Date.now() - 5 * 60 * 60_000;
const nameOf = (sessions: number) => `${sessions.toLocaleString("en")} sessions`;

const isFlat = await inFolder(async (folder) => {
  const binary = await compile(folder);
  const started = await Promise.all(
    counts.map(async (sessions) => ({
      sessions,
      beckon: await startBeckon(binary, join(folder, `home-${sessions}`)),
    })),
  );
  // Every session has an event in turn. All threads of the process count, and all that it does beside: looks for dead
  // processes, reads transcripts, saves its snapshot.
  const figures = await interleave(
    started.map(({ sessions, beckon: { port, authorization, pid } }) => ({
      name: nameOf(sessions),
      async run(round) {
        const before = cpuMsOf(pid);
        await put({ port, authorization, part: round + 3, sessions, events, since, connections: 16 });
        return ((cpuMsOf(pid) - before) * 1_000) / events;
      },
    })),
    { rounds },
  );
  for (const { beckon } of started) await beckon.stop();
  const [few = "", ...more] = counts.map(nameOf);
  console.log(`all of them at work\n${table(figures, "µs of CPU/event", [few], 1)}`);
  return more
    .map((name) => meets(`an event with ${name}`, ratio(figures, name, few), "at most", 1.3))
    .every(Boolean);
});
process.exitCode = isFlat ? 0 : 1;
