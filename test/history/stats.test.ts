/** Statistics, lanes and retention of days that were computed by hand. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import type { AskEnding } from "../../src/core/answers/ending.ts";
import { firstGrowingIdAt } from "../../src/core/growing-ids.ts";
import type { Lanes, SpanState, Stats } from "../../src/core/interfaces/wire.ts";
import { dayMs, hourMs, minuteMs } from "../../src/core/timing.ts";
import type { SessionRow, StateRow } from "../../src/history/rows.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { createHistoryFixture, createTestAsk, createTestRow, type HistoryFixture } from "./fixture.ts";

afterAll(removeTemporaryFolders);

const midnight = new Date(2026, 10, 17).getTime();
/** Of that day: 9.5 is half past nine. */
const hour = (hours: number) => midnight + hours * hourMs;
const now = hour(12);

const session = (name: string, project: string, more: Partial<SessionRow> = {}): SessionRow => {
  const common = { project, cwd: `/p/${project}`, branch: "main", startedAt: hour(-2), lastAt: hour(11) };
  return createTestRow(name, { ...common, ...more });
};
const shop = session("a", "shop");
const site = session("b", "site");

const span = (row: SessionRow, state: SpanState | null, at: number): StateRow => ({
  kind: "span",
  session: row,
  state,
  at,
});

/** A session that waits from one time to another; `to` is null while it does. */
function wait(row: SessionRow, from: number, to: number | null, how: AskEnding | null): StateRow[] {
  const id = `${row.key}#${from}:ask`;
  const opened = createTestAsk(id, row, from, "ls");
  const rows = [opened, span(row, "waiting", from)];
  if (to === null || how === null) return rows;
  const waitedMs = to - from;
  return [
    ...rows,
    { ...opened, kind: "ask-closed", at: to, waitedMs },
    { ...opened, kind: "ask-ended", how, where: "terminal" },
    span(row, "working", to),
  ];
}

const day: readonly StateRow[] = [
  span(shop, "working", hour(8)),
  ...wait(shop, hour(9), hour(9) + 10 * minuteMs, "allowed"),
  ...wait(shop, now - 10 * minuteMs, null, null),
  span(site, "working", hour(-1)),
  ...wait(site, hour(0) - 10 * minuteMs, hour(0) + 20 * minuteMs, "denied"),
  ...wait(site, hour(10), hour(10) + 5, "rule"),
  ...wait(site, hour(10.5), hour(10.5) + minuteMs, "dismissed"),
  span(site, "ready", hour(11)),
  { kind: "session", session: { ...shop, tokens: 1_000, costMicros: 2_000_000 } },
  { kind: "session", session: { ...shop, tokens: 1_500, costMicros: 3_000_000 } },
  { kind: "session", session: { ...site, tokens: 500, costMicros: null } },
];

let history: HistoryFixture;
beforeAll(async () => {
  history = createHistoryFixture(temporaryFolder(), { now: () => now });
  await history.open();
  await history.write(day);
});
afterAll(() => history.close());

describe("the statistics of a day", () => {
  test("today", async () => {
    const { today } = await history.ask<Stats>({ name: "computeStats", days: 2 });
    expect(today).toEqual({
      // 10 + 10 minutes in shop; 20 minutes after midnight, 5 ms and 1 minute in site.
      waitedMs: 41 * minuteMs + 5,
      // 9:00 and 11:50 in shop, 10:30 in site. The rule's does not count.
      asks: 3,
      // Of 10 and 30 minutes.
      medianMs: 20 * minuteMs,
      tokens: 2_000,
      // The part whose price is known.
      costUsd: 3,
      isCostPartial: true,
      longest: { ms: 20 * minuteMs, from: hour(0), key: "claude:b", project: "site", open: false },
      byRules: 1,
    });
  });

  test("each day, the one before with the part before midnight", async () => {
    const { days } = await history.ask<Stats>({ name: "computeStats", days: 3 });
    expect(days.map(({ date, waitedMs, asks, medianMs }) => ({ date, waitedMs, asks, medianMs }))).toEqual([
      { date: "2026-11-15", waitedMs: 0, asks: 0, medianMs: null },
      { date: "2026-11-16", waitedMs: 10 * minuteMs, asks: 1, medianMs: null },
      { date: "2026-11-17", waitedMs: 41 * minuteMs + 5, asks: 3, medianMs: 20 * minuteMs },
    ]);
  });

  test("each project, the longest wait first", async () => {
    const { projects } = await history.ask<Stats>({ name: "computeStats", days: 2 });
    expect(projects).toEqual([
      {
        project: "site",
        waitedMs: 31 * minuteMs + 5,
        todayMs: 21 * minuteMs + 5,
        asks: 2,
        medianMs: 30 * minuteMs,
        tokens: 500,
        costUsd: null,
      },
      {
        project: "shop",
        waitedMs: 20 * minuteMs,
        todayMs: 20 * minuteMs,
        asks: 2,
        medianMs: 10 * minuteMs,
        tokens: 1_500,
        costUsd: 3,
      },
    ]);
  });
});

