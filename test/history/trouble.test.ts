/** A damaged, locked or full database never stops beckon, is reported, and is complete again afterwards. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { PastSession } from "../../src/core/interfaces/wire.ts";
import { migrations } from "../../src/history/schema.ts";
import { readOr } from "../../src/storage/files.ts";
import { testWith } from "../needs.ts";
import { removeTemporaryFolders, temporaryFolder, withTmpfs } from "../storage/folder.ts";
import { waitUntil } from "../wait-until.ts";
import { createHistoryFixture, createTestAsk, createTestRow, type HistoryFixture } from "./fixture.ts";

afterAll(removeTemporaryFolders);

const prompt = (text: string) => ({
  session_id: "s1",
  hook_event_name: "UserPromptSubmit",
  prompt: text,
  cwd: "/p/shop",
});
const texts = async (history: HistoryFixture) =>
  (await history.findItems()).items.map(({ text }) => text).reverse();

/** A history with two prompts, closed. */
async function createUsed(folder: string): Promise<HistoryFixture> {
  const history = createHistoryFixture(folder);
  await history.append(prompt("one"), prompt("two"));
  await history.open();
  await history.close();
  // Closed properly: everything is in one file.
  expect(readdirSync(folder).sort()).toEqual(["history.db", "journal"]);
  return history;
}

test.each<[string, (path: string) => void]>([
  ["random bytes", (path) => writeFileSync(path, crypto.getRandomValues(new Uint8Array(50_000)))],
  [
    "an empty schema",
    (path) => {
      rmSync(path);
      const db = new Database(path);
      db.run("CREATE TABLE x (a); PRAGMA user_version = 1");
      db.close();
    },
  ],
  [
    "a database of a newer beckon",
    (path) => {
      const db = new Database(path);
      db.run("PRAGMA user_version = 999");
      db.close();
    },
  ],
  ["half a file", (path) => writeFileSync(path, readFileSync(path).subarray(0, 20_000))],
  [
    "pages of zeros",
    (path) => {
      const bytes = readFileSync(path);
      bytes.fill(0, 8_192);
      writeFileSync(path, bytes);
    },
  ],
  [
    "a folder",
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  ],
])("%s in place of the database is set aside, reported, and rebuilt from the journal", async (_, damage) => {
  const folder = temporaryFolder();
  await createUsed(folder);
  damage(join(folder, "history.db"));
  const history = createHistoryFixture(folder);
  await history.open();
  await waitUntil(async () => (await history.findItems().catch(() => ({ total: 0 }))).total === 2, 3_000);
  expect(await texts(history)).toEqual(["one", "two"]);
  expect(history.reports().join("\n")).toContain("is rebuilt from the journal");
  expect(readdirSync(folder).some((name) => name.startsWith("history.damaged-"))).toBe(true);
  expect(history.problem()).toBeNull();
  await history.close();
});

testWith("linux")("a database without its tables is closed before it is set aside", async () => {
  const folder = temporaryFolder();
  const history = await createUsed(folder);
  const db = new Database(history.path);
  db.run("DROP TABLE items");
  db.close();
  const again = createHistoryFixture(folder);
  await again.open();
  expect(await texts(again)).toEqual(["one", "two"]);
  const open = readdirSync("/proc/self/fd").map((fd) =>
    readOr(() => readlinkSync(`/proc/self/fd/${fd}`), ""),
  );
  expect(open.filter((path) => path.startsWith(folder) && path.includes("damaged"))).toEqual([]);
  await again.close();
});

test("a link in place of the database is not followed", async () => {
  const folder = temporaryFolder();
  const target = join(temporaryFolder(), "theirs");
  writeFileSync(target, "not ours");
  symlinkSync(target, join(folder, "history.db"));
  const history = createHistoryFixture(folder);
  await history.append(prompt("one"));
  await history.open();
  await waitUntil(async () => (await history.findItems()).total === 1, 2_000);
  expect(readFileSync(target, "utf8")).toBe("not ours");
  expect(statSync(history.path).mode & 0o777).toBe(0o600);
  await history.close();
});

