/** Two machines, and what can go wrong between them: nothing is lost, nothing counts twice. Apps, hooks and links are real. */
import { describe, expect, test } from "bun:test";
import { globSync } from "node:fs";
import { hourMs, minuteMs } from "../../src/core/timing.ts";
import { createAppFixture, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { waitForValue, waitUntil } from "../wait-until.ts";
import { readAsks } from "./same-history.ts";
import { createTwoMachines } from "./two-machines.ts";

const two = forEachTest(createTwoMachines);
const soonMs = 20_000;
const testMs = 60_000;

type Machine = typeof two.laptop;

const findAsk = async (machine: Machine) =>
  (await machine.fetchSession("s"))?.asks.find(({ answerable }) => answerable);

const answerFrom = (machine: Machine, body: object) =>
  machine.post({ by: "command line", ...body }, "/api/sessions/devbox%2Fclaude%3As/answer");

/** Runs the hook of a request, and waits until it can be answered here. `decision` is what the hook prints. */
async function ask(command: string) {
  await two.devbox.postHook(createPromptEvent("s"));
  const decision = two.ask("s", { command });
  await waitUntil(async () => (await findAsk(two.laptop)) !== undefined, soonMs);
  return { decision };
}

const startDevboxProcess = () => two.devbox.startProcess();

async function expectOneAsk(how: string): Promise<void> {
  for (const machine of [two.devbox, two.laptop])
    await waitForValue(
      () => readAsks(machine),
      (asks) => asks.length === 1 && asks[0]?.how === how,
      soonMs,
    );
}

describe("a request that is held on a linked machine", () => {
  test(
    "stays the same if the link's process is killed, and is answered once",
    async () => {
      await two.start();
      const { decision } = await ask("npm test");
      const before = await findAsk(two.laptop);
      two.killLink();
      await waitUntil(async () => (await two.laptop.fetchSession("s"))?.reachable === false, soonMs);
      await waitUntil(async () => (await findAsk(two.laptop)) !== undefined, soonMs);
      expect(await findAsk(two.laptop)).toEqual(before);
      expect((await answerFrom(two.laptop, { do: "allow", ask: before?.answerId })).status).toBe(200);
      expect(await decision).toContain('"behavior":"allow"');
      await expectOneAsk("allowed");
    },
    testMs,
  );

  test(
    "stays answerable if the app there is killed: the link starts it again",
    async () => {
      await two.start(startDevboxProcess);
      const { decision } = await ask("npm test");
      const killed = two.findApp();
      await two.killApp();
      await waitUntil(async () => (await two.laptop.fetchSession("s"))?.reachable === false, soonMs);
      // The hook finds the new app by itself.
      await waitUntil(async () => (await findAsk(two.laptop)) !== undefined, soonMs);
      expect(two.findApp()).not.toBe(killed);
      const found = await findAsk(two.laptop);
      expect((await answerFrom(two.laptop, { do: "allow", ask: found?.answerId })).status).toBe(200);
      expect(await decision).toContain('"behavior":"allow"');
      await expectOneAsk("allowed");
    },
    testMs,
  );

  test(
    "is there again if the app here is killed and started again",
    async () => {
      two.setMachines({ devbox: { command: two.link } });
      await two.devbox.start();
      const laptop = await two.laptop.startProcess();
      await two.waitForLink();
      const { decision } = await ask("npm test");
      laptop.kill("SIGKILL");
      await laptop.exited;
      await two.laptop.startProcess();
      await waitUntil(async () => (await findAsk(two.laptop)) !== undefined, soonMs);
      const found = await findAsk(two.laptop);
      expect((await answerFrom(two.laptop, { do: "deny", message: "no", ask: found?.answerId })).status).toBe(
        200,
      );
      expect(await decision).toContain('"behavior":"deny"');
      await expectOneAsk("denied");
    },
    testMs,
  );

  test(
    "is decided in its terminal while the link is lost, and is nothing that needs you afterwards",
    async () => {
      await two.start();
      const { decision } = await ask("npm test");
      await two.cut();
      const input = { tool_name: "Bash", tool_input: { command: "npm test" } };
      await two.devbox.postHook({ session_id: "s", hook_event_name: "PostToolUse", ...proj, ...input });
      // The hook is let go without a decision.
      expect(await decision).not.toContain("behavior");
      expect(await two.laptop.fetchSession("s")).toMatchObject({ group: "set_aside", reachable: false });
      await two.mend();
      expect(await two.laptop.fetchSession("s")).toMatchObject({ asks: [], reachable: true });
      await expectOneAsk("allowed");
    },
    testMs,
  );
});

test(
  "of two machines that follow one, both see a request, the first answer counts, and the other is told",
  async () => {
    const second = createAppFixture();
    try {
      await two.start();
      await Bun.write(second.paths.config, JSON.stringify({ machines: { devbox: { command: two.link } } }));
      await second.start();
      await waitUntil(
        async () => /"linked"/.test(await (await second.request("/api/machines")).text()),
        soonMs,
      );
      const { decision } = await ask("npm test");
      for (const machine of [two.laptop, second])
        await waitUntil(async () => (await findAsk(machine)) !== undefined, soonMs);
      const answers = await Promise.all(
        [two.laptop, second].map(async (machine) =>
          answerFrom(machine, { do: "allow", ask: (await findAsk(machine))?.answerId }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const refused = answers.find(({ status }) => status === 409);
      expect(await refused?.json()).toMatchObject({
        error: expect.stringContaining("gone: allowed (command line on"),
      });
      expect(await decision).toContain('"behavior":"allow"');
      for (const machine of [two.laptop, second])
        await waitUntil(async () => (await machine.fetchSession("s"))?.asks.length === 0, soonMs);
      await waitForValue(
        () => readAsks(second),
        (asks) => asks.length === 1 && asks[0]?.how === "allowed",
        soonMs,
      );
      await expectOneAsk("allowed");
    } finally {
      await second.destroy();
    }
  },
  testMs,
);

test(
  "a machine is linked under one name, and never to itself: nothing is listed twice",
  async () => {
    const own = Object.entries(two.laptop.env).map(([name, value]) => `${name}=${value}`);
    const toItself = ["env", "-i", ...own, ...two.link.slice(-3)];
    two.setMachines({
      devbox: { command: two.link },
      again: { command: ["sh", "-c", 'sleep 1; exec "$@"', "sh", ...two.link] },
      itself: { command: toItself },
    });
    await two.devbox.start();
    await two.laptop.start();
    await two.laptop.postHook(createPromptEvent("own"));
    await two.devbox.postHook(createPromptEvent("s"));
    const reports = await waitForValue(
      () => two.report(),
      (found) => found.filter(({ problem }) => problem !== null).length === 2,
      soonMs,
    );
    const linked = reports.find(({ state }) => state === "linked")?.name;
    const problems = reports.map(({ problem }) => problem).filter((problem) => problem !== null);
    expect(problems.sort()).toEqual([`it is linked as ${linked} already`, "it is this machine itself"]);
    expect((await two.laptop.fetchSessions()).map(({ sessionId }) => sessionId).sort()).toEqual(["own", "s"]);
  },
  testMs,
);

testWith("linux", "faketime")(
  "of a machine whose clock is two hours off, every time is this machine's, also after a restart",
  async () => {
    const library = globSync("/usr/lib/*/faketime/libfaketime.so.1")[0] ?? "";
    const clock = { LD_PRELOAD: library, FAKETIME: "+7200", FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    await two.start(() => two.devbox.startProcess(clock));
    const started = Date.now();
    await two.devbox.postHook(createPromptEvent("s"));
    await two.devbox.postHook({
      session_id: "s",
      hook_event_name: "PermissionRequest",
      ...proj,
      tool_name: "Bash",
      tool_input: { command: "npm test" },
    });
    const readAsk = async () => (await two.laptop.fetchSession("s"))?.asks[0];
    await waitUntil(async () => (await readAsk()) !== undefined, soonMs);
    // Proves that the clock is off at all.
    const there = (await two.devbox.fetchSession("s"))?.asks[0];
    expect((there?.openedAt ?? 0) - started).toBeGreaterThan(2 * hourMs - minuteMs);
    const first = await readAsk();
    expect(Math.abs((first?.openedAt ?? 0) - started)).toBeLessThan(minuteMs);
    await waitForValue(
      () => readAsks(two.laptop),
      (asks) => asks.length === 1,
      soonMs,
    );
    await two.laptop.stopApps();
    await two.laptop.start();
    await two.waitForLink();
    // The same moment, to the millisecond: it names the ask and its alert.
    expect((await readAsk())?.openedAt).toBe(first?.openedAt as number);
    const input = { tool_name: "Bash", tool_input: { command: "npm test" } };
    await two.devbox.postHook({ session_id: "s", hook_event_name: "PostToolUse", ...proj, ...input });
    await expectOneAsk("allowed");
    const [recorded] = await readAsks(two.laptop);
    expect(recorded?.waitedMs).toBeLessThan(minuteMs);
  },
  testMs,
);
