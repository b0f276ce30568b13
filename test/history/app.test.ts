/** The history through the running app: what is sent to it is found in it. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { HistoryPage, Lanes, Stats } from "../../src/core/interfaces/wire.ts";
import { joinLanes } from "../../src/dashboard/page/spans.ts";
import { bash, createAppFixture, createAskEvent, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { readRecordings } from "../replay/recording.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const get = async <T>(path: string): Promise<T> => (await fixture.request(path)).json() as Promise<T>;
const findItems = (query = "") => get<HistoryPage>(`/api/history?${query}`);

/** Resolves when the history has this many items. */
const waitForItems = (count: number) =>
  waitUntil(async () => (await findItems()).total === count, 5_000, `${count} items`);

const toolEvent = (session_id: string, name: string, more = {}) => ({
  session_id,
  hook_event_name: name,
  tool_use_id: "t1",
  ...bash,
  ...proj,
  ...more,
});

test("a prompt, a tool, a permission and the answer are in the history within a second", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1", { prompt: "find the needle" }));
  await fixture.postHook(toolEvent("s1", "PreToolUse"));
  await fixture.postHook(createAskEvent("s1"));
  await fixture.postHook(toolEvent("s1", "PostToolUse"));
  await fixture.postHook({
    session_id: "s1",
    hook_event_name: "Stop",
    last_assistant_message: "All done",
    ...proj,
  });
  expect(await waitForItems(4)).toBeLessThan(1_000);
  const { items, enabled, next } = await findItems();
  expect({ enabled, next }).toEqual({ enabled: true, next: null });
  expect(items.map(({ kind, text }) => [kind, text])).toEqual([
    ["answer", "All done"],
    ["permission", "Bash: touch x"],
    ["tool", "Bash: touch x"],
    ["prompt", "find the needle"],
  ]);
  await waitUntil(async () => (await findItems("kind=permission")).items[0]?.how === "allowed", 5_000);
  expect((await findItems("kind=permission")).items).toMatchObject([
    {
      key: "claude:s1",
      provider: "claude",
      project: "proj",
      how: "allowed",
      where: "terminal",
      severity: "info",
    },
  ]);
  expect((await findItems("q=NEEDLE")).items.map(({ kind }) => kind)).toEqual(["prompt"]);
  expect((await findItems("q=need&kind=tool")).total).toBe(0);
  expect(statSync(fixture.paths.history).mode & 0o777).toBe(0o600);
});

test("a program that reads the database finds an event in it, although nobody asked beckon for it", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  const countEvents = () => {
    if (!existsSync(fixture.paths.history)) return 0;
    const db = new Database(fixture.paths.history, { readonly: true });
    try {
      return db.query<{ n: number }, []>("SELECT count(*) AS n FROM normalized_events").get()?.n ?? 0;
    } catch {
      return 0;
    } finally {
      db.close();
    }
  };
  await waitUntil(() => countEvents() === 1, 5_000);
  await fixture.postHook(toolEvent("s1", "PreToolUse"));
  expect(await waitUntil(() => countEvents() === 2, 5_000)).toBeLessThan(1_500);
});

test("an open ask counts as waiting in the statistics and in its lane", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"), { at: Date.now() - 2_000 });
  await fixture.postHook(createAskEvent("s1"));
  await waitForItems(2);
  const stats = await get<Stats>("/api/stats?days=2");
  expect(stats.today).toMatchObject({
    asks: 1,
    medianMs: null,
    byRules: 0,
    longest: { key: "claude:s1", open: true },
  });
  expect(stats.days).toHaveLength(2);
  expect(stats.projects).toMatchObject([{ project: "proj", asks: 1 }]);
  const lanes = await get<Lanes>("/api/lanes");
  expect(lanes.lanes).toMatchObject([{ key: "claude:s1", project: "proj", group: "needs_you" }]);
  expect(lanes.lanes[0]?.spans.map(({ state }) => state)).toEqual(["working", "waiting"]);
  expect(lanes.anyWaiting).toMatchObject([{ to: null }]);
});

test("what was accepted just before a stop is in the history after the next start", async () => {
  const app = await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  await app.stop();
  await fixture.start();
  expect((await findItems()).items.map(({ kind }) => kind)).toEqual(["prompt"]);
});

