/**
 * What a fleet costs, on one redis-server: how much later another machine shows a change than one without a fleet shows its own, beside a
 * bare XADD and XREAD in the same run; what publishing adds to an event; and a follower of 200 machines with ten sessions each, at 5,000 changes a second.
 *
 * BENCH_ROUNDS and BENCH_LOAD_SECONDS make it shorter; 0 leaves that part out.
 */
import { join } from "node:path";
import { changeFleets, type FleetRecord } from "../../src/machines/fleet/fleet-file.ts";
import { createPlaces } from "../../src/machines/fleet/places.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { startRedis } from "../machines/fleet/redis-server.ts";
import { createFleetRecords, type SimulatedMachine, simulateMachine } from "../machines/fleet/simulated.ts";
import { waitUntil } from "../wait-until.ts";
import { cpuMsOf, preparePrograms, type Receiver, residentMb, startBeckon, withFolder } from "./processes.ts";
import { followEvents, request } from "./requests.ts";
import { meets, percentile } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 200);
const loadSeconds = Number(process.env.BENCH_LOAD_SECONDS ?? 10);
const machineCount = 200;
const sessionCount = 10;
const changesPerSecond = 5_000;
const calmMs = 10_000;
/** What is late is not written all at once. */
const maxBatch = 500;

type Server = Awaited<ReturnType<typeof startRedis>>;

async function startMember(binary: string, home: string, record: FleetRecord | null): Promise<Receiver> {
  if (record) changeFleets(resolvePaths({ BECKON_HOME: home }), () => ({ home: record }));
  return startBeckon(binary, home);
}

const countLinked = async (app: Receiver): Promise<number> =>
  (await (await request(app, "/api/machines")).text()).split('"linked"').length - 1;

const createPrompt = (prompt: string) =>
  JSON.stringify({ session_id: "s", hook_event_name: "UserPromptSubmit", prompt, cwd: "/home/dev/proj" });

const print = (name: string, values: readonly number[]) =>
  console.log(
    `${name}: p50 ${percentile(values, 0.5).toFixed(2)} ms, p99 ${percentile(values, 0.99).toFixed(2)} ms`,
  );

/** How long it takes until a reader that waits has what was appended. */
async function createBarePair(server: Server): Promise<() => Promise<number>> {
  const [writer, reader] = [server.open(), server.open()];
  const text = "x".repeat(3_000);
  return async () => {
    const reading = reader.send("XREAD", ["BLOCK", "5000", "STREAMS", "bare", "$"]);
    // Sent once the reader waits at the server.
    await Bun.sleep(5);
    const started = performance.now();
    await Promise.all([writer.send("XADD", ["bare", "MAXLEN", "~", "100", "*", "e", text]), reading]);
    return performance.now() - started;
  };
}

async function measureLatency(folder: string, binary: string, server: Server): Promise<boolean> {
  const [first, second] = createFleetRecords(server.url, 2);
  if (!first || !second) return false;
  const apps = [
    await startMember(binary, join(folder, "owner"), first),
    await startMember(binary, join(folder, "follower"), second),
    await startMember(binary, join(folder, "alone"), null),
  ] as const;
  const [owner, follower, alone] = apps;
  await waitUntil(async () => (await countLinked(follower)) === 1, 30_000);
  const [there, here, without, bare] = [
    await followEvents(owner),
    await followEvents(follower),
    await followEvents(alone),
    await createBarePair(server),
  ];
  const figures = {
    /** Until another machine shows it, its own, and one without a fleet. */
    here: [] as number[],
    there: [] as number[],
    without: [] as number[],
    later: [] as number[],
    bare: [] as number[],
    published: [] as number[],
    alone: [] as number[],
  };
  const post = async (app: Receiver, prompt: string) => {
    const started = performance.now();
    await request(app, "/api/hook", { method: "POST", body: createPrompt(prompt) });
    return { started, tookMs: performance.now() - started };
  };
  for (let round = -10; round < rounds; round++) {
    const marker = `marker-${round + 1_000}-`;
    const seen = Promise.all([there(marker), here(marker), without(marker)]);
    const bareMs = await bare();
    const atAlone = await post(alone, marker);
    const atOwner = await post(owner, marker);
    const [thereAt, hereAt, withoutAt] = await seen;
    // Changes that follow each other at once are sent together.
    await Bun.sleep(30);
    if (round < 0) continue;
    const hereMs = hereAt - atOwner.started;
    const withoutMs = withoutAt - atAlone.started;
    figures.here.push(hereMs);
    figures.there.push(thereAt - atOwner.started);
    figures.without.push(withoutMs);
    figures.later.push(hereMs - withoutMs);
    figures.bare.push(bareMs);
    figures.published.push(atOwner.tookMs);
    figures.alone.push(atAlone.tookMs);
  }
  print("a change, until a machine without a fleet shows it", figures.without);
  print("a change, until its own machine shows it", figures.there);
  print("a change, until another machine shows it", figures.here);
  print("how much later another machine shows it than one without a fleet", figures.later);
  print("a bare XADD and XREAD", figures.bare);
  print("an event at a machine in a fleet", figures.published);
  print("an event at a machine in none", figures.alone);
  for (const app of apps) await app.stop();
  const compare = (a: readonly number[], b: readonly number[], part: number) =>
    percentile(a, part) / percentile(b, part);
  return [
    meets("how much later ÷ bare, p50", compare(figures.later, figures.bare, 0.5), "at most", 3),
    meets("how much later ÷ bare, p99", compare(figures.later, figures.bare, 0.99), "at most", 3),
    meets(
      "an event in a fleet ÷ in none, p50",
      compare(figures.published, figures.alone, 0.5),
      "at most",
      1.1,
    ),
  ].every(Boolean);
}

