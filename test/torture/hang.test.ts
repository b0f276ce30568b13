import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { CommandResult } from "../hook/harness.ts";
import { letTimePass, waitForValue } from "../wait-until.ts";
import { createFixture, type Fixture } from "./fixture.ts";
import {
  doneSummary,
  eventsAfterAsk,
  eventsUntilAsk,
  permissionRequested,
  prompted,
  started,
  summarizeSession,
  toolStarted,
  waitingSummary,
} from "./scenario.ts";

/** The forwarder has a deadline of 1 s. The rest is for a busy machine to start and end a process. */
const maxHookMs = 1_600;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.destroy());

/** Like an agent with asynchronous hooks: the next one starts before the last has ended. */
async function runHooks(payloads: readonly object[]): Promise<CommandResult[]> {
  const running: Promise<CommandResult>[] = [];
  for (const [n, payload] of payloads.entries()) {
    const session = (payload as { session_id: string }).session_id;
    running.push(fixture.hook({ ...payload, _meta: { id: `hang-${session}-${n}` } }));
    await letTimePass(40, "events of an agent have some time between them");
  }
  return Promise.all(running);
}

const summaries = async () => {
  const sessions = await fixture.status();
  return ["asked", "asks", "late"].map((id) => summarizeSession(sessions, id));
};
const expected = [doneSummary("make", "made"), waitingSummary("ls"), waitingSummary("rm")];

function expectEachEventOnce(): void {
  const lines = fixture.journal();
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
  const late = lines.filter(({ id }) => id.startsWith("hang-"));
  const bySpool = late.filter(({ spool }) => spool !== undefined).length;
  console.log(`hang: ${late.length - bySpool} events came by HTTP, ${bySpool} by spool`);
  expect(late).toHaveLength(8);
}

describe("while the app hangs", () => {
  beforeEach(async () => {
    await fixture.start();
    for (const payload of eventsUntilAsk("asked", "make")) await fixture.hook(payload);
    for (const payload of [started("asks"), prompted("asks", "run ls")]) await fixture.hook(payload);
  });
  const payloads = [
    ...eventsAfterAsk("asked", "make", "made"),
    toolStarted("asks", "ls"),
    permissionRequested("asks", "ls"),
    ...eventsUntilAsk("late", "rm"),
  ];
  const appPid = () => (JSON.parse(fixture.read("endpoint.json")) as { pid: number }).pid;

  async function runHooksWhileHanging(): Promise<void> {
    process.kill(appPid(), "SIGSTOP");
    const runs = await runHooks(payloads);
    console.log(`hang: hooks took ${Math.max(...runs.map(({ ms }) => ms)).toFixed(0)} ms at most`);
    for (const { code, stdout, ms } of runs) {
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(ms).toBeLessThan(maxHookMs);
    }
    expect(fixture.read("spool.jsonl").split("\n")).toHaveLength(payloads.length + 1);
  }

  test("hooks return within a second, and once it continues every event is there once", async () => {
    await runHooksWhileHanging();
    process.kill(appPid(), "SIGCONT");
    await waitForValue(summaries, (value) => Bun.deepEquals(value, expected), 5_000);
    // Once the spool is read, nothing may have been counted twice.
    await waitForValue(
      () => fixture.read("spool.jsonl"),
      (text) => text === "",
      5_000,
    );
    expect(await summaries()).toEqual(expected);
    expectEachEventOnce();
  }, 20_000);

  test("and is killed, the next start has every event once", async () => {
    await runHooksWhileHanging();
    process.kill(appPid(), "SIGKILL");
    await waitForValue(
      () => fixture.tryToStart(),
      ({ app }) => app !== null,
      2_000,
    );
    expect(await summaries()).toEqual(expected);
    expectEachEventOnce();
  }, 20_000);
});
