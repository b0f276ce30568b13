/**
 * A moment of the last 7 days, of a busy user: 100,000 events of recorded sessions. BENCH_EVENTS makes it shorter.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/history/database.ts";
import { findMoment } from "../../src/history/queries/moment.ts";
import { writePastDays } from "../history/past-days.ts";
import { createRandom } from "../random.ts";
import { withFolder } from "./processes.ts";
import { meets, percentile } from "./rounds.ts";

const events = Number(process.env.BENCH_EVENTS ?? 100_000);
const moments = 500;
const maxMomentMs = 150;

const isMet = await withFolder(async (folder) => {
  const path = join(folder, "history.db");
  const random = createRandom(1);
  const { from, to } = await writePastDays(path, { events, days: 7, to: Date.now(), looks: 0, random });
  const db = openDatabase(path);
  const took = Array.from({ length: moments }, () => {
    const at = random.between(from, to);
    const started = performance.now();
    findMoment(db, at, to);
    return performance.now() - started;
  });
  db.close();
  console.log(`${events} events in 7 days take ${(statSync(path).size / 1024 / 1024).toFixed(1)} MB`);
  const [p50, p99] = [percentile(took, 0.5), percentile(took, 0.99)];
  console.log(`a random moment: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  return meets("a random moment, p99 in ms", p99, "at most", maxMomentMs);
});
process.exit(isMet ? 0 : 1);