test("with history off, nothing is kept or left, and the API says so", async () => {
  const app = await fixture.start();
  await fixture.postHook(createPromptEvent("s0"));
  await waitForItems(1);
  await app.stop();
  expect(existsSync(fixture.paths.history)).toBe(true);
  writeFileSync(fixture.paths.config, '{"history": "off"}');
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  expect(await findItems()).toEqual({ enabled: false, total: 0, next: null, items: [] });
  expect((await get<Stats>("/api/stats")).enabled).toBe(false);
  expect((await get<Lanes>("/api/lanes")).enabled).toBe(false);
  expect(existsSync(fixture.paths.history)).toBe(false);
});

test("turning the history off while beckon runs removes it, and on again starts it again", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  await waitForItems(1);
  writeFileSync(fixture.paths.config, '{"history": "off"}');
  await waitUntil(() => !existsSync(fixture.paths.history), 5_000);
  expect((await findItems()).enabled).toBe(false);
  writeFileSync(fixture.paths.config, "{}");
  await waitUntil(async () => (await findItems()).enabled, 5_000);
  await fixture.postHook(createPromptEvent("s2"));
  await waitUntil(async () => (await findItems("session=s2")).total === 1, 5_000);
});

test("the sessions before and after a /clear are one lane", async () => {
  await fixture.start();
  const recording = readRecordings().find(({ name }) => name === "clear");
  const rows = recording?.rows.filter(({ src, payload }) => src === "hook" && payload) ?? [];
  const startedAt = Date.now() - 60_000;
  for (const { ms, payload, env } of rows) {
    // The end of the last session is left out: the process is still there.
    if (payload?.reason === "prompt_input_exit") continue;
    const _meta = { at: startedAt + ms, pid: process.pid, procStart: null, tty: "/dev/pts/7", env };
    await fixture.postHook({ ...payload, _meta });
  }
  const getLanes = () => get<Lanes>(`/api/lanes?from=${startedAt}&to=${Date.now()}`);
  await waitUntil(async () => (await getLanes()).lanes.length === 2, 5_000);
  const { lanes } = await getLanes();
  expect(lanes.map(({ group }) => group).sort()).toEqual(["ended", "ready"]);
  const joined = joinLanes(lanes);
  expect(joined).toHaveLength(1);
  expect(joined[0]).toMatchObject({
    key: `claude:${rows.at(-1)?.payload?.session_id}`,
    group: "ready",
  });
  expect(joined[0]?.spans.map(({ state }) => state)).toEqual([
    "ready",
    "working",
    "ready",
    "ready",
    "working",
    "ready",
  ]);
});

test("a subagent has a row of its own, with its session as parent", async () => {
  const app = await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  await waitForItems(1);
  const child = { session_id: "s1", agent_id: "a1", agent_type: "Explore", ...proj };
  await fixture.postHook({ ...child, hook_event_name: "SubagentStart" });
  await fixture.postHook({ ...child, hook_event_name: "SubagentStop" });
  await app.stop();
  const db = new Database(fixture.paths.history, { readonly: true });
  const sql =
    "SELECT key, title, parent_session_id, ended_at IS NOT NULL AS ended FROM sessions WHERE agent_id = 'a1'";
  expect(db.query(sql).all()).toEqual([
    { key: "claude:s1/a1", title: "Explore", parent_session_id: "s1", ended: 1 },
  ]);
  db.close();
});

