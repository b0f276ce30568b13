/** The thread that owns the database can end at any time. What happened meanwhile is in the journal. */
import { afterAll, afterEach, expect, jest, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadAgents } from "../../src/agents/index.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { noPreferences } from "../../src/core/config/preferences.ts";
import { createInternalEvent } from "../../src/core/session/event.ts";
import type { Session } from "../../src/core/session/session.ts";
import { openReadOnly } from "../../src/history/database.ts";
import { createEngine } from "../../src/history/engine.ts";
import { createHistory } from "../../src/history/index.ts";
import type { FromHistory, ToHistory } from "../../src/history/messages.ts";
import { createPastContext } from "../../src/history/past-state.ts";
import type { RowOf } from "../../src/history/rows.ts";
import { nameWaitingRows } from "../../src/history/waiting-rows.ts";
import { openJournal } from "../../src/storage/journal/index.ts";
import { createClock } from "../../src/system/clock.ts";
import { blocked, minute, session } from "../core/view/menu/fixture.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { waitUntil } from "../wait-until.ts";

afterAll(removeTemporaryFolders);
afterEach(() => void jest.useRealTimers());

const beside = {
  clock: createClock(),
  get: () => null,
  context: () => createPastContext(noPreferences, defaultConfig),
};

test("a thread that ended is reported and started again, and nothing is missing", async () => {
  const folder = temporaryFolder();
  const journal = openJournal(join(folder, "journal"), { retentionDays: () => 7, onError: () => {} });
  const append = (id: string) => {
    const payload = { session_id: "s1", hook_event_name: "UserPromptSubmit", prompt: id, cwd: "/p/shop" };
    const text = JSON.stringify({ provider: "claude", _meta: { id }, payload });
    const at = Date.now();
    return journal.append({ id, at, t: at, boot: null, key: id, text });
  };
  const reported: string[] = [];
  let killThread: ((reason: string) => void) | null = null;
  let starts = 0;
  const history = createHistory({
    path: join(folder, "history.db"),
    journal: join(folder, "journal"),
    position: journal.position,
    defaultProvider: "claude",
    sessions: () => [],
    groupOf: () => "ended",
    config: () => ({ history: { days: 30, maxMb: 100 } }),
    ...beside,
    onProblem: (text) => reported.push(text),
    restartMs: 50,
    startThread(onMessage, onDied) {
      starts++;
      killThread = onDied;
      const post = (message: FromHistory) => setImmediate(onMessage, message);
      const engine = createEngine({ loadAgents: () => loadAgents(), post });
      return { post: engine.handle, end() {} };
    },
  });
  const countItems = async () => (await history.findItems({})).total;

  await append("one");
  await waitUntil(async () => (await countItems()) === 1, 3_000);
  const kill = killThread as unknown as (reason: string) => void;
  kill("out of memory");
  expect(history.problems()).toEqual([
    "The history's thread has ended (out of memory). beckon starts it again soon.",
  ]);
  expect(await history.findItems({})).toMatchObject({
    enabled: true,
    total: 0,
    problem: history.problems()[0],
  });
  await append("two");
  // Nothing else has to happen for it to come back.
  await waitUntil(() => history.problems().length === 0, 3_000);
  expect(starts).toBe(2);
  await waitUntil(async () => (await countItems()) === 2, 3_000);
  expect(reported).toHaveLength(1);
  await history.stop();
  journal.close();
});

test("where SQLite is too old for it, the history is off and says so, and nothing waits for it", async () => {
  const folder = temporaryFolder();
  const reported: string[] = [];
  let starts = 0;
  const history = createHistory({
    path: join(folder, "history.db"),
    journal: join(folder, "journal"),
    position: () => ({ file: "", offset: 0 }) as never,
    defaultProvider: "claude",
    sessions: () => [],
    groupOf: () => "ended",
    config: () => ({ history: { days: 30, maxMb: 100 } }),
    ...beside,
    onProblem: (text) => reported.push(text),
    startThread(onMessage) {
      starts++;
      const post = (message: FromHistory) => setImmediate(onMessage, message);
      const engine = createEngine({ loadAgents: () => loadAgents(), post, sqliteVersion: () => "3.39.5" });
      return { post: engine.handle, end() {} };
    },
  });
  const page = await history.findItems({});
  expect(page).toMatchObject({ enabled: true, total: 0 });
  expect(page.problem).toStartWith("The history is off: this system's SQLite is 3.39.5, which is too old.");
  expect(history.problems()).toEqual([page.problem ?? ""]);
  history.onChange?.({ session: session("one") } as never);
  expect(await history.findItems({})).toEqual(page);
  expect({ starts, reported: reported.length, files: readdirSync(folder) }).toEqual({
    starts: 1,
    reported: 1,
    files: [],
  });
  await history.stop();
});

