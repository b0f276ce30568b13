/** What hearing an event costs: beckon, compiled and whole, beside a bare Bun.serve that parses and appends. */
import { join } from "node:path";
import type { Loaded } from "./load.ts";
import { compile, cpuMsOf, inFolder, put, type Receiver, startBare, startBeckon } from "./processes.ts";
import { interleave, median, meets, ratio, table } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const warmUp = 3;
const events = 20_000;
const sessions = 300;
/** Every hook has a connection of its own: a few agents, and a machine full of them. */
const few = 16;
const many = 64;
const since = Date.now() - 60 * 60_000;

interface Round extends Loaded {
  readonly serverCpuUs: number;
  readonly serverBusy: number;
}

async function measure(folder: string): Promise<boolean> {
  const bare = await startBare(join(folder, "bare.jsonl"));
  const beckon = await startBeckon(await compile(folder), join(folder, "home"));
  try {
    const atFew = await compare(bare, beckon, few, 0);
    const atMany = await compare(bare, beckon, many, warmUp + rounds);
    console.log(`receiver with ${few} connections: ${atFew.toFixed(2)}x of bare Bun.serve`);
    return meets(`receiver with ${many} connections, of bare Bun.serve`, atMany, "at least", 0.8);
  } finally {
    await bare.stop();
    await beckon.stop();
  }
}

/** No part of the bodies comes twice: a body that beckon knows is answered and dropped. */
async function compare(bare: Receiver, beckon: Receiver, connections: number, from: number): Promise<number> {
  const seen: Record<string, Round[]> = { beckon: [], bare: [] };
  const turn = async (name: "beckon" | "bare", receiver: Receiver, round: number): Promise<number> => {
    const { port, authorization } = receiver;
    // Both get the same bodies, and no round gets those of another.
    const part = from + warmUp + round;
    const before = cpuMsOf(receiver.pid);
    const loaded = await put({ port, authorization, part, sessions, events, since, connections });
    const serverCpuMs = cpuMsOf(receiver.pid) - before;
    if (round >= 0) {
      const more = { serverCpuUs: (serverCpuMs * 1_000) / events, serverBusy: serverCpuMs / loaded.wallMs };
      seen[name]?.push({ ...loaded, ...more });
    }
    return loaded.perSecond;
  };
  const figures = await interleave(
    [
      { name: "beckon", run: (round) => turn("beckon", beckon, round) },
      { name: "bare", run: (round) => turn("bare", bare, round) },
    ],
    { rounds, warmUp },
  );
  console.log(`${connections} connections\n${table(figures, "requests/s", ["bare"], 0)}`);
  for (const [name, list] of Object.entries(seen)) {
    const of = (pick: (round: Round) => number, digits = 2) => median(list.map(pick)).toFixed(digits);
    console.log(
      `${name}: p50 ${of((r) => r.p50Ms)} ms, p99 ${of((r) => r.p99Ms)} ms; CPU ${of((r) => r.serverCpuUs, 1)} µs a request, ` +
        `busy ${of((r) => r.serverBusy)} of a core (the load: ${of((r) => r.cpuMs / r.wallMs)})`,
    );
  }
  return ratio(figures, "beckon", "bare");
}

process.exitCode = (await inFolder(measure)) ? 0 : 1;
