/** How much memory beckon uses after a million events over a thousand sessions. */
import { join } from "node:path";
import { preparePrograms, putLoad, residentMb, startBeckon, withFolder } from "./processes.ts";
import { formatComparison, meets, sum } from "./rounds.ts";

const sessions = 1_000;
const parts = 20;
const events = 50_000;
const partsPerSample = 5;
const settleMs = 3_000;

const mean = (values: readonly number[]): number => sum(values) / values.length;

async function measure(folder: string): Promise<boolean> {
  const programs = preparePrograms(folder);
  const started = await Promise.all(
    programs.map(({ name, binary }) => startBeckon(binary, join(folder, `home-${name}`))),
  );
  await Bun.sleep(settleMs);
  const samples: { label: string; values: number[]; digits: number }[] = [];
  const sample = (label: string) =>
    samples.push({ label, values: started.map(({ pid }) => residentMb(pid)), digits: 0 });
  sample("before the first event, MB");
  const since = Date.now() - 10 * 60 * 60_000;
  for (let part = 0; part < parts; part++) {
    for (const { port, authorization } of started) {
      await putLoad({ port, authorization, part, sessions, events, since, connections: 16 });
    }
    if ((part + 1) % partsPerSample !== 0) continue;
    await Bun.sleep(settleMs);
    sample(`after ${((part + 1) * events).toLocaleString("en")} events, MB`);
  }
  for (const beckon of started) await beckon.stop();
  console.log(
    formatComparison(
      samples,
      programs.map(({ name }) => name),
    ),
  );
  // The mean, because one reading depends on when the last garbage collection was.
  const own = samples.slice(1).map(({ values }) => values[0] ?? Number.NaN);
  const growth = mean(own.slice(own.length / 2)) / mean(own.slice(0, own.length / 2));
  return meets("memory in the second half, of that in the first", growth, "at most", 1.2);
}

process.exitCode = (await withFolder(measure)) ? 0 : 1;