test("the lanes of a morning", async () => {
  const call = { name: "computeLanes", from: hour(8), to: now } as const;
  const { lanes, anyWaiting } = await history.ask<Lanes>(call);
  expect(
    lanes.map(({ project, waitedMs, spans }) => ({
      project,
      waitedMs,
      states: spans.map(({ state }) => state),
    })),
  ).toEqual([
    {
      project: "site",
      waitedMs: minuteMs + 5,
      states: ["working", "waiting", "working", "waiting", "working", "ready"],
    },
    { project: "shop", waitedMs: 20 * minuteMs, states: ["working", "waiting", "working", "waiting"] },
  ]);
  expect(lanes[1]?.spans.at(-1)).toEqual({ state: "waiting", from: now - 10 * minuteMs, to: null });
  expect(anyWaiting).toEqual([
    { from: hour(9), to: hour(9) + 10 * minuteMs },
    { from: hour(10), to: hour(10) + 5 },
    { from: hour(10.5), to: hour(10.5) + minuteMs },
    { from: now - 10 * minuteMs, to: null },
  ]);
});

test("waits that overlap count once in anyWaiting, and each in the sum", async () => {
  const own = createHistoryFixture(temporaryFolder(), { now: () => now });
  await own.open();
  await own.write([
    ...wait(shop, hour(9), hour(9) + 10 * minuteMs, "allowed"),
    ...wait(site, hour(9) + 5 * minuteMs, hour(9) + 12 * minuteMs, "allowed"),
  ]);
  const { anyWaiting } = await own.ask<Lanes>({ name: "computeLanes", from: hour(8), to: now });
  expect(anyWaiting).toEqual([{ from: hour(9), to: hour(9) + 12 * minuteMs }]);
  const { today } = await own.ask<Stats>({ name: "computeStats", days: 1 });
  expect(today.waitedMs).toBe(17 * minuteMs);
  await own.close();
});

test("what was open at a kill and is not any more ends when the session was last seen", async () => {
  const folder = temporaryFolder();
  const before = createHistoryFixture(folder, { now: () => now });
  await before.open();
  await before.write(wait({ ...shop, lastAt: hour(9.5) }, hour(9), null, null));
  await before.close();
  const after = createHistoryFixture(folder, { now: () => now });
  await after.open();
  expect((await after.findItems({ kind: "permission" })).items).toMatchObject([
    { how: "dismissed", where: null, waitedMs: 30 * minuteMs },
  ]);
  const { lanes } = await after.ask<Lanes>({ name: "computeLanes", from: hour(8), to: now });
  expect(lanes[0]?.spans).toEqual([{ state: "waiting", from: hour(9), to: hour(9.5) }]);
  await after.close();
});

