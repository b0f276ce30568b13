/** What receiving an event costs: beckon beside a bare Bun.serve that parses each body and appends it to a file. */
import { join } from "node:path";
import type { Loaded } from "./load.ts";
import {
  against,
  cpuMsOf,
  preparePrograms,
  putLoad,
  type Receiver,
  startBareReceiver,
  startBeckon,
  withFolder,
} from "./processes.ts";
import { formatFigures, interleave, median, meets, ratio } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const warmUp = 3;
const events = 20_000;
const sessions = 300;
/** Every hook has its own connection: a few agents, and a machine full of them. */
const few = 16;
const many = 64;
const since = Date.now() - 60 * 60_000;

interface Round extends Loaded {
  readonly serverCpuUs: number;
  readonly serverBusy: number;
}

async function measure(folder: string): Promise<boolean> {
  const receivers = new Map<string, Receiver>();
  try {
    for (const { name, binary } of preparePrograms(folder)) {
      receivers.set(name, await startBeckon(binary, join(folder, `home-${name}`)));
    }
    receivers.set("bare", await startBareReceiver(join(folder, "bare.jsonl")));
    const atFew = await compare(receivers, few, 0);
    const atMany = await compare(receivers, many, warmUp + rounds);
    console.log(`receiver with ${few} connections: ${atFew.toFixed(2)}x of bare Bun.serve`);
    return meets(`receiver with ${many} connections, of bare Bun.serve`, atMany, "at least", 0.75);
  } finally {
    for (const receiver of receivers.values()) await receiver.stop();
  }
}

/** Every part of the bodies is sent once to each: beckon drops a body that it knows already. */
async function compare(
  receivers: ReadonlyMap<string, Receiver>,
  connections: number,
  firstPart: number,
): Promise<number> {
  const measured = new Map<string, Round[]>();
  const runRound = async (name: string, receiver: Receiver, round: number): Promise<number> => {
    const { port, authorization } = receiver;
    const part = firstPart + warmUp + round;
    const before = cpuMsOf(receiver.pid);
    const loaded = await putLoad({ port, authorization, part, sessions, events, since, connections });
    const serverCpuMs = cpuMsOf(receiver.pid) - before;
    if (round >= 0) {
      const server = {
        serverCpuUs: (serverCpuMs * 1_000) / events,
        serverBusy: serverCpuMs / loaded.wallMs,
      };
      measured.set(name, [...(measured.get(name) ?? []), { ...loaded, ...server }]);
    }
    return loaded.perSecond;
  };
  const figures = await interleave(
    [...receivers].map(([name, receiver]) => ({
      name,
      run: (round) => runRound(name, receiver, round),
    })),
    { rounds, warmUp },
  );
  console.log(`${connections} connections\n${formatFigures(figures, "requests/s", ["bare", against], 0)}`);
  for (const [name, list] of measured) {
    const middle = (pick: (round: Round) => number, digits = 2) => median(list.map(pick)).toFixed(digits);
    console.log(
      `${name}: p50 ${middle((r) => r.p50Ms)} ms, p99 ${middle((r) => r.p99Ms)} ms; CPU ${middle((r) => r.serverCpuUs, 1)} µs a request, ` +
        `busy ${middle((r) => r.serverBusy)} of a core (the load: ${middle((r) => r.cpuMs / r.wallMs)})`,
    );
  }
  return ratio(figures, "beckon", "bare");
}

process.exitCode = (await withFolder(measure)) ? 0 : 1;
