import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hourMs } from "../../src/core/timing.ts";
import { testWith } from "../needs.ts";
import { createFixture, type Fixture } from "./fixture.ts";
import {
  doneSummary,
  eventsAfterAsk,
  eventsUntilAsk,
  permissionRequested,
  prompted,
  started,
  stopped,
  summarizeSession,
  toolEnded,
  toolStarted,
  waitingSummary,
} from "./scenario.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.destroy());

describe("if the wall clock is set back an hour", () => {
  const findLibrary = () => globSync("/usr/lib/*/faketime/libfaketime.so.1")[0] ?? "";

  /** Sets the wall clock of every process that is started with this environment, also while it runs. */
  function createSettableClock() {
    const file = join(fixture.folder, "clock");
    const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`);
    set(0);
    const env = {
      LD_PRELOAD: findLibrary(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    return { set, env };
  }

  testWith("linux", "faketime")(
    "while app and hooks run, every phase is right",
    async () => {
      const clock = createSettableClock();
      const app = await fixture.start(clock.env);
      const runHooks = async (payloads: readonly object[]) => {
        for (const payload of payloads) await fixture.hook(payload, clock.env);
      };
      const summary = async (id: string) => summarizeSession(await fixture.status(), id);

      await runHooks(eventsUntilAsk("first", "make"));
      expect(await summary("first")).toEqual(waitingSummary("make"));
      const before = (await fixture.status())[0]?.lastEventAt ?? 0;
      clock.set(-3_600);
      await runHooks(eventsAfterAsk("first", "make", "made"));
      expect(await summary("first")).toEqual(doneSummary("make", "made"));
      // Proves that the clock was set at all.
      expect(((await fixture.status())[0]?.lastEventAt ?? 0) - before).toBeLessThan(-hourMs / 2);
      await runHooks(eventsUntilAsk("second", "ls"));
      expect(await summary("second")).toEqual(waitingSummary("ls"));
      await runHooks([prompted("first", "again")]);
      expect(await summary("first")).toMatchObject({ phase: "busy", turns: 2, prompt: "again" });
      clock.set(7_200);
      await runHooks([stopped("first", "done again")]);
      expect(await summary("first")).toMatchObject({ phase: "interactable", answer: "done again" });

      await app.kill();
      clock.set(-7_200);
      await fixture.start(clock.env);
      expect(await summary("first")).toMatchObject({ turns: 2, answer: "done again", asks: [] });
      expect(await summary("second")).toEqual(waitingSummary("ls"));
      await runHooks(eventsAfterAsk("second", "ls", "listed"));
      expect(await summary("second")).toEqual(doneSummary("ls", "listed"));
    },
    20_000,
  );
});

describe("stamps that cannot be right", () => {
  const post = async (payload: object, meta: object) =>
    expect((await fixture.post({ provider: "claude", _meta: meta, payload })).status).toBe(200);

  test("a wall time that jumps back an hour is corrected by the count since boot", async () => {
    await fixture.start();
    // What the forwarder of this machine sends, and what it would send an hour earlier.
    await fixture.hook(started("first"));
    const [{ boot, seq } = { boot: "", seq: 0 }] = fixture
      .journal()
      .map(({ body }) => (body as { _meta: { boot: string; seq: number } })._meta);
    const now = Date.now();
    const payloads = [
      prompted("first", "run make"),
      toolStarted("first", "make"),
      permissionRequested("first", "make"),
      toolEnded("first", "make"),
      stopped("first", "made"),
    ];
    const setBackMs = [0, 0, hourMs, hourMs, hourMs];
    for (const [n, payload] of payloads.entries()) {
      await post(payload, {
        id: `e${n}`,
        at: now + n * 10 - (setBackMs[n] ?? 0),
        seq: seq + (n + 1) * 10_000,
        boot,
      });
      if (n === 2) expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    }
    expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
  });

  const wrongTimes: [name: string, at: unknown][] = [
    ["in a hundred years", Date.now() + 100 * 365 * 24 * hourMs],
    ["at the end of time", 8.64e15],
    ["beyond it", 1e300],
    ["in 1970", 0],
    ["before 1970", -5],
    ["a text", "yesterday"],
    ["nothing", null],
    ["a list", [1]],
  ];
  test.each(wrongTimes)(
    "%s are replaced by the time of arrival, and later events still count",
    async (_, at) => {
      await fixture.start();
      for (const payload of eventsUntilAsk("first", "make")) await post(payload, { at });
      expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
      const [session] = await fixture.status();
      expect(Math.abs((session?.lastEventAt ?? 0) - Date.now())).toBeLessThan(60_000);
      for (const payload of eventsAfterAsk("first", "make", "made"))
        expect((await fixture.post(payload)).status).toBe(200);
      expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
    },
  );

  test("of another boot, or from the future, are not compared with those of this boot", async () => {
    const app = await fixture.start();
    const metas = [
      { seq: 1e15 },
      { seq: 5, boot: "another" },
      { seq: 1e15, boot: "another" },
      { seq: -1 },
      { seq: "x" },
    ];
    for (const [n, meta] of metas.entries())
      await post(prompted("first", String(n)), { ...meta, id: `e${n}` });
    expect(summarizeSession(await fixture.status(), "first")).toMatchObject({
      phase: "busy",
      turns: 5,
      prompt: "4",
    });
    await app.kill();
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toMatchObject({
      phase: "busy",
      turns: 5,
      prompt: "4",
    });
  });
});
