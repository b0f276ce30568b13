/**
 * bun test/bench/all.ts [PART OF A NAME…] [--against BINARY]   runs every bench, one after the other
 *
 * A bench runs in its own process, prints its figures, and exits with 1 if one misses its target. With --against it measures
 * another build too, in turn with this one, and prints the ratios.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { against } from "./processes.ts";

const benches: readonly string[] = [
  "hook",
  "receiver",
  "sessions",
  "state",
  "transcript",
  "secrets",
  "start",
  "memory",
  "alert",
  "idle",
  "pending",
  "turn",
  "agents",
  "turn-others",
  "guard",
  "history",
  "rewind",
  "rules",
  "channels",
  "channel-answer",
  "dashboard",
  "optional",
  "machines",
  "fleet",
  "truth",
];
/** These measure functions, or always this build: they take no other binary. */
const withoutAgainst = [
  "turn-others",
  "state",
  "rules",
  "transcript",
  "secrets",
  "rewind",
  "dashboard",
  "machines",
  "fleet",
  "truth",
];

const { values, positionals } = parseArgs({
  options: { against: { type: "string" } },
  allowPositionals: true,
});
const chosen = benches.filter(
  (name) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
);
const missed: string[] = [];

for (const name of chosen) {
  console.log(`\n${name}`);
  const hasOther = values.against !== undefined && !withoutAgainst.includes(name);
  const other = hasOther ? [`--${against}`, resolve(values.against ?? "")] : [];
  const bench = Bun.spawnSync([process.execPath, `${import.meta.dir}/${name}.ts`, ...other], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (bench.exitCode !== 0) missed.push(name);
}

if (chosen.length === 0) console.log(`no such bench. There are: ${benches.join(", ")}`);
if (missed.length > 0) console.log(`\nmissed: ${missed.join(", ")}`);
process.exit(missed.length > 0 || chosen.length === 0 ? 1 : 0);