test("a thread that lags behind is sent one message for all that happened while it was writing", () => {
  jest.useFakeTimers();
  const sent: ToHistory[] = [];
  let answer: (message: FromHistory) => void = () => {};
  const history = createHistory({
    path: join(temporaryFolder(), "history.db"),
    journal: "/journal",
    position: () => ({ segment: "0000000001.jsonl", offset: 0 }),
    defaultProvider: "claude",
    sessions: () => [],
    groupOf: () => "ended",
    config: () => ({ history: { days: 30, maxMb: 100 } }),
    ...beside,
    onProblem: () => {},
    startThread(onMessage) {
      answer = onMessage;
      return { post: (message) => sent.push(message), end() {} };
    },
  });
  const add = (id: number) => {
    history.addStreamEvent({ id: String(id), event: "session-departed", data: { key: `claude:${id}` } });
    jest.advanceTimersByTime(1_000);
  };
  const writes = () =>
    sent.flatMap((message) =>
      message.kind === "write"
        ? [JSON.parse(message.rows as string).map(({ seq }: { seq: number }) => seq)]
        : [],
    );

  add(1);
  answer({ kind: "behind" });
  expect(writes()).toEqual([[1]]);
  for (const id of [2, 3, 4]) add(id);
  expect(writes()).toEqual([[1]]);
  answer({ kind: "written", isRecorded: true });
  expect(writes()).toEqual([[1], [2, 3, 4]]);
  answer({ kind: "written", isRecorded: true });
  expect(writes()).toHaveLength(2);
  add(5);
  expect(writes()).toHaveLength(3);
});

test("the thread is sent a session when something but the time of its last event has changed", () => {
  jest.useFakeTimers();
  const sent: ToHistory[] = [];
  let answer: (message: FromHistory) => void = () => {};
  const first = session("shop");
  let now = first;
  const history = createHistory({
    path: join(temporaryFolder(), "history.db"),
    journal: "/journal",
    position: () => ({ segment: "0000000001.jsonl", offset: 0 }),
    defaultProvider: "claude",
    sessions: () => [now],
    groupOf: () => "ended",
    config: () => ({ history: { days: 30, maxMb: 100 } }),
    ...beside,
    onProblem: () => {},
    startThread(onMessage) {
      answer = onMessage;
      return { post: (message) => sent.push(message), end() {} };
    },
  });
  const change = (next: Session) => {
    now = next;
    const { agent, sessionId } = next;
    const event = createInternalEvent("e", next.last, { agent, sessionId }, { kind: "no-change" });
    history.onChange?.({ session: next, event, before: first });
    jest.advanceTimersByTime(1_000);
    answer({ kind: "written", isRecorded: true });
  };
  const titles = () =>
    sent.flatMap((message) =>
      message.kind === "write"
        ? (JSON.parse(message.rows as string) as RowOf<"session">[]).map((row) => row.session.title)
        : [],
    );

  change({ ...first, title: "one" });
  answer({ kind: "behind" });
  answer({ kind: "written", isRecorded: true });
  expect(titles()).toEqual(["one"]);
  change({ ...now, last: { ...now.last, at: now.last.at + 1_000 } });
  expect(titles()).toEqual(["one"]);
  change({ ...now, title: "two" });
  expect(titles()).toEqual(["one", "two"]);
  // A thread that has missed something learns all of it again.
  answer({ kind: "paused" });
  answer({ kind: "behind" });
  expect(titles()).toEqual(["one", "two", "two"]);
});

