/** doctor's test session is as visible as any other while it lasts, and leaves nothing behind. */
import { describe, expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import type { AgentEvent } from "../../src/core/session/event.ts";
import { createProbeId } from "../../src/core/session/probe.ts";
import { createIngest } from "../../src/ingest/index.ts";
import { runHook } from "../../src/setup/doctor/live.ts";
import { createStore } from "../../src/state/store.ts";
import type { Journal, JournalLine } from "../../src/storage/journal/index.ts";
import { computeTestAlerts, listReasons, listTitles, withAlerts } from "../core/view/alerts/fixture.ts";
import { ask, blocked, keyOf } from "../core/view/menu/fixture.ts";
import { waitUntil } from "../wait-until.ts";
import { createLiveTest } from "./doctor-fixture.ts";

const sessionId = createProbeId("1");
const liveTest = createLiveTest();
const probe = blocked("beckon doctor", 0, { sessionId });

describe("its alert", () => {
  test("says that it is a test, and makes no sound", () => {
    expect(computeTestAlerts([probe]).show).toMatchObject([
      { title: "beckon doctor: a test", body: "It goes away by itself.", sound: false, urgency: "urgent" },
    ]);
  });
  test("is not grouped with others, however many sessions wait", () => {
    const crowd = Array.from({ length: 12 }, (_, n) =>
      blocked(`p${n}`, 1_000 + n, { asks: [ask(1_000 + n)] }),
    );
    expect(listTitles(computeTestAlerts([...crowd, probe]))).toContain("beckon doctor: a test");
    const others = (sessions: typeof crowd) =>
      listTitles(computeTestAlerts(sessions)).filter((title) => !/test/.test(title));
    expect(others([...crowd, probe])).toEqual(others(crowd));
  });
  test("is shown at once, even if the user sees that terminal", () => {
    const config = withAlerts({ graceMs: 5_000 });
    const looking = new Set([keyOf(probe)]);
    expect(computeTestAlerts([probe], { config, visibleSessions: looking }).show).toHaveLength(1);
  });
  test("is suppressed like any other in quiet hours, with a reason", () => {
    const config = { ...defaultConfig, quietHours: { from: "14:00", to: "15:00" } };
    expect(listReasons(computeTestAlerts([probe], { config }))).toEqual(["quiet hours until 15:00"]);
    expect(listReasons(computeTestAlerts([probe], { doNotDisturb: true }))).toEqual([
      "your desktop is set to do not disturb",
    ]);
    expect(listReasons(computeTestAlerts([probe], { config: withAlerts({ blocked: false }) }))).toEqual([
      "alerts.blocked is off in the settings",
    ]);
  });
});

describe("its events", () => {
  const now = { at: 1_790_000_000_000, t: 500_000, boot: "b", host: null };
  function intakeAt(ageMs: number) {
    const counted: AgentEvent[] = [];
    const journal: Pick<Journal, "append"> = { append: async () => {} };
    const intake = createIngest({
      agents: new Map([["claude", claude]]),
      journal,
      mask: (text) => text,
      clock: () => now,
      defaultProvider: "claude",
      dispatch: (event) => void counted.push(event),
      onError: () => {},
    });
    const body = {
      provider: "claude",
      _meta: { id: "1", at: now.at - ageMs },
      payload: liveTest.createRequest(sessionId, "a test"),
    };
    return { counted, intake, body };
  }

  test("count while doctor waits for them", async () => {
    const { counted, intake, body } = intakeAt(200);
    expect(await intake.accept(JSON.stringify(body))).toEqual({ outcome: "accepted" });
    expect(counted).toHaveLength(1);
  });
  test("are ignored if they are late: from the spool, or after the app hung", async () => {
    const { counted, intake, body } = intakeAt(60_000);
    expect(await intake.accept(JSON.stringify(body))).toEqual({ outcome: "accepted" });
    expect(counted).toEqual([]);
  });
  test("are ignored when they come from the journal", () => {
    const { counted, intake, body } = intakeAt(60_000);
    const line = { id: "1", at: now.at - 60_000, t: now.t - 60_000, boot: "b", key: "k", body };
    intake.replay(line as unknown as JournalLine);
    expect(counted).toEqual([]);
  });
  test("leave no session after the end", async () => {
    const { counted, intake, body } = intakeAt(200);
    const end = { session_id: sessionId, hook_event_name: "SessionEnd", cwd: "/" };
    await intake.accept(JSON.stringify(body));
    await intake.accept(JSON.stringify({ ...body, _meta: { id: "2", at: now.at }, payload: end }));
    const store = createStore();
    const [asked, ended] = counted;
    if (!asked || !ended) throw new Error("not counted");
    store.dispatch(asked);
    expect(store.sessions(now)).toHaveLength(1);
    store.dispatch(ended);
    expect(store.sessions(now)).toEqual([]);
  });
});

describe("the command", () => {
  const hook = (command: string) => ({ command, env: { PATH: process.env.PATH } });

  test("gets the event on stdin, and its output and exit code are returned", async () => {
    const ran = await runHook(hook("cat; echo oops >&2; exit 3"), { a: 1 }, 5_000);
    expect(ran).toMatchObject({ code: 3, stdout: '{"a":1}', stderr: "oops" });
  });
  test("is killed with everything it started if it hangs", async () => {
    const ran = await runHook(hook("sleep 61.7 & sleep 61.7"), {}, 200);
    expect(ran.code).toBeNull();
    expect(ran.ms).toBeLessThan(5_000);
    await waitUntil(async () => (await Bun.$`pgrep -f ${"sleep 61[.]7"}`.nothrow().text()) === "", 5_000);
  });
  test("may ignore its event", async () => {
    expect(await runHook(hook("exit 0"), { long: "x".repeat(1_000_000) }, 5_000)).toMatchObject({ code: 0 });
  });
  test("that does not exist fails with a reason", async () => {
    const ran = await runHook({ command: ["/nowhere/beckon", "hook"], env: {} }, {}, 5_000);
    expect(ran.code).toBe(-1);
    expect(ran.stderr).toContain("ENOENT");
  });
});