test.each([
  ["worker-01 of a team", { agent_name: "worker-01", team_name: "core" }, "core/worker-01"],
  [
    "worker-01 of a team, with an id",
    { agent_id: "a1", agent_name: "worker-01", team_name: "core" },
    "core/worker-01",
  ],
  ["worker-01 of no team", { agent_id: "a1", agent_name: "worker-01" }, "proj/worker-01"],
  ["a subagent without a name", { agent_id: "a1" }, "proj/a1"],
])("%s has one agent_id in all of its events and in the event stream", async (_, child, agent_id) => {
  const app = await fixture.start();
  const post = (hook_event_name: string, more: object) =>
    fixture.postHook({ session_id: "s1", ...proj, hook_event_name, ...more });
  await fixture.postHook(createPromptEvent("s1"));
  await waitForItems(1);
  await post("SubagentStart", child);
  if ("agent_id" in child) {
    // As the CLI sends it: these have only the id.
    const { agent_id: id } = child;
    await post("PreToolUse", { tool_name: "Bash", tool_use_id: "t1", tool_input: {}, agent_id: id });
    await post("PermissionRequest", { tool_name: "Bash", tool_input: {}, agent_id: id });
  }
  await post("SubagentStop", child);
  await app.stop();
  const db = new Database(fixture.paths.history, { readonly: true });
  const ids = db
    .query<{ agent_id: string }, []>(
      "SELECT DISTINCT agent_id FROM normalized_events WHERE agent_id <> 'proj/leader'",
    )
    .all();
  const sent = db
    .query<{ data: string }, []>("SELECT data FROM changes WHERE event LIKE 'agent-%'")
    .all()
    .map(({ data }) => JSON.parse(data).agent_id as string)
    .filter((id) => id !== "proj/leader");
  db.close();
  expect(ids).toEqual([{ agent_id }]);
  expect(new Set(sent)).toEqual(new Set([agent_id]));
});

const readTasks = (): unknown[] => {
  const db = new Database(fixture.paths.history, { readonly: true });
  const sql = "SELECT task_id, payload ->> '$.subject' AS subject FROM normalized_events";
  const rows = db.query(`${sql} WHERE event_type = 'task_created' ORDER BY subject`).all();
  db.close();
  return rows;
};

test("TaskCreate creates a task, and the agent's own report of it takes its place", async () => {
  const app = await fixture.start();
  const post = (hook_event_name: string, more: object) =>
    fixture.postHook({ session_id: "s1", ...proj, hook_event_name, ...more });
  const create = (subject: string, tool_use_id: string) =>
    post("PreToolUse", { tool_name: "TaskCreate", tool_use_id, tool_input: { subject } });
  await create("Only called", "t1");
  await create("Reported", "t2");
  await post("TaskCreated", { task_id: "7", task_subject: "Reported" });
  await post("TaskCreated", { task_id: "8", task_subject: "Reported first" });
  await create("Reported first", "t3");
  await waitForItems(3);
  await app.stop();
  expect(readTasks()).toEqual([
    { task_id: "t1", subject: "Only called" },
    { task_id: "7", subject: "Reported" },
    { task_id: "8", subject: "Reported first" },
  ]);
});

test("what was known of a session before the history opened is in it too", async () => {
  const app = await fixture.start();
  await fixture.postHook({
    session_id: "s1",
    hook_event_name: "SessionStart",
    source: "startup",
    model: "some-model",
    ...proj,
  });
  await waitForItems(1);
  await app.stop();
  const db = new Database(fixture.paths.history, { readonly: true });
  expect(db.query("SELECT model FROM sessions").all()).toEqual([{ model: "some-model" }]);
  db.close();
});

test("an ask that is open over a restart has one row, although the agent's reminder comes after it", async () => {
  const app = await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  await fixture.postHook(toolEvent("s1", "PreToolUse"));
  await fixture.postHook(createAskEvent("s1"));
  await waitForItems(3);
  await app.stop();
  await fixture.start();
  await fixture.postHook({
    session_id: "s1",
    hook_event_name: "Notification",
    notification_type: "permission_prompt",
    message: "Claude needs your permission",
    ...proj,
  });
  await fixture.postHook(createPromptEvent("s2", { prompt: "later" }));
  await waitUntil(async () => (await findItems("q=later")).total === 1, 5_000, "the prompt of s2");
  expect((await findItems("kind=permission")).items).toMatchObject([{ text: "Bash: touch x", how: null }]);
  expect((await get<Stats>("/api/stats?days=1")).today.asks).toBe(1);
});

test.skipIf(process.platform !== "linux")("the installed app writes it in a thread of its own", async () => {
  const port = String(20_000 + Math.floor(Math.random() * 40_000));
  const { pid } = fixture.spawn([binary], { BECKON_PORT: port });
  await waitUntil(() => existsSync(fixture.paths.endpoint), 5_000);
  await fixture.postHook(createPromptEvent("s1"));
  const tasks = `/proc/${pid}/task`;
  const hasThread = () =>
    readdirSync(tasks).some((id) => readFileSync(`${tasks}/${id}/comm`, "utf8") === "beckon history\n");
  await waitUntil(hasThread, 5_000, "a thread for the history");
});
