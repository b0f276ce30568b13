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
  let half = 0;
  for (let part = 0; part < parts; part++) {
    await put({ port, authorization, part, sessions, events, since, connections: 16 });
    const told = (part + 1) * events;
    if (told % 250_000 !== 0) continue;
    await Bun.sleep(settleMs);
    const mb = residentMb(pid);
    if (part + 1 === parts / 2) half = mb;
    console.log(`after ${told.toLocaleString("en")} events over ${sessions} sessions: ${mb.toFixed(0)} MB`);
  }
  const end = residentMb(pid);
  await beckon.stop();
  return meets("memory at the end, of that at half", end / half, "at most", 1.2);
});
process.exitCode = isFlat ? 0 : 1;
