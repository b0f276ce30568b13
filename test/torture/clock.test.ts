import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

const hourMs = 3_600_000;

describe("the clock is set back an hour", () => {
  const library = () => globSync("/usr/lib/*/faketime/libfaketime.so.1")[0] ?? "";

  /** Moves the wall clock of every process that is started with this, now and while it runs. */
  function movableClock() {
    const file = join(fixture.folder, "clock");
    const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`);
    set(0);
    const env = {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    return { set, env };
  }

  testWith("linux", "faketime")(
    "app and hooks see it in the middle of a story: every phase is right",
    async () => {
      const clock = movableClock();
      const app = await fixture.start(clock.env);
      const tell = async (payloads: readonly object[]) => {
        for (const payload of payloads) await fixture.hook(payload, clock.env);
      };
      const shown = async (id: string) => summarizeSession(await fixture.status(), id);

      await tell(eventsUntilAsk("first", "make"));
      expect(await shown("first")).toEqual(waitingSummary("make"));
      const before = (await fixture.status())[0]?.lastEventAt ?? 0;
      clock.set(-3_600);
      await tell(eventsAfterAsk("first", "make", "made"));
      expect(await shown("first")).toEqual(doneSummary("make", "made"));
      // Or nothing was moved at all.
      expect(((await fixture.status())[0]?.lastEventAt ?? 0) - before).toBeLessThan(-hourMs / 2);
      await tell(eventsUntilAsk("second", "ls"));
      expect(await shown("second")).toEqual(waitingSummary("ls"));
      await tell([prompted("first", "again")]);
      expect(await shown("first")).toMatchObject({ phase: "busy", turns: 2, prompt: "again" });
      clock.set(7_200);
      await tell([stopped("first", "done again")]);
      expect(await shown("first")).toMatchObject({ phase: "interactable", answer: "done again" });

      await app.kill();
      clock.set(-7_200);
      await fixture.start(clock.env);
      expect(await shown("first")).toMatchObject({ turns: 2, answer: "done again", asks: [] });
      expect(await shown("second")).toEqual(waitingSummary("ls"));
      await tell(eventsAfterAsk("second", "ls", "listed"));
      expect(await shown("second")).toEqual(doneSummary("ls", "listed"));
    },
    20_000,
  );
});

describe("stamps that cannot be believed", () => {
  const tell = async (payload: object, meta: object) =>
    expect((await fixture.post({ provider: "claude", _meta: meta, payload })).status).toBe(200);

  test("the wall time jumps back an hour while the count since boot goes on: the count decides", async () => {
    await fixture.start();
    // What the forwarder of this machine says, and what it would say an hour earlier.
    await fixture.hook(started("first"));
    const [{ boot, seq } = { boot: "", seq: 0 }] = fixture
      .journal()
      .map(({ body }) => (body as { _meta: { boot: string; seq: number } })._meta);
    const now = Date.now();
    const story = [
      prompted("first", "run make"),
      toolStarted("first", "make"),
      permissionRequested("first", "make"),
      toolEnded("first", "make"),
      stopped("first", "made"),
    ];
    const hour = [0, 0, hourMs, hourMs, hourMs];
    for (const [n, payload] of story.entries()) {
      await tell(payload, {
        id: `e${n}`,
        at: now + n * 10 - (hour[n] ?? 0),
        seq: seq + (n + 1) * 10_000,
        boot,
      });
      if (n === 2) expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    }
    expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
  });

  const far: [what: string, at: unknown][] = [
    ["in a hundred years", Date.now() + 100 * 365 * 24 * hourMs],
    ["at the end of time", 8.64e15],
    ["beyond it", 1e300],
    ["before 1970", -5],
    ["a text", "yesterday"],
    ["nothing", null],
    ["a list", [1]],
  ];
  test.each(far)("%s: taken at the time it came, and what follows still counts", async (_what, at) => {
    await fixture.start();
    for (const payload of eventsUntilAsk("first", "make")) await tell(payload, { at });
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    const [session] = await fixture.status();
    expect(Math.abs((session?.lastEventAt ?? 0) - Date.now())).toBeLessThan(60_000);
    for (const payload of eventsAfterAsk("first", "make", "made"))
      expect((await fixture.post(payload)).status).toBe(200);
    expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
  });

  test("counts of another boot, or from the future, are not compared with ours", async () => {
    const app = await fixture.start();
    const metas = [
      { seq: 1e15 },
      { seq: 5, boot: "another" },
      { seq: 1e15, boot: "another" },
      { seq: -1 },
      { seq: "x" },
    ];
    for (const [n, meta] of metas.entries())
      await tell(prompted("first", String(n)), { ...meta, id: `e${n}` });
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
