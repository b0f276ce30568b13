/**
 * Three machines of a fleet, each in a network of its own where that is possible, ask for something again and again while the server, the
 * cables and the machines fail. After each fault all of them list the same, and the alerts and the tray of each show what waits and nothing
 * else; nobody is alerted twice, in another order, or of what is over. In the end each history has every ask once, in order. No hook waits
 * for any of it.
 */
import { expect } from "bun:test";
import { createPromptEvent, proj } from "../../app-fixture.ts";
import { percentile } from "../../bench/rounds.ts";
import { hasAll } from "../../needs.ts";
import type { Random } from "../../random.ts";
import { letTimePass, waitForValue, waitUntil } from "../../wait-until.ts";
import { readAsks } from "../same-history.ts";
import { createFleetLab, type FleetLab } from "./fleet-lab.ts";
import { networkNeeds, openNetworks } from "./networks.ts";
import { openScreen, type Screen } from "./screen.ts";

const names = ["devbox", "laptop", "desktop"] as const;
type Name = (typeof names)[number];

const quietMs = 90_000;
/** Less than an agent would notice; a machine that runs everything else at once needs much of it. */
const hookMs = 5_000;
/** An alert can be on its way to the screen while its ask ends. */
const alertMs = 3_000;
/** Which alerts are shown is in a file within 200 ms; a busy machine takes longer. */
const savedMs = 1_000;
const longCutMs = 120_000;
export const faultNeeds = ["redis-server", "dbus-daemon", "setpriv"] as const;

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
export type FaultName = (typeof faultNames)[number] | "cut for minutes";

interface Asked {
  readonly owner: Name;
  readonly command: string;
  readonly openedAt: number;
  /** null while it is open. */
  closedAt: number | null;
}

export async function runFaultRounds(faults: readonly FaultName[], random: Random): Promise<void> {
  const networks = hasAll(networkNeeds) ? await openNetworks() : null;
  const lab = await createFleetLab<Name>(names, { networks });
  const screens = new Map<Name, Screen>();
  for (const name of names) screens.set(name, await openScreen());
  try {
    const rounds = await openRounds(lab, screens, random);
    for (const fault of faults) {
      await rounds.run(fault);
      console.log(`fleet: ${fault}: ${rounds.count()} asks so far`);
    }
    await rounds.checkHistories();
    console.log(`fleet: ${rounds.describeHooks()}`);
  } finally {
    await lab.destroy();
    await Promise.all([...screens.values()].map((screen) => screen.stop()));
    await networks?.close();
  }
}

async function openRounds(lab: FleetLab<Name>, screens: ReadonlyMap<Name, Screen>, random: Random) {
  const processes = new Map<Name, Bun.Subprocess>();
  const asked: Asked[] = [];
  const down = new Set<Name>();
  const hookTimes: number[] = [];
  const witnesses = new Map([...screens].map(([name, screen]) => [name, watchAlerts(name, screen, asked)]));

  const start = async (name: Name) => {
    processes.set(name, await lab.get(name).startProcess(screens.get(name)?.env));
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
    const open = asked.find((ask) => ask.owner === owner && ask.closedAt === null);
    if (open) {
      open.closedAt = Date.now();
      await post(owner, "PostToolUse", open.command);
    } else {
      const command = `make step-${String(asked.length).padStart(4, "0")}`;
      asked.push({ owner, command, openedAt: Date.now(), closedAt: null });
      await post(owner, "PermissionRequest", command);
    }
    await letTimePass(random.between(0, 80), "the pace of the user");
  }

  async function work(steps: number): Promise<void> {
    for (let done = 0; done < steps; done++) await step();
  }

  async function workFor(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (Date.now() < end) {
      await step();
      await letTimePass(random.between(200, 3_000), "the pace of the user");
    }
  }

  /** Everybody is told of what waits, wherever it does: nobody is at any of the machines. */
  async function checkScreens(fault: FaultName): Promise<void> {
    const open = asked.filter(({ closedAt }) => closedAt === null).map(({ command }) => command);
    for (const [name, witness] of witnesses) {
      await waitForValue(
        async () => JSON.stringify(await witness.read()),
        (seen) => seen === JSON.stringify({ alerts: open, menu: open }),
        quietMs,
      ).catch((error) => {
        throw new Error(`after ${fault}, ${open.join(" and ")} wait, and ${name} shows: ${error.message}`);
      });
      expect({ fault, name, wrong: witness.findWrong() }).toEqual({ fault, name, wrong: [] });
    }
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
      await lab.cut(name);
      await work(6);
      const { id } = lab.readRecord(name);
      await lab.send("XTRIM", `beckon:{${id}}:log`, "MAXLEN", "1");
      await lab.mend(name);
    },
    async cut() {
      const name = random.pick(names);
      await lab.cut(name);
      await work(6);
      await lab.mend(name);
    },
    async "cut for minutes"() {
      const name = random.pick(names);
      await lab.cut(name);
      await workFor(longCutMs);
      await lab.mend(name);
    },
    async "kill a machine"() {
      const name = random.pick(names);
      const killed = processes.get(name);
      killed?.kill("SIGKILL");
      down.add(name);
      await killed?.exited;
      witnesses.get(name)?.onKilled();
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
      await checkScreens(fault);
    },
    async checkHistories(): Promise<void> {
      for (const ask of asked.filter(({ closedAt }) => closedAt === null))
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

const commandOf = ({ title, body }: { readonly title: string; readonly body: string }): string =>
  /make step-\d+/.exec(`${title}\n${body}`)?.[0] ?? `${title}: ${body}`;

/** What somebody sees at the machine. */
function watchAlerts(name: Name, { alerts, readMenu, forgetTray }: Screen, asked: readonly Asked[]) {
  /** Of alerts that were on the screen when beckon was killed there: it shows them again. */
  const again = new Set<string>();
  const wrong: string[] = [];
  const shown = new Map<Name, string[]>();
  let count = 0;

  function take(): void {
    for (const alert of alerts.received.slice(count)) {
      count++;
      // It changes one that is on the screen.
      if (alert.replaces !== 0) continue;
      const command = commandOf(alert);
      const ask = asked.find((each) => each.command === command);
      if (!ask) wrong.push(`an alert of nothing: ${command}`);
      if (!ask || again.delete(command)) continue;
      const earlier = shown.get(ask.owner) ?? [];
      shown.set(ask.owner, [...earlier, command]);
      if (earlier.includes(command)) wrong.push(`${command} twice`);
      else if (command < (earlier.at(-1) ?? "")) wrong.push(`${command} after ${earlier.at(-1)}`);
      if (ask.closedAt !== null && alert.at > ask.closedAt + alertMs)
        wrong.push(`${command}, ${alert.at - ask.closedAt} ms after its end`);
    }
  }

  return {
    /** What waits by the alerts that are on the screen, and by the menu of the tray. */
    async read() {
      take();
      const menu = (await readMenu()).filter((line) => line.startsWith("●"));
      return {
        alerts: [...alerts.onScreen.values()].map(commandOf).sort(),
        menu: menu.map((line) => commandOf({ title: line, body: "" })).sort(),
      };
    },
    onKilled(): void {
      take();
      for (const [id, alert] of alerts.onScreen) {
        again.add(commandOf(alert));
        // The next beckon does not know of it: one more stays on the screen until the user closes it.
        if (alert.at > Date.now() - savedMs) alerts.onScreen.delete(id);
      }
      forgetTray();
    },
    findWrong: (): readonly string[] => wrong.map((text) => `${name}: ${text}`),
  };
}
