/** The story of the history: which sessions of which days are told, page by page, and what of them. */
import { afterAll, expect, test } from "bun:test";
import type { StoryPage, StoryQuery } from "../../src/core/interfaces/wire.ts";
import { hourMs, minuteMs } from "../../src/core/timing.ts";
import type { StateRow } from "../../src/history/rows.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { createHistoryFixture, createTestAsk, createTestRow } from "./fixture.ts";

afterAll(removeTemporaryFolders);

const midnight = new Date(2026, 10, 17).getTime();
const now = midnight + 12 * hourMs;

const project = (name: string) => ({ cwd: `/p/${name}` });

/** A turn: a prompt, three commands and a response, one minute each. */
const createTurn = (
  session: string,
  from: number,
  word: string,
): [at: number, payload: Record<string, unknown>][] => {
  const common = { session_id: session, ...project(session) };
  const tool = (n: number) => ({
    ...common,
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_use_id: `${session}-${from}-${n}`,
    tool_input: { command: `make ${word} ${n}` },
  });
  return [
    [from, { ...common, hook_event_name: "UserPromptSubmit", prompt: `please ${word}` }],
    ...[1, 2, 3].map((n): [number, Record<string, unknown>] => [from + n * minuteMs, tool(n)]),
    [from + 4 * minuteMs, { ...common, hook_event_name: "Stop", last_assistant_message: `did ${word}` }],
  ];
};

/** An ask of the session that was denied with words. */
function createDenial(session: string, at: number, summary: string): StateRow[] {
  const row = createTestRow(session, { project: session, cwd: `/p/${session}`, startedAt: at, lastAt: at });
  const opened = createTestAsk(`${session}#${at}`, row, at, summary);
  const span = { kind: "span", session: row, before: null } as const;
  return [
    opened,
    { ...span, state: "waiting", at },
    { ...opened, kind: "ask-closed", at: at + minuteMs, waitedMs: minuteMs },
    { ...span, state: "working", at: at + minuteMs },
    {
      ...opened,
      kind: "ask-ended",
      how: "denied",
      where: "page",
      detail: "use the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789-ABCDEFGH instead",
    },
  ];
}

async function record(
  events: readonly [at: number, payload: Record<string, unknown>][],
  rows: readonly StateRow[] = [],
) {
  const ordered = events.toSorted(([a], [b]) => a - b);
  const history = createHistoryFixture(temporaryFolder(), {
    now: () => now,
    at: (n) => ordered[n - 1]?.[0] ?? now,
  });
  await history.append(...ordered.map(([, payload]) => payload));
  await history.open();
  await history.write(rows);
  const tell = (query: StoryQuery = {}) => history.ask<StoryPage>({ name: "findStory", query });
  return { history, tell };
}

const namesOf = ({ threads }: StoryPage) =>
  threads.map(({ key, day }) => `${key.slice(7)} ${(midnight - day) / hourMs}`);

test("sessions are told by day, the newest first; those that asked nothing without their story", async () => {
  const { history, tell } = await record(
    [
      ...createTurn("shop", midnight + 8 * hourMs, "paint"),
      ...createTurn("site", midnight + 9 * hourMs, "build"),
      ...createTurn("shop", midnight - 5 * hourMs, "draw"),
    ],
    createDenial("shop", midnight + 8 * hourMs + 5 * minuteMs, "make paint 9"),
  );
  try {
    const page = await tell();
    expect(namesOf(page)).toEqual(["site 0", "shop 0", "shop 24"]);
    expect(page.days).toEqual([
      { day: midnight, sessions: 2 },
      { day: midnight - 24 * hourMs, sessions: 1 },
    ]);
    const holds = { firstAt: midnight - 5 * hourMs, agents: ["claude"] };
    expect(page.holds).toEqual(holds);
    expect(await tell({ agent: "codex" })).toMatchObject({ threads: [], holds });
    const [site, shop, before] = page.threads;
    expect(site?.beats).toBeNull();
    // A day on which nothing was asked has its newest sessions told all the same.
    expect(before?.beats?.map(({ kind }) => kind)).toEqual(["prompt", "work", "response"]);
    expect(shop).toMatchObject({ project: "shop", asks: 1, waitedMs: minuteMs, from: midnight + 8 * hourMs });
    expect(shop?.beats?.map(({ kind }) => kind)).toEqual(["prompt", "work", "response", "ask"]);
    const ask = shop?.beats?.find(({ kind }) => kind === "ask");
    expect(ask).toMatchObject({ how: "denied", where: "page", detail: "use the key ••• instead" });
  } finally {
    await history.close();
  }
});