test("a locked database is reported, and complete once the lock is gone", async () => {
  const folder = temporaryFolder();
  const history = await (async () => {
    await createUsed(folder);
    return createHistoryFixture(folder);
  })();
  const locker = new Database(join(folder, "history.db"));
  locker.run("BEGIN IMMEDIATE");
  await history.append(prompt("three"));
  await history.open();
  await waitUntil(() => history.problem() !== null, 10_000);
  expect(history.problem()).toContain("is locked by another program");
  // What was there before can be read all the same.
  expect((await history.findItems()).total).toBe(2);
  locker.run("ROLLBACK");
  locker.close();
  await waitUntil(async () => (await history.findItems()).total === 3, 10_000);
  await waitUntil(() => history.problem() === null, 2_000);
  await history.close();
}, 30_000);

testWith("root", "linux", "mount")(
  "on a full disk the history stops, is reported, and is complete once there is room",
  async () => {
    await withTmpfs("1m", async (small) => {
      const history = createHistoryFixture(small, { journal: join(temporaryFolder(), "journal") });
      await history.append(prompt("first"));
      await history.open();
      const long = Array.from({ length: 500 }, (_, n) => prompt(`${n} ${"word ".repeat(300)}`));
      await history.append(...long);
      await history.write();
      await waitUntil(() => history.problem() !== null, 5_000);
      expect(history.problem()).toContain("cannot grow: the disk is full");
      expect((await history.findItems({ q: "first" })).total).toBe(1);
      Bun.spawnSync(["mount", "-o", "remount,size=64m", small]);
      await waitUntil(async () => (await history.findItems()).total === 501, 10_000);
      await waitUntil(() => history.problem() === null, 2_000);
      await history.close();
    });
  },
  20_000,
);

test("a database that is damaged while it is used is rebuilt too", async () => {
  const folder = temporaryFolder();
  const history = createHistoryFixture(folder);
  await history.append(...Array.from({ length: 200 }, (_, n) => prompt(`${n} ${"word ".repeat(200)}`)));
  await history.open();
  expect((await history.findItems()).total).toBe(200);
  // Another program overwrites the file under the open connection.
  const db = new Database(history.path);
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const bytes = readFileSync(history.path);
  bytes.fill(0x5a, 8_192);
  writeFileSync(history.path, bytes);
  await history.append(prompt("after"));
  await history.write();
  await waitUntil(
    async () => (await history.findItems({ q: "after" }).catch(() => ({ total: 0 }))).total === 1,
    5_000,
  );
  await waitUntil(async () => (await history.findItems()).total === 201, 5_000);
  await history.close();
});

test("nothing is recorded twice if the journal is read again from its start", async () => {
  const folder = temporaryFolder();
  await createUsed(folder);
  const db = new Database(join(folder, "history.db"));
  db.run("DELETE FROM lifecycle_stream_offsets");
  db.close();
  const history = createHistoryFixture(folder);
  await history.open();
  expect(await texts(history)).toEqual(["one", "two"]);
  expect(history.read<{ n: number }>("SELECT count(*) AS n FROM turns")).toEqual([{ n: 2 }]);
  await history.close();
});

test("events of one millisecond are all recorded, and none twice if the journal is read again", async () => {
  const folder = temporaryFolder();
  const count = 2_500;
  const moment = Date.now() - 60_000;
  const history = createHistoryFixture(folder, { at: (n) => moment + (n % 7 === 0 ? 1 : 0) });
  const sessions = Array.from({ length: count }, (_, n) => ({ ...prompt(`text ${n}`), session_id: `s${n}` }));
  await history.append(...sessions);
  await history.open();
  const readCounts = (from: HistoryFixture) =>
    ["normalized_events", "items", "items_fts_docsize", "turns"].map(
      (table) => from.read<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n,
    );
  // The first query does not wait longer than two seconds for it.
  await waitUntil(() => readCounts(history)[0] === count, 20_000, "all are recorded");
  expect(readCounts(history)).toEqual([count, count, count, count]);
  await history.close();
  const db = new Database(history.path);
  db.run("DELETE FROM lifecycle_stream_offsets");
  db.close();
  const again = createHistoryFixture(folder);
  await again.append(prompt("one more"));
  await again.open();
  await waitUntil(() => readCounts(again)[0] === count + 1, 20_000, "one more is recorded");
  expect(readCounts(again)).toEqual([count + 1, count + 1, count + 1, count + 1]);
  await again.close();
});

