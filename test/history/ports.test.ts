/** What the history keeps of ports: the sessions that worked on them, and the events of those sessions. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { SessionEvent, SpanState, Stats } from "../../src/core/interfaces/wire.ts";
import { hourMs, minuteMs } from "../../src/core/timing.ts";
import type { SessionRow, StateRow } from "../../src/history/rows.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { createHistoryFixture, createTestAsk, createTestRow, type HistoryFixture } from "./fixture.ts";

afterAll(removeTemporaryFolders);

const now = new Date(2026, 10, 17, 12).getTime();
const before = (minutes: number) => now - minutes * minuteMs;

const login = { id: "login", title: "Log in with a passkey", project: "/p/shop", since: before(60) };
const search = { id: "search", title: "Search", project: "/p/shop", since: before(20) };

const session = (name: string, more: Partial<SessionRow>): StateRow => {
  const common = { project: "shop", cwd: "/p/shop", startedAt: before(120), lastAt: now };
  return { kind: "session", session: createTestRow(name, { ...common, ...more }) };
};
const span = (name: string, state: SpanState | null, at: number): StateRow => ({
  kind: "span",
  session: createTestRow(name, {}),
  state,
  at,
});

/** One session works on login for 40 minutes, 10 of which it waits, then on search. Another joins for login. */
const rows: readonly StateRow[] = [
  span("a", "working", before(90)),
  session("a", { tokens: 1_000, costMicros: 1_000_000 }),
  session("a", { tokens: 1_000, costMicros: 1_000_000, port: login }),
  span("a", "waiting", before(40)),
  span("a", "working", before(30)),
  session("a", { tokens: 5_000, costMicros: 3_000_000, port: login }),
  session("a", { tokens: 5_000, costMicros: 3_000_000, port: search }),
  session("a", { tokens: 5_500, costMicros: null, port: search }),
  span("b", "working", before(15)),
  session("b", { port: { ...login, since: before(15) } }),
  session("b", { port: null, endedAt: before(5), lastAt: before(5) }),
  span("b", null, before(5)),
];

const event: SessionEvent = {
  id: "e1:file_edit",
  session_id: "a",
  port_id: "login",
  event_type: "file_edit",
  summary: "Edit: src/login.ts",
  details: { tool: "Edit", path: "/p/shop/src/login.ts" },
  severity: "info",
  created_at: new Date(before(50)).toISOString(),
};

let history: HistoryFixture;
beforeAll(async () => {
  history = createHistoryFixture(temporaryFolder(), { now: () => now });
  await history.open();
  await history.write(rows);
  await history.write([
    { kind: "session-event", key: "claude:a", event },
    { kind: "session-event", key: "claude:a", event },
  ]);
});
afterAll(() => history.close());

test("the statistics say how long each port was worked on and waited for, and what it cost", async () => {
  const { ports } = await history.ask<Stats>({ name: "computeStats", days: 7 });
  expect(ports).toEqual([
    {
      project: "/p/shop",
      port: "search",
      title: "Search",
      workedMs: 20 * minuteMs,
      waitedMs: 0,
      sessions: 1,
      tokens: 500,
      costUsd: null,
      lastAt: now,
    },
    {
      project: "/p/shop",
      port: "login",
      title: "Log in with a passkey",
      workedMs: 40 * minuteMs,
      waitedMs: 10 * minuteMs,
      sessions: 2,
      tokens: 4_000,
      costUsd: 2,
      lastAt: before(5),
    },
  ]);
});

test("an event of a session is kept once, with its port and details", () => {
  expect(history.read("SELECT * FROM session_events")).toEqual([
    { ...event, key: "claude:a", details: JSON.stringify(event.details) },
  ]);
});

test("an entry of the history names the port that its session worked on then", async () => {
  const own = createHistoryFixture(temporaryFolder(), { now: () => now, startAt: before(70) });
  const prompt = (text: string) => ({ session_id: "a", hook_event_name: "UserPromptSubmit", prompt: text });
  await own.append(prompt("before"));
  await own.open();
  await own.write([...rows, { kind: "session-event", key: "claude:a", event }]);
  const { session: working } = session("a", { port: search }) as Extract<StateRow, { kind: "session" }>;
  const ask = (id: string, at: number) => createTestAsk(id, working, at, id);
  await own.write([ask("during", before(50)), ask("after", before(10))]);
  const { items } = await own.findItems();
  expect(items.map(({ text, port }) => [text, port])).toEqual([
    ["Bash: after", "search"],
    ["Bash: during", "login"],
    ["before", undefined],
  ]);
  await own.close();
});

test("a session that ended while beckon did not run does not work on its port for ever", async () => {
  const folder = temporaryFolder();
  const first = createHistoryFixture(folder, { now: () => now });
  await first.open();
  await first.write([session("gone", { port: login, lastAt: before(30) })]);
  await first.close();
  const second = createHistoryFixture(folder, { now: () => now });
  await second.open();
  await second.write();
  expect(second.read("SELECT key, to_at FROM port_runs")).toEqual([
    { key: "claude:gone", to_at: before(30) },
  ]);
  await second.close();
});

test("events and runs of ports are removed with everything else that is too old", async () => {
  const old = createHistoryFixture(temporaryFolder(), { now: () => now + 40 * 24 * hourMs });
  await old.open({ days: 365, maxMb: 1_000 });
  await old.write([...rows, { kind: "session-event", key: "claude:a", event }]);
  await old.setRetention({ days: 30, maxMb: 1_000 });
  expect(old.read("SELECT * FROM session_events")).toEqual([]);
  expect(old.read("SELECT * FROM port_runs WHERE to_at IS NOT NULL")).toEqual([]);
  await old.close();
});