test("a session that asked nothing is told whole if it is asked for", async () => {
  const { history, tell } = await record(
    [
      ...createTurn("shop", midnight + 8 * hourMs, "paint"),
      ...createTurn("site", midnight + 9 * hourMs, "build"),
    ],
    createDenial("shop", midnight + 8 * hourMs, "make"),
  );
  try {
    const { threads } = await tell({ session: "claude:site", day: midnight + hourMs });
    expect(threads).toMatchObject([
      {
        key: "claude:site",
        beats: [{ text: "please build" }, { counts: { command: 3 } }, { text: "did build" }],
      },
    ]);
    expect((await tell({ session: "claude:site", day: midnight - hourMs })).threads).toEqual([]);
    expect((await tell({ session: "claude:nobody" })).threads).toEqual([]);
  } finally {
    await history.close();
  }
});

test("pages follow each other without a session missing or twice", async () => {
  const names = Array.from({ length: 9 }, (_, n) => `s${n}`);
  const events = names.flatMap((name, n) => [
    ...createTurn(name, midnight + n * 17 * minuteMs, "paint"),
    ...createTurn(name, midnight - 20 * hourMs + n * 23 * minuteMs, "draw"),
  ]);
  const { history, tell } = await record(
    events,
    names.flatMap((name, n) => [
      ...createDenial(name, midnight + n * 17 * minuteMs, "make"),
      ...createDenial(name, midnight - 20 * hourMs + n * 23 * minuteMs, "make"),
    ]),
  );
  try {
    const all = namesOf(await tell({ limit: 50 }));
    expect(all).toHaveLength(18);
    const paged: string[] = [];
    for (let before: string | null = "", pages = 0; before !== null; pages++) {
      expect(pages).toBeLessThan(10);
      const page: StoryPage = await tell({ limit: 4, ...(before === "" ? {} : { before }) });
      paged.push(...namesOf(page));
      before = page.next;
    }
    expect(paged).toEqual(all);
    expect(namesOf(await tell({ day: midnight - hourMs, limit: 50 }))).toEqual(all.slice(9));
    expect(namesOf(await tell({ project: "s3", limit: 50 }))).toEqual(["s3 0", "s3 24"]);
    expect(await tell({ agent: "codex" })).toMatchObject({ threads: [], next: null });
  } finally {
    await history.close();
  }
});

test("a search tells only what matches, with the hits of each day, and pages too", async () => {
  const { history, tell } = await record(
    [
      ...createTurn("shop", midnight + 8 * hourMs, "paint"),
      ...createTurn("site", midnight + 9 * hourMs, "build"),
      ...createTurn("shop", midnight - 5 * hourMs, "paint"),
    ],
    createDenial("shop", midnight + 8 * hourMs + 1.5 * minuteMs, "make paint 2"),
  );
  try {
    const page = await tell({ q: "paint 2" });
    expect(namesOf(page)).toEqual(["shop 0", "shop 24"]);
    // The command that was asked about is one hit, not two.
    expect(page.days.map(({ hits }) => hits)).toEqual([1, 1]);
    expect(page.threads[0]?.beats).toMatchObject([{ kind: "ask", text: "Bash: make paint 2" }]);
    expect(page.threads[1]?.beats).toMatchObject([
      { kind: "work", hits: 1, counts: { command: 3 }, steps: [{ text: "make paint 2" }] },
    ]);
    const first = await tell({ q: "paint", limit: 1 });
    expect(namesOf(first)).toEqual(["shop 0"]);
    expect(namesOf(await tell({ q: "paint", limit: 1, before: first.next ?? "" }))).toEqual(["shop 24"]);
    expect(await tell({ q: "elephant" })).toMatchObject({ threads: [], days: [], next: null });
    expect(namesOf(await tell({ kind: "asks" }))).toEqual(["shop 0"]);
    expect((await tell({ kind: "prompts" })).threads.flatMap(({ beats }) => beats ?? [])).toHaveLength(3);
    expect((await tell({ kind: "edits" })).threads).toEqual([]);
    expect((await tell({ kind: "commands", q: "build" })).threads[0]?.beats).toMatchObject([{ hits: 3 }]);
  } finally {
    await history.close();
  }
});

test("a session that failed is told although it asked nothing", async () => {
  const { history, tell } = await record(
    [
      ...createTurn("shop", midnight + 8 * hourMs, "paint"),
      ...createTurn("site", midnight + 9 * hourMs, "build"),
      [
        midnight + 10 * hourMs,
        { session_id: "site", hook_event_name: "StopFailure", error: "529 Overloaded", ...project("site") },
      ],
    ],
    createDenial("shop", midnight + 8 * hourMs, "make"),
  );
  try {
    const site = (await tell()).threads.find(({ key }) => key === "claude:site");
    expect(site?.beats?.at(-1)).toMatchObject({ kind: "failure" });
  } finally {
    await history.close();
  }
});