test("a journal that was deleted and starts again is recorded from its start", async () => {
  const folder = temporaryFolder();
  await createUsed(folder);
  rmSync(join(folder, "journal"), { recursive: true });
  const history = createHistoryFixture(folder);
  await history.append({ ...prompt("three"), session_id: "s2" });
  await history.open();
  expect(await texts(history)).toEqual(expect.arrayContaining(["one", "two", "three"]));
  await history.close();
});

test("a history that is rebuilt over a reboot has the order of the clock", async () => {
  const folder = temporaryFolder();
  // The machine was restarted after the second event.
  const history = createHistoryFixture(folder, { sinceBoot: (n) => (n <= 2 ? 1e9 + n * 1_000 : n * 1_000) });
  const tool = {
    session_id: "s1",
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_use_id: "t1",
    cwd: "/p/shop",
  };
  await history.append(
    prompt("one"),
    { ...tool, hook_event_name: "PermissionRequest" },
    { ...tool, hook_event_name: "PostToolUse" },
    { session_id: "s1", hook_event_name: "Stop", last_assistant_message: "done", cwd: "/p/shop" },
    { session_id: "s1", hook_event_name: "SessionEnd", reason: "other", cwd: "/p/shop" },
  );
  await history.open();
  expect((await history.findItems({ kind: "permission" })).items).toMatchObject([
    { how: "allowed", waitedMs: 1_000 },
  ]);
  expect(history.read("SELECT state FROM spans ORDER BY from_at")).toEqual(
    ["working", "waiting", "working", "ready"].map((state) => ({ state })),
  );
  expect(history.read("SELECT count(*) AS n FROM spans WHERE to_at IS NULL")).toEqual([{ n: 0 }]);
  await history.close();
});

test("tables that this SQLite cannot create set no file aside again and again", async () => {
  const folder = temporaryFolder();
  const history = createHistoryFixture(folder);
  // As `contentless_delete` with an SQLite older than 3.43: a new file fails like the first.
  const changed = migrations as string[];
  changed.push("CREATE VIRTUAL TABLE later USING fts5 (text, content = '', from_the_future = 1)");
  try {
    await history.append(prompt("one"));
    await history.open();
    await waitUntil(() => history.problem() !== null, 5_000);
    expect(history.problem()).toContain("and a new file fails too. beckon tries again later.");
    await waitUntil(() => history.messages.filter(({ kind }) => kind === "behind").length >= 4, 10_000);
    expect(readdirSync(folder).filter((name) => name.includes("damaged"))).toHaveLength(1);
  } finally {
    changed.pop();
  }
  await waitUntil(() => history.problem() === null, 10_000);
  expect(await texts(history)).toEqual(["one"]);
  await history.close();
}, 30_000);

test("what another machine has missed is answered when all that was sent before is written", async () => {
  const history = createHistoryFixture(temporaryFolder());
  await history.open();
  // More than one slice: other queries are answered meanwhile.
  await history.append(...Array.from({ length: 500 }, (_, n) => prompt(`${n}`)));
  const ask = createTestAsk("a", createTestRow("s1", { lastAt: Date.now() }), Date.now(), "make");
  void history.write([ask]);
  const past = await history.ask<readonly PastSession[]>({ name: "findPast", since: 0 });
  expect(past.flatMap(({ asks }) => asks.map(({ summary }) => summary))).toEqual(["make"]);
  await history.close();
});