async function measureLoad(folder: string, binary: string, server: Server): Promise<boolean> {
  const [own, ...others] = createFleetRecords(server.url, machineCount + 1);
  if (!own) return false;
  const { log, pulses } = createPlaces(own.id);
  const redis = server.open();
  const machines = others.map(simulateMachine);
  const beat = () =>
    Promise.all(
      machines.map((machine) =>
        redis.send("XADD", [pulses, "MAXLEN", "~", "1000", "*", "e", machine.pulse()]),
      ),
    );
  const app = await startMember(binary, join(folder, "load"), own);
  const measureIdle = async (): Promise<number> => {
    const before = cpuMsOf(app.pid);
    await Bun.sleep(calmMs);
    return ((cpuMsOf(app.pid) - before) * 60_000) / calmMs;
  };
  await Bun.sleep(calmMs);
  const emptyMb = residentMb(app.pid);
  const emptyIdleMs = await measureIdle();
  for (const machine of machines) {
    const fields = Array.from({ length: sessionCount }, (_, n) => [
      `f${n}`,
      machine.change(n, "first"),
    ]).flat();
    await redis.send("HSET", [machine.now, ...fields, "hello", machine.hello()]);
  }
  const started = performance.now();
  await beat();
  const beating = setInterval(() => void beat(), 8_000);
  await waitUntil(async () => (await countLinked(app)) === machineCount, 60_000);
  console.log(
    `${machineCount} machines with ${machineCount * sessionCount} sessions are listed after ${((performance.now() - started) / 1_000).toFixed(1)} s`,
  );
  await Bun.sleep(calmMs);
  const perThousand = 1_000 / (machineCount * sessionCount);
  console.log(
    `${((residentMb(app.pid) - emptyMb) * perThousand).toFixed(1)} MB for each 1,000 mirrored sessions`,
  );
  const idleMs = (await measureIdle()) - emptyIdleMs;
  console.log(
    `${(idleMs * perThousand).toFixed(0)} ms CPU a minute for each 1,000 sessions that do not change; ${emptyIdleMs.toFixed(0)} ms without any`,
  );

  // Sealed before: here it would take the CPU of 200 machines. What comes late is held back, so they are not from then.
  const soon = Date.now() + 60_000;
  const total = changesPerSecond * loadSeconds;
  const changes = Array.from({ length: total }, (_, n) => {
    const machine = machines[n % machineCount] as SimulatedMachine;
    const session = Math.floor(n / machineCount) % sessionCount;
    return { now: machine.now, field: `f${session}`, sealed: machine.change(session, `step ${n}`, soon) };
  });
  await beat();
  const cpuBefore = cpuMsOf(app.pid);
  const loadStarted = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - loadStarted) * changesPerSecond) / 1_000));
    const batch = changes.slice(sent, Math.min(due, sent + maxBatch));
    await Promise.all(
      batch.flatMap(({ now, field, sealed }) => [
        redis.send("HSET", [now, field, sealed]),
        redis.send("XADD", [log, "MAXLEN", "~", "100000", "*", "e", sealed]),
      ]),
    );
    sent += batch.length;
    await Bun.sleep(2);
  }
  const writtenMs = performance.now() - loadStarted;
  const lastStep = `step ${total - 1}`;
  await waitUntil(
    async () => (await (await request(app, "/api/sessions")).text()).includes(lastStep),
    120_000,
    "the last change is shown",
    100,
  );
  const shownMs = performance.now() - loadStarted;
  const cpuMs = cpuMsOf(app.pid) - cpuBefore;
  clearInterval(beating);
  const reports = (await (await request(app, "/api/fleets")).json()) as { fleets: { dropped: object }[] };
  console.log(
    `${total} changes written at ${((total * 1_000) / writtenMs).toFixed(0)} a second; the last is shown ${((shownMs - writtenMs) / 1_000).toFixed(2)} s after it was written; ${(cpuMs / total).toFixed(3)} ms CPU each; dropped: ${JSON.stringify(reports.fleets[0]?.dropped)}`,
  );
  await app.stop();
  redis.close();
  return [
    meets("changes written a second", (total * 1_000) / writtenMs, "at least", changesPerSecond * 0.95),
    meets(
      "seconds that the follower is behind at the end",
      (shownMs - writtenMs) / 1_000,
      "at most",
      loadSeconds,
    ),
  ].every(Boolean);
}

const isMet = await withFolder(async (folder) => {
  const [program] = preparePrograms(folder);
  if (!program) return false;
  const server = await startRedis(["--appendonly", "no"]);
  try {
    const results = [
      rounds === 0 || (await measureLatency(folder, program.binary, server)),
      loadSeconds === 0 || (await measureLoad(folder, program.binary, server)),
    ];
    return results.every(Boolean);
  } finally {
    await server.destroy();
  }
});
process.exit(isMet ? 0 : 1);
