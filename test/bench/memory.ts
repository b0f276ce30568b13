/** What beckon holds: when idle, and after a million events over a thousand sessions. */
import { join } from "node:path";
import { compile, inFolder, put, residentMb, startBeckon } from "./processes.ts";
import { meets } from "./rounds.ts";

const sessions = 1_000;
const parts = 20;
const events = 50_000;
const settleMs = 3_000;

const isFlat = await inFolder(async (folder) => {
  const beckon = await startBeckon(await compile(folder), join(folder, "home"));
  const { port, authorization, pid } = beckon;
  await Bun.sleep(settleMs);
  console.log(`idle: ${residentMb(pid).toFixed(0)} MB`);
  const since = Date.now() - 10 * 60 * 60_000;
  const seen: number[] = [];
  for (let part = 0; part < parts; part++) {
    await put({ port, authorization, part, sessions, events, since, connections: 16 });
    const told = (part + 1) * events;
    if (told % 250_000 !== 0) continue;
    await Bun.sleep(settleMs);
    const mb = residentMb(pid);
    seen.push(mb);
    console.log(`after ${told.toLocaleString("en")} events over ${sessions} sessions: ${mb.toFixed(0)} MB`);
  }
  await beckon.stop();
  // One reading depends on when the garbage was last collected.
  const mean = (list: readonly number[]) => list.reduce((sum, mb) => sum + mb, 0) / list.length;
  const [before, after] = [mean(seen.slice(0, seen.length / 2)), mean(seen.slice(seen.length / 2))];
  return meets("memory in the second half, of that in the first", after / before, "at most", 1.2);
});
process.exitCode = isFlat ? 0 : 1;