describe("retention", () => {
  const prompt = (text: string) => ({
    session_id: "s1",
    hook_event_name: "UserPromptSubmit",
    prompt: text,
    cwd: "/p/shop",
  });

  test("what is older than the days is removed, and cannot be found", async () => {
    const own = createHistoryFixture(temporaryFolder(), { now: () => now, startAt: now - 40 * dayMs });
    await own.append(prompt("old elephant"));
    await own.open();
    expect((await own.findItems({ q: "elephant" })).total).toBe(1);
    await own.setRetention({ days: 30, maxMb: 100 });
    expect((await own.findItems()).total).toBe(0);
    expect((await own.findItems({ q: "elephant" })).total).toBe(0);
    for (const table of ["normalized_events", "items", "turns", "sessions", "session_lifecycle_events"])
      expect(own.read<{ n: number }>(`SELECT count(*) AS n FROM ${table}`), table).toEqual([{ n: 0 }]);
    await own.close();
  });

  test("of the changes that a reader may have missed, only those that are older are removed", async () => {
    const own = createHistoryFixture(temporaryFolder(), { now: () => now });
    await own.open();
    const change = (at: number) =>
      ({ kind: "change", seq: firstGrowingIdAt(at), event: "e", data: "{}" }) as const;
    await own.write([change(now - 40 * dayMs), change(now - dayMs)]);
    await own.setRetention({ days: 30, maxMb: 100 });
    expect(own.read("SELECT seq FROM changes WHERE event = 'e'")).toEqual([
      { seq: firstGrowingIdAt(now - dayMs) },
    ]);
    await own.close();
  });

  test("a history that is too large loses its oldest part, and the file shrinks", async () => {
    const own = createHistoryFixture(temporaryFolder(), { now: () => now, startAt: now - dayMs });
    const count = 6_000;
    await own.append(...Array.from({ length: count }, (_, n) => prompt(`${n} ${"some words ".repeat(100)}`)));
    await own.open();
    await own.setRetention({ days: 365, maxMb: 1_000 });
    const before = statSync(own.path).size;
    await own.setRetention({ days: 365, maxMb: 10 });
    const { total, items } = await own.findItems();
    expect(total).toBeLessThan(count);
    expect(total).toBeGreaterThan(100);
    expect(items[0]?.text).toStartWith(`${count - 1} `);
    await own.close();
    expect(before).toBeGreaterThan(12 * 1024 * 1024);
    expect(statSync(own.path).size).toBeLessThan(12 * 1024 * 1024);
  }, 30_000);
});

test("hostile texts are stored and found as they are, and are not read as SQL or a search", async () => {
  const own = createHistoryFixture(temporaryFolder());
  const hostile = [
    "'; DROP TABLE items; --",
    '<script>alert("x")</script>',
    "\u202ereversed\u2066 \u0000 null",
    'a" OR NEAR(b c, 5) *',
    "x".repeat(100_000),
    "\ud83d\ude00 emoji \ud800 lone",
  ];
  await own.append(
    ...hostile.map((text) => ({
      session_id: text.slice(0, 8).replaceAll("\u0000", ""),
      hook_event_name: "UserPromptSubmit",
      prompt: text,
      cwd: `/p/${text.slice(0, 50)}`,
    })),
  );
  await own.open();
  const { total, items } = await own.findItems({ limit: 500 });
  expect(total).toBeGreaterThanOrEqual(5);
  for (const { text } of items) expect(text.length).toBeLessThanOrEqual(2_000);
  for (const q of [...hostile.slice(0, 4), '"', "*", "-", "^", "()", "items_fts", "'"]) {
    expect(await own.findItems({ q }), q).toMatchObject({ enabled: true });
  }
  expect((await own.findItems({ q: "DROP TABLE" })).total).toBe(1);
  await own.close();
});

test("a dialog that no hook described and that was gone within a second is neither listed nor counted", async () => {
  const fixture = createHistoryFixture(temporaryFolder(), { now: () => now });
  await fixture.open();
  const withoutText = (rows: readonly StateRow[]) =>
    rows.map((row) =>
      row.kind === "ask-opened" ? { ...row, ask: { ...row.ask, tool: null, summary: "" } } : row,
    );
  await fixture.write([
    ...withoutText(wait(shop, hour(9), hour(9) + 40, "dismissed")),
    ...withoutText(wait(shop, hour(10), hour(10) + 5_000, "dismissed")),
  ]);
  expect((await fixture.findItems()).items.map(({ at }) => at)).toEqual([hour(10)]);
  expect((await fixture.ask<Stats>({ name: "computeStats", days: 1 })).today.asks).toBe(1);
  await fixture.close();
});
