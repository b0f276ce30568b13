/**
 * bun test/bench/all.ts [PART OF A NAME…]   every bench, one after the other, each in a process of its own
 *
 * A bench prints its figures and exits with 1 where one misses what it has to reach.
 */
const benches: readonly string[] = [
  "hook",
  "receiver",
  "sessions",
  "state",
  "start",
  "memory",
  "alert",
  "idle",
  "held",
  "turn",
];

const wanted = process.argv.slice(2);
const chosen = benches.filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
const missed: string[] = [];

for (const name of chosen) {
  console.log(`\n${name}`);
  const bench = Bun.spawnSync([process.execPath, `${import.meta.dir}/${name}.ts`], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (bench.exitCode !== 0) missed.push(name);
}

if (chosen.length === 0) console.log(`no such bench: there are ${benches.join(", ") || "none yet"}`);
if (missed.length > 0) console.log(`\nmissed: ${missed.join(", ")}`);
process.exit(missed.length > 0 || chosen.length === 0 ? 1 : 0);
