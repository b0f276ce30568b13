/**
 * Three machines of a fleet ask for something again and again while the server, the cables and the machines fail. After each fault all of
 * them list the same, and in the end each history has every ask once, in order. No hook waits for any of it.
 */
import { expect } from "bun:test";
import { createPromptEvent, proj } from "../../app-fixture.ts";
import { percentile } from "../../bench/rounds.ts";
import type { Random } from "../../random.ts";
import { letTimePass, waitForValue, waitUntil } from "../../wait-until.ts";
import { readAsks } from "../same-history.ts";
import { createFleetLab, type FleetLab } from "./fleet-lab.ts";

const names = ["devbox", "laptop", "desktop"] as const;
type Name = (typeof names)[number];

const quietMs = 90_000;
/** Less than an agent would notice; a machine that runs everything else at once needs much of it. */
const hookMs = 5_000;

export const faultNames = [
  "kill",
  "hang",
  "empty",
  "full",
  "trim",
  "cut",
  "kill a machine",
  "nothing",
] as const;
export type FaultName = (typeof faultNames)[number];

interface Asked {
  readonly owner: Name;
  readonly command: string;
  isOpen: boolean;
}

export async function runFaultRounds(faults: readonly FaultName[], random: Random): Promise<void> {
  const lab = await createFleetLab<Name>(names);
  try {
    const rounds = await openRounds(lab, random);
    for (const fault of faults) {
      await rounds.run(fault);
      console.log(`fleet: ${fault}: ${rounds.count()} asks so far`);
    }
    await rounds.checkHistories();
    console.log(`fleet: ${rounds.describeHooks()}`);
  } finally {
    await lab.destroy();
  }
}

async function openRounds(lab: FleetLab<Name>, random: Random) {
  const processes = new Map<Name, Bun.Subprocess>();
  const asked: Asked[] = [];
  const down = new Set<Name>();
  const hookTimes: number[] = [];

  const start = async (name: Name) => {
    processes.set(name, await lab.get(name).startProcess());
    down.delete(name);
  };
  for (const name of names) await start(name);
  await lab.waitForLinks(names, names, quietMs);
  for (const name of names) await lab.get(name).postHook(createPromptEvent(`of-${name}`));

  /** An event of the agent, which must not wait for the fleet. */
  async function post(owner: Name, hook_event_name: string, command: string): Promise<void> {
    const tool = { tool_name: "Bash", tool_input: { command } };
    const started = performance.now();
    const response = await lab
      .get(owner)
      .postHook({ session_id: `of-${owner}`, hook_event_name, ...proj, ...tool });
    const tookMs = performance.now() - started;
    expect(response.status).toBe(200);
    expect(tookMs).toBeLessThan(hookMs);
    hookTimes.push(tookMs);
  }

  async function step(): Promise<void> {
    const owner = random.pick(names.filter((name) => !down.has(name)));
    const open = asked.find((ask) => ask.owner === owner && ask.isOpen);
    if (open) {
      open.isOpen = false;
      await post(owner, "PostToolUse", open.command);
    } else {
      const command = `make step-${String(asked.length).padStart(4, "0")}`;
      asked.push({ owner, command, isOpen: true });
      await post(owner, "PermissionRequest", command);
    }
    await letTimePass(random.between(0, 80), "the pace of the user");
  }

  async function work(steps: number): Promise<void> {
    for (let done = 0; done < steps; done++) await step();
  }

  /** What a user sees of the sessions of one machine, on another. */
  async function readList(seen: Name, owner: Name): Promise<string> {
    const views = await lab.get(seen).fetchSessions();
    const view = views.find(({ sessionId }) => sessionId === `of-${owner}`);
    const asks = view?.asks.map(({ id, kind, summary, openedAt }) => ({ id, kind, summary, openedAt }));
    return JSON.stringify({ group: view?.group, reachable: view?.reachable, asks });
  }

  const ways: Readonly<Record<FaultName, () => Promise<void>>> = {
    async kill() {
      await lab.server.stop();
      await work(6);
      await lab.server.start();
    },
    async hang() {
      lab.server.signal("SIGSTOP");
      await work(6);
      await waitUntil(
        async () => (await Promise.all(names.map(lab.fetchFleet))).some((report) => report?.problem),
        quietMs,
        "somebody has noticed that the server hangs",
        100,
      );
      lab.server.signal("SIGCONT");
    },
    async empty() {
      await lab.server.stop();
      await work(4);
      await lab.server.start();
      await lab.send("FLUSHALL");
    },
    async full() {
      await lab.send("CONFIG", "SET", "maxmemory", "1mb");
      await work(6);
      await lab.send("CONFIG", "SET", "maxmemory", "0");
    },
    async trim() {
      const name = random.pick(names);
      lab.cut(name);
      await work(6);
      const { id } = lab.readRecord(name);
      await lab.send("XTRIM", `beckon:{${id}}:log`, "MAXLEN", "1");
      lab.mend(name);
    },
    async cut() {
      const name = random.pick(names);
      lab.cut(name);
      await work(6);
      lab.mend(name);
    },
    async "kill a machine"() {
      const name = random.pick(names);
      const killed = processes.get(name);
      killed?.kill("SIGKILL");
      down.add(name);
      await killed?.exited;
      await work(4);
      await start(name);
    },
    async nothing() {
      await work(6);
    },
  };

  return {
    count: () => asked.length,
    /** How long the hooks waited, so that a change of it is seen before it is felt. */
    describeHooks() {
      const [half, most, all] = [0.5, 0.99, 1].map((part) => percentile(hookTimes, part).toFixed(1));
      return `${hookTimes.length} hooks: p50 ${half} ms, p99 ${most} ms, longest ${all} ms`;
    },
    async run(fault: FaultName): Promise<void> {
      await work(3);
      await ways[fault]();
      await work(2);
      for (const owner of names)
        for (const seen of names)
          if (seen !== owner)
            await waitForValue(
              async () => [await readList(owner, owner), await readList(seen, owner)],
              ([there, here]) => there === here && there?.includes('"reachable":true') === true,
              quietMs,
            ).catch((error) => {
              throw new Error(`after ${fault}, ${seen} does not list what ${owner} does: ${error.message}`);
            });
    },
    async checkHistories(): Promise<void> {
      for (const ask of asked.filter(({ isOpen }) => isOpen))
        await post(ask.owner, "PostToolUse", ask.command);
      for (const seen of names) {
        const wanted = asked.map(({ command }) => `Bash: ${command}`).sort();
        const found = await waitForValue(
          async () => (await readAsks(lab.get(seen))).map(({ text, how }) => (how === null ? "" : text)),
          (texts) => JSON.stringify(texts) === JSON.stringify(wanted),
          30_000,
        ).catch(async () => (await readAsks(lab.get(seen))).map(({ text }) => text));
        expect({ seen, asks: found }).toEqual({ seen, asks: wanted });
        // The names of the asks count up.
        for (const owner of names) {
          const own = (await readAsks(lab.get(seen))).filter(({ sessionId }) => sessionId === `of-${owner}`);
          expect(own.map(({ at }) => at)).toEqual(own.map(({ at }) => at).sort((a, b) => a - b));
        }
      }
    },
  };
}
