import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Ran } from "../hook/world.ts";
import { createFixture, type Fixture, until } from "./fixture.ts";
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

/** The forwarder's deadline is 1 s; the rest is for a busy machine to start and end a process. */
const maxHookMs = 1_600;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.destroy());

/** As an agent with asynchronous hooks does: the next is started before the last has ended. */
async function hookAll(payloads: readonly object[]): Promise<Ran[]> {
  const running: Promise<Ran>[] = [];
  for (const [n, payload] of payloads.entries()) {
    const session = (payload as { session_id: string }).session_id;
    running.push(fixture.hook({ ...payload, _meta: { id: `hang-${session}-${n}` } }));
    await Bun.sleep(40);
  }
  return Promise.all(running);
}

const shown = async () => {
  const sessions = await fixture.status();
  return ["asked", "asks", "late"].map((id) => summarizeSession(sessions, id));
};
const right = [doneSummary("make", "made"), waitingSummary("ls"), waitingSummary("rm")];

function expectOnce(): void {
  const lines = fixture.journal();
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
  const late = lines.filter(({ id }) => id.startsWith("hang-"));
  const bySpool = late.filter(({ spool }) => spool !== undefined).length;
  console.log(`hang: ${late.length - bySpool} events came by socket, ${bySpool} by spool`);
  expect(late).toHaveLength(8);
}

describe("the app hangs while hooks come", () => {
  beforeEach(async () => {
    await fixture.start();
    for (const payload of eventsUntilAsk("asked", "make")) await fixture.hook(payload);
    for (const payload of [started("asks"), prompted("asks", "run ls")]) await fixture.hook(payload);
  });
  const meanwhile = [
    ...eventsAfterAsk("asked", "make", "made"),
    toolStarted("asks", "ls"),
    permissionRequested("asks", "ls"),
    ...eventsUntilAsk("late", "rm"),
  ];
  const appPid = () => (JSON.parse(fixture.read("endpoint.json")) as { pid: number }).pid;

  async function hookWhileItHangs(): Promise<void> {
    process.kill(appPid(), "SIGSTOP");
    const rans = await hookAll(meanwhile);
    console.log(`hang: hooks took ${Math.max(...rans.map(({ ms }) => ms)).toFixed(0)} ms at most`);
    for (const { code, stdout, ms } of rans) {
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(ms).toBeLessThan(maxHookMs);
    }
    expect(fixture.read("spool.jsonl").split("\n")).toHaveLength(meanwhile.length + 1);
  }

  test("they return in a second, and once it goes on every event is there once and every session right", async () => {
    await hookWhileItHangs();
    process.kill(appPid(), "SIGCONT");
    await until(shown, (found) => Bun.deepEquals(found, right), 5_000);
    // The spool has been read by now, and brought nothing a second time.
    await until(
      () => fixture.read("spool.jsonl"),
      (text) => text === "",
      5_000,
    );
    expect(await shown()).toEqual(right);
    expectOnce();
  }, 20_000);

  test("killed while it hangs: the next one takes everything", async () => {
    await hookWhileItHangs();
    process.kill(appPid(), "SIGKILL");
    await until(
      () => fixture.tryToStart(),
      ({ app }) => app !== null,
      2_000,
    );
    expect(await shown()).toEqual(right);
    expectOnce();
  }, 20_000);
});
