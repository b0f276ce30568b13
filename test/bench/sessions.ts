/** What one event costs beckon with 10, 1,000 and 10,000 sessions: it should be the same. */
import { join } from "node:path";
import { cpuMsOf, preparePrograms, putLoad, type Receiver, startBeckon, withFolder } from "./processes.ts";
import { type Figures, formatFigures, interleave, meets, ratio } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const events = 30_000;
const counts = [10, 1_000, 10_000] as const;
const [few] = counts;
const since = Date.now() - 5 * 60 * 60_000;
const nameOf = (sessions: number, program = "beckon") =>
  `${program === "beckon" ? "" : `${program}, `}${sessions.toLocaleString("en")} sessions`;

interface Subject {
  readonly name: string;
  readonly sessions: number;
  readonly beckon: Receiver;
}

/** Counts all threads, and what the app does besides: checking processes, reading transcripts, saving its snapshot. */
async function cpuPerEvent(
  { port, authorization, pid }: Receiver,
  part: number,
  sessions: number,
): Promise<number> {
  const before = cpuMsOf(pid);
  await putLoad({ port, authorization, part, sessions, events, since, connections: 16 });
  return ((cpuMsOf(pid) - before) * 1_000) / events;
}

function compare(
  subjects: readonly Subject[],
  firstPart: number,
  working: (sessions: number) => number,
): Promise<Figures> {
  return interleave(
    subjects.map(({ name, sessions, beckon }) => ({
      name,
      run: (round) => cpuPerEvent(beckon, firstPart + 3 + round, working(sessions)),
    })),
    { rounds },
  );
}

async function measure(folder: string): Promise<boolean> {
  const subjects: Subject[] = [];
  for (const program of preparePrograms(folder)) {
    for (const sessions of counts) {
      const home = join(folder, `home-${program.name}-${sessions}`);
      const name = nameOf(sessions, program.name);
      subjects.push({ name, sessions, beckon: await startBeckon(program.binary, home) });
    }
  }
  // One event of every session first, so that all are known.
  for (const { sessions, beckon } of subjects) await cpuPerEvent(beckon, 0, sessions);
  const someWork = await compare(subjects, 1, () => few);
  const allWork = await compare(subjects, 1 + 3 + rounds, (sessions) => sessions);
  for (const { beckon } of subjects) await beckon.stop();
  const bases = [nameOf(few)];
  console.log(`${few} of them at work\n${formatFigures(someWork, "µs of CPU/event", bases, 1)}`);
  // More sessions than the processor's cache holds cost any state more: state.ts shows by how much at least.
  console.log(`all of them at work\n${formatFigures(allWork, "µs of CPU/event", bases, 1)}`);
  return counts
    .slice(1)
    .map((sessions) => {
      const name = nameOf(sessions);
      const growth = ratio(someWork, name, nameOf(few));
      return meets(`an event with ${name}, ${few} of them at work`, growth, "at most", 1.3);
    })
    .every(Boolean);
}

process.exitCode = (await withFolder(measure)) ? 0 : 1;
