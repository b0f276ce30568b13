/** What hearing an event costs: beckon, compiled and whole, beside a bare Bun.serve that parses and appends. */
import { join } from "node:path";
import type { Loaded } from "./load.ts";
import { compile, cpuMsOf, inFolder, put, type Receiver, startBare, startBeckon } from "./processes.ts";
import { interleave, median, meets, ratio, table } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const warmUp = 3;
const events = 20_000;
const sessions = 300;
const connections = 16;
const since = Date.now() - 60 * 60_000;

interface Round extends Loaded {
  readonly serverCpuUs: number;
  readonly serverBusy: number;
}

async function measure(folder: string): Promise<boolean> {
  const bare = await startBare(join(folder, "bare.jsonl"));
  const beckon = await startBeckon(await compile(folder), join(folder, "home"));
  const seen: Record<string, Round[]> = { beckon: [], bare: [] };
  const turn = async (name: "beckon" | "bare", receiver: Receiver, round: number): Promise<number> => {
    const { port, authorization } = receiver;
    // Both get the same bodies, and no round gets those of another.
    const part = warmUp + round;
    const before = cpuMsOf(receiver.pid);
    const loaded = await put({ port, authorization, part, sessions, events, since, connections });
    const serverCpuMs = cpuMsOf(receiver.pid) - before;
    if (round >= 0) {
      const more = { serverCpuUs: (serverCpuMs * 1_000) / events, serverBusy: serverCpuMs / loaded.wallMs };
      seen[name]?.push({ ...loaded, ...more });
    }
    return loaded.perSecond;
  };
  try {
    const figures = await interleave(
      [
        { name: "beckon", run: (round) => turn("beckon", beckon, round) },
        { name: "bare", run: (round) => turn("bare", bare, round) },
      ],
      { rounds, warmUp },
    );
    console.log(table(figures, "requests/s", ["bare"], 0));
    for (const [name, list] of Object.entries(seen)) {
      const of = (pick: (round: Round) => number, digits = 2) => median(list.map(pick)).toFixed(digits);
      console.log(
        `${name}: p50 ${of((r) => r.p50Ms)} ms, p99 ${of((r) => r.p99Ms)} ms; CPU ${of((r) => r.serverCpuUs, 1)} µs a request, ` +
          `busy ${of((r) => r.serverBusy)} of a core (the load: ${of((r) => r.cpuMs / r.wallMs)})`,
      );
    }
    return meets("receiver", ratio(figures, "beckon", "bare"), "at least", 0.8);
  } finally {
    await bare.stop();
    await beckon.stop();
  }
}

process.exitCode = (await inFolder(measure)) ? 0 : 1;
