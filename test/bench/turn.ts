/**
 * What beckon's hooks cost a session: the time of a tool call in the real CLI without hooks, with the installed ones, with
 * the same ones where the CLI waits for each, and with ones that do nothing: that much is the CLI's own.
 *
 * Timed from the API's answer, which has the call, to the request that brings its result, in `-p`: what the terminal shows
 * is drawn on a clock of its own, and blurs a call by 50 ms.
 */
import { cliVersion, fetchCli, isCliCached, sandboxNeeds } from "../agent/cli.ts";
import { manual, openWorld, type World } from "../agent/world.ts";
import { hasAll } from "../needs.ts";
import { type Case, type Figures, interleave, median, meets, table } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 20);
const calls = 20;
const targetMs = 2;
const bare = "no hooks";

const inSettings = (change: string): string => `sed -i '${change}' .claude/settings.json`;
/** What is done to the settings after the install; null: there is none. */
const arms: Readonly<Record<string, string | null>> = {
  [bare]: null,
  beckon: "true",
  "beckon, not async": inSettings('s/,"async":true//g'),
  "hooks that do nothing": inSettings('s/"command":"[^"]*"/"command":"exit 0"/g'),
};

async function openArm(change: string | null): Promise<World> {
  const settings = { permissions: { allow: ["Bash"] }, hooks: {} };
  const world = await openWorld({ settings, isInstalled: change !== null });
  try {
    if (change !== null) await world.does(change);
    await world.beckon.start();
    // Nobody looks on: a look is a process too.
    await world.beckon.leave();
    return world;
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function msPerCall(world: World): Promise<number> {
  const before = world.requests().length;
  await world.does(`cd proj && claude ${manual} -p 'DO times ${calls} true' </dev/null`);
  const requests = world.requests().slice(before);
  if (requests.length !== calls + 1) throw new Error(`${requests.length} of ${calls + 1} requests came`);
  // Not the mean: whatever else the machine does hits some calls, not most.
  return median(requests.slice(1).map(({ cameAt }, n) => cameAt - (requests[n]?.answeredAt ?? Number.NaN)));
}

/** Within each round: a slow minute slows both. */
function moreThanBare(figures: Figures, name: string): number[] {
  const below = figures.get(bare) ?? [];
  return (figures.get(name) ?? []).map((value, round) => value - (below[round] ?? Number.NaN));
}

async function measure(): Promise<boolean> {
  const worlds = new Map<string, World>();
  try {
    for (const [name, change] of Object.entries(arms)) worlds.set(name, await openArm(change));
    const cases: Case[] = [...worlds].map(([name, world]) => ({ name, run: () => msPerCall(world) }));
    const figures = await interleave(cases, { rounds, warmUp: 2 });
    for (const [name, world] of worlds) {
      const isHeard = world.beckon.heard("PostToolUse") > 0;
      if (isHeard !== name.startsWith("beckon")) throw new Error(`${name}: heard by beckon: ${isHeard}`);
    }
    console.log(table(figures, "ms a tool call", [bare]));
    for (const name of figures.keys()) {
      if (name === bare) continue;
      const more = moreThanBare(figures, name);
      const range = `${Math.min(...more).toFixed(2)} to ${Math.max(...more).toFixed(2)}`;
      console.log(`${name}: ${median(more).toFixed(2)} ms more a tool call, ${range}`);
    }
    const added = median(moreThanBare(figures, "beckon"));
    return meets("ms that beckon adds to a tool call", added, "at most", targetMs);
  } finally {
    for (const world of worlds.values()) await world.close();
  }
}

if (hasAll(sandboxNeeds) && !isCliCached(cliVersion)) {
  console.log(`fetching Claude Code ${cliVersion} from the npm registry: this bench drives the real CLI`);
  await fetchCli(cliVersion);
}
if (!hasAll(sandboxNeeds) || !isCliCached(cliVersion)) {
  console.error(
    `this bench drives Claude Code ${cliVersion} in a namespace. It needs ${sandboxNeeds.join(", ")}`,
  );
  process.exit(1);
}
process.exitCode = (await measure()) ? 0 : 1;
