/**
 * Links and apps of two machines are killed at random while asks open and close. After each round both machines list the same, and in
 * the end both histories have every ask once. SEED=… repeats the choices.
 */
import { expect, test } from "bun:test";
import { createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { readAsks } from "../machines/same-history.ts";
import { createTwoMachines } from "../machines/two-machines.ts";
import { chooseSeed, createRandom } from "../random.ts";
import { mainSource } from "../repo.ts";
import { letTimePass, waitForValue, waitUntil } from "../wait-until.ts";

const two = forEachTest(createTwoMachines);
const rounds = Number(process.env.SOAK_ROUNDS ?? 15);
const quietMs = 90_000;
const sessions = ["a", "b", "c"];

type Machine = typeof two.laptop;

/** What a user sees of the sessions, in one order. Empty while the app does not answer. */
async function readList(machine: Machine): Promise<string[]> {
  const views = await machine.fetchSessions().catch(() => []);
  return views
    .map(({ sessionId, group, reachable, activityPhase, asks }) => {
      const open = asks.map(({ id, kind, summary, openedAt, answerable }) => ({
        id,
        kind,
        summary,
        openedAt,
        answerable,
      }));
      return JSON.stringify({ sessionId, group, reachable, activityPhase, open });
    })
    .sort();
}

/** Sends an event as an agent does: it is spooled while the app is down. */
async function runHook(payload: object): Promise<void> {
  const hook = Bun.spawn([process.execPath, mainSource, "hook", "claude"], {
    env: two.devbox.env,
    stdin: new Blob([JSON.stringify(payload)]),
    stdout: "ignore",
  });
  expect(await hook.exited).toBe(0);
}

test(
  "after any faults both machines list the same, and their histories have every ask once",
  async () => {
    const seed = chooseSeed();
    console.log(`linked machines: seed ${seed} (SEED=${seed} repeats its choices)`);
    const random = createRandom(seed);
    const asked: string[] = [];
    /** The command that each session asks for now. */
    const open = new Map<string, string>();
    let laptop = { kill: (_: "SIGKILL") => {}, exited: Promise.resolve(0) };
    await two.start(() => two.devbox.startProcess());
    await two.laptop.stopApps();
    laptop = await two.laptop.startProcess();
    await two.waitForLink();

    /** Waits until it is written down there: an agent does not run a tool before its request is out. */
    async function openAsk(session: string): Promise<void> {
      const command = `make step-${String(asked.length).padStart(3, "0")}`;
      asked.push(`Bash: ${command}`);
      open.set(session, command);
      void two.ask(session, { command });
      const { devbox } = two;
      const isKept = () =>
        [devbox.readJournal(), devbox.read(devbox.paths.spool)].some((text) => text.includes(command));
      await waitUntil(isKept, quietMs, `${command} is asked`, 50);
    }

    async function closeAsk(session: string): Promise<void> {
      const command = open.get(session);
      open.delete(session);
      const input = { tool_name: "Bash", tool_input: { command } };
      await runHook({ session_id: session, hook_event_name: "PostToolUse", ...proj, ...input });
    }

    const faults: Readonly<Record<string, () => Promise<void>>> = {
      "kill the link": async () => two.killLink(),
      "cut the link": async () => {
        await two.cut();
        await work(random.between(1, 4));
        await two.mend();
      },
      "kill the app there": () => two.killApp(),
      "kill the app here": async () => {
        laptop.kill("SIGKILL");
        await laptop.exited;
        await work(random.between(0, 3));
        laptop = await two.laptop.startProcess();
      },
      "kill both apps": async () => {
        laptop.kill("SIGKILL");
        await laptop.exited;
        await two.killApp();
        await work(random.between(0, 2));
        laptop = await two.laptop.startProcess();
      },
    };

    async function work(steps: number): Promise<void> {
      for (let step = 0; step < steps; step++) {
        const session = random.pick(sessions);
        if (open.has(session)) await closeAsk(session);
        else await openAsk(session);
        await letTimePass(random.between(0, 300), "the pace of the user");
      }
    }

    for (const session of sessions) await runHook(createPromptEvent(session));
    for (let round = 0; round < rounds; round++) {
      const name = random.pick(Object.keys(faults));
      await work(random.between(1, 4));
      await faults[name]?.();
      await work(random.between(0, 3));
      const lists = await waitForValue(
        async () => ({ there: await readList(two.devbox), here: await readList(two.laptop) }),
        ({ there, here }) =>
          there.length === sessions.length &&
          there.filter((line) => line.includes('"make step')).length === open.size &&
          JSON.stringify(there) === JSON.stringify(here),
        quietMs,
      );
      console.log(`round ${round}: ${name}, ${open.size} open`);
      expect(lists.here).toEqual(lists.there);
    }

    for (const session of [...open.keys()]) await closeAsk(session);
    const texts = async (machine: Machine) => (await readAsks(machine)).map(({ text }) => text);
    for (const machine of [two.devbox, two.laptop])
      await waitForValue(
        () => readAsks(machine),
        (found) => found.length >= asked.length && found.every(({ how }) => how !== null),
        quietMs,
      );
    expect(await texts(two.devbox)).toEqual(asked);
    expect(await texts(two.laptop)).toEqual(asked);
    const [there, here] = await Promise.all([readAsks(two.devbox), readAsks(two.laptop)]);
    const differing = there.filter(({ at, waitedMs }, index) => {
      const other = here[index];
      return (
        Math.abs(at - (other?.at ?? 0)) > 100 || Math.abs((waitedMs ?? 0) - (other?.waitedMs ?? 0)) > 1_000
      );
    });
    expect(differing).toEqual([]);
  },
  20 * 60_000,
);