test("what another machine asked is sent again until it is recorded, and only then counts as such", () => {
  jest.useFakeTimers();
  const threads: {
    sent: ToHistory[];
    answer: (message: FromHistory) => void;
    die: (reason: string) => void;
  }[] = [];
  const history = createHistory({
    path: join(temporaryFolder(), "history.db"),
    journal: "/journal",
    position: () => ({ segment: "0000000001.jsonl", offset: 0 }),
    defaultProvider: "claude",
    sessions: () => [],
    groupOf: () => "ended",
    config: () => ({ history: { days: 30, maxMb: 100 } }),
    ...beside,
    onProblem: () => {},
    restartMs: 1_000,
    startThread(answer, die) {
      const sent: ToHistory[] = [];
      threads.push({ sent, answer, die });
      return { post: (message) => sent.push(message), end() {} };
    },
  });
  const there = { ...blocked("shop", minute), machine: "devbox" };
  const open = (id: string, about: Session) => {
    const [ask] = about.asks;
    if (ask) history.onTransition?.({ kind: "ask-opened", id, session: about, ask });
    jest.advanceTimersByTime(1_000);
  };
  const thread = () => threads.at(-1) as (typeof threads)[number];
  const answer = (message: FromHistory) => thread().answer(message);
  /** The asks in the last message. */
  const lastAsks = () => {
    const message = thread().sent.at(-1);
    const rows: { kind: string; id?: string }[] =
      message?.kind === "write" && typeof message.rows === "string" ? JSON.parse(message.rows) : [];
    return rows.flatMap((row) => (row.kind === "ask-opened" ? [row.id] : []));
  };
  let recorded = 0;

  open("one", there);
  history.whenRecorded(() => recorded++);
  answer({ kind: "behind" });
  expect(lastAsks()).toEqual(["one"]);
  // The database is locked.
  answer({ kind: "paused" });
  answer({ kind: "written", isRecorded: false });
  open("two", there);
  open("own", { ...there, machine: null });
  answer({ kind: "behind" });
  // The journal has the other.
  expect(lastAsks()).toEqual(["one", "two"]);
  expect(recorded).toBe(0);
  thread().die("out of memory");
  jest.advanceTimersByTime(1_000);
  expect(threads).toHaveLength(2);
  answer({ kind: "behind" });
  expect(lastAsks()).toEqual(["one", "two"]);
  expect(recorded).toBe(0);
  answer({ kind: "written", isRecorded: true });
  expect(recorded).toBe(1);
  history.whenRecorded(() => recorded++);
  expect(recorded).toBe(2);
});

test("what waits for a thread that lags behind waits in a private file, and the history gets all of it", async () => {
  const folder = temporaryFolder();
  const journal = openJournal(join(folder, "journal"), { retentionDays: () => 7, onError: () => {} });
  const sizes: number[] = [];
  const waiting: ToHistory[] = [];
  let isStuck = true;
  let handle: (message: ToHistory) => void = () => {};
  const history = createHistory({
    path: join(folder, "history.db"),
    journal: join(folder, "journal"),
    position: journal.position,
    defaultProvider: "claude",
    sessions: () => [],
    groupOf: () => "ended",
    config: () => ({ history: { days: 30, maxMb: 100 } }),
    ...beside,
    onProblem: () => {},
    startThread(onMessage) {
      const post = (message: FromHistory) => setImmediate(onMessage, message);
      handle = createEngine({ loadAgents: () => loadAgents(), post }).handle;
      return {
        post(message) {
          if (message.kind === "write") sizes.push(JSON.stringify([message.rows, message.past]).length);
          if (isStuck && message.kind === "write") waiting.push(message);
          else handle(message);
        },
        end() {},
      };
    },
  });
  const rowsFile = nameWaitingRows(join(folder, "history.db"));
  let nextId = 0;
  const addRows = (count: number) => {
    history.onChange?.({ session: session(`${nextId} ${"long title ".repeat(50)}`) } as never);
    for (let n = 0; n < count; n++)
      history.addStreamEvent({
        id: String(++nextId),
        event: "session-departed",
        data: { key: `claude:${nextId}` },
      });
  };

  // Asking starts the thread, and sends what there is.
  await history.findMissedEvents("0");
  addRows(1);
  await waitUntil(() => sizes.length === 1, 3_000);
  for (let batch = 2; batch <= 4; batch++) {
    addRows(2_500);
    await waitUntil(() => sizes.length === batch, 3_000);
  }
  expect(Math.max(...sizes)).toBeLessThan(200);
  expect(history.recordedTo()).toBeNull();
  expect(statSync(rowsFile).mode & 0o777).toBe(0o600);
  // Packed: the rows are alike.
  expect(statSync(rowsFile).size).toBeWithin(1, 7_500 * 20);
  isStuck = false;
  for (const message of waiting) handle(message);
  await waitUntil(() => !existsSync(rowsFile), 5_000);
  expect(history.recordedTo()).toEqual(journal.position());
  const db = openReadOnly(join(folder, "history.db"));
  expect(db.query("SELECT count(*) AS n, max(seq) AS last FROM changes").get()).toEqual({
    n: 7_501,
    last: 7_501,
  });
  db.close();
  await history.stop();
  journal.close();
});
