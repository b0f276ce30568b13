/** `beckon port`, as a user and an agent type it. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { HookOutput, Stats } from "../../src/core/interfaces/wire.ts";
import { type AppFixture, createAppFixture } from "../app-fixture.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

let fixture: AppFixture;
let project: string;
beforeEach(() => {
  fixture = createAppFixture();
  project = join(realpathSync(fixture.home), "shop");
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(project, "src"));
});
afterEach(() => fixture.destroy());

async function beckon(args: readonly string[], options: { cwd?: string; stdin?: string; env?: object } = {}) {
  const child = Bun.spawn([process.execPath, mainSource, "port", ...args], {
    cwd: options.cwd ?? project,
    env: { ...fixture.env, COLUMNS: "100", ...options.env },
    stdin: new Blob([options.stdin ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}

const configure = (workGuard: object): void => {
  mkdirSync(fixture.paths.state, { recursive: true, mode: 0o700 });
  writeFileSync(fixture.paths.config, JSON.stringify({ workGuard }));
};

test("ports are created, started, listed, shown and ended, from any folder of the repository", async () => {
  const created = await beckon(["create", "login", "--title", "Log in with a passkey"]);
  expect(created).toMatchObject({ code: 0, err: "" });
  expect(created.out).toContain(
    `Created the port login in ~/shop. To work on it, run: beckon port start login`,
  );
  await beckon(["create", "search", "--title", "Search", "--depends-on", "login"], {
    cwd: join(project, "src"),
  });
  const started = await beckon(["start", "search"]);
  expect(started.out).toContain("Started the port search (Search) for every session in ~/shop.");
  expect(started.out).toContain("It depends on login, not ended yet.");

  const { out } = await beckon(["list"]);
  expect(out.split("\n").slice(0, 2)).toEqual([
    "login   open     Log in with a passkey",
    expect.stringMatching(/^search {2}running {2}Search {2}every session for \d+s, waits for login$/),
  ]);
  expect((await beckon(["end", "login", "--note", "works in Safari"])).out).toBe(
    "Ended the port login.\nsearch (Search) depended on it.\n",
  );
  expect((await beckon(["show", "login"])).out).toMatch(
    /^login: Log in.*\nstatus {6}ended\n[\s\S]*note {8}works in Safari\n$/,
  );
  expect((await beckon(["end"])).out).toBe("Ended the port search.\n");
  const json = JSON.parse((await beckon(["list", "--all", "--json"])).out);
  expect(json).toMatchObject({
    project,
    mode: "off",
    ports: [{ id: "login", status: "ended" }, { id: "search" }],
  });
});

test("ids as trackers write them are kept, and typed in any case", async () => {
  expect((await beckon(["create", "ENG-42", "--title", "Log in"])).out).toContain("Created the port ENG-42");
  expect((await beckon(["create", "SHOP_7", "--title", "Pay", "--depends-on", "eng-42"])).code).toBe(0);
  expect(await beckon(["create", "eng-42", "--title", "Again"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("there is a port ENG-42 already"),
  });
  expect((await beckon(["start", "eng-42"])).out).toContain("Started the port ENG-42 (Log in)");
  expect((await beckon(["list"])).out).toMatch(/^ENG-42 {2}running {2}Log in.*\nSHOP_7 .*waits for ENG-42\n/);
  expect((await beckon(["show", "shop_7"])).out).toMatch(/^SHOP_7: Pay\n/);
  expect((await beckon(["end", "Eng-42"])).out).toBe(
    "Ended the port ENG-42.\nSHOP_7 (Pay) depended on it.\n",
  );
});

test("a team's file may write an id in another case than the one that runs", async () => {
  configure({ store: "project" });
  await beckon(["create", "eng-42", "--title", "Log in"]);
  await beckon(["start", "eng-42"]);
  const file = join(project, ".beckon", "ports.json");
  writeFileSync(file, readFileSync(file, "utf8").replace("eng-42", "ENG-42"));
  expect((await beckon(["list"])).out).toMatch(/^ENG-42 {2}running /);
  expect((await beckon(["end"])).out).toBe("Ended the port ENG-42.\n");
});

test("ports in a file of the project that beckon does not use are mentioned", async () => {
  mkdirSync(join(project, ".beckon"));
  const port = { id: "login", title: "Log in", dependsOn: [], createdAt: 1, endedAt: null, note: null };
  writeFileSync(join(project, ".beckon", "ports.json"), JSON.stringify({ version: 1, ports: [port] }));
  expect((await beckon(["list"])).out).toContain(
    'There are ports in ~/shop/.beckon/ports.json. To use them: "store": "project" in config.json.',
  );
  configure({ store: "project" });
  const { out } = await beckon(["list"]);
  expect(out).toContain("login  open");
  expect(out).not.toContain("To use them");
});

describe("mistakes are named", () => {
  test.each<[string[], number, string]>([
    [[], 2, "port takes one of these: create, start, end, list, show, check"],
    [["stop"], 2, 'unknown command "port stop"'],
    [["create", "login"], 2, "port create needs a title"],
    [["create", "Log in", "--title", "T"], 1, "a port's id has 1 to 64 letters"],
    [["create", "a", "--title", "one\ntwo"], 1, "a title is one line"],
    [["create", "a", "--title", "T", "--depends-on", "b"], 1, "there is no port b to depend on"],
    [["create", "a", "--title", "T", "--depends-on", "a"], 1, "the port a cannot depend on itself"],
    [["create", "a", "--title", "T", "--project", "/not/there"], 1, "there is no folder /not/there"],
    [["start", "nothing"], 1, "there is no port nothing in"],
    [["end"], 2, "no port is running here"],
    [["check"], 2, "port check needs a hook's payload"],
  ])("port %p", async (args, code, text) => {
    const result = await beckon(args);
    expect(result).toMatchObject({ code, out: "" });
    expect(result.err).toContain(text);
  });
});

test("an ended port stays ended, and its id taken", async () => {
  await beckon(["create", "login", "--title", "Log in"]);
  expect((await beckon(["create", "login", "--title", "Again"])).err).toBe(
    "beckon: there is a port login already\n",
  );
  await beckon(["end", "login"]);
  for (const args of [
    ["start", "login"],
    ["end", "login"],
  ])
    expect(await beckon(args)).toMatchObject({
      code: 1,
      err: "beckon: the port login has ended. For more work, create another one: beckon port create ID --title TITLE\n",
    });
  expect((await beckon(["create", "login", "--title", "Again"])).err).toContain("Choose another id");
});

describe("port check", () => {
  const session = '{"hook_type":"session-start","cwd":"/test"}';
  const edit = '{"hook_type":"pre-tool-use","tool_name":"Edit"}';

  test.each([false, true])("the same with and without a running beckon (%p)", async (isRunning) => {
    configure({ mode: "strict" });
    if (isRunning) await fixture.start();
    const { context } = JSON.parse((await beckon(["check"], { stdin: session })).out) as HookOutput;
    expect(context).toEqual({
      ...{ active_port: null, loaded_docs: [], session_state: "unknown", tokens_used: 0, token_budget: 0 },
    });
    const strict = await beckon(["check"], { stdin: edit });
    const output = JSON.parse(strict.out) as HookOutput;
    expect(output.decision).toBe("block");
    expect(output.suggestions.join()).toContain("beckon port create");
    expect(strict.err).toContain("Edit refused");
    await beckon(["create", "a", "--title", "A"]);
    await beckon(["start", "a"]);
    expect(JSON.parse((await beckon(["check"], { stdin: edit })).out)).toMatchObject({
      decision: "approve",
      context: { active_port: { id: "a" } },
    });
  });

  test("warn: approve, and a warning on stderr", async () => {
    configure({ mode: "warn" });
    const { out, err } = await beckon(["check"], { stdin: edit });
    expect(JSON.parse(out)).toMatchObject({ decision: "approve" });
    expect(err).toContain("Edit without a port");
  });
});

test("a port that an agent starts is its session's; one started beside it counts for the project", async () => {
  await fixture.start();
  const host = await readHost();
  const start = { session_id: "s1", hook_event_name: "SessionStart", source: "startup", cwd: project };
  // This process is the agent: `beckon port` is its child.
  await fixture.postHook(start, { pid: process.pid, host });
  await fixture.postHook({ ...start, session_id: "s2" }, { pid: fixture.startAgent().pid, host });
  for (const id of ["login", "search"]) await beckon(["create", id, "--title", id]);
  expect((await beckon(["start", "login"])).out).toContain("for the session s1");
  const portOf = async (id: string) => (await fixture.fetchSession(id))?.port?.id;
  await waitUntil(async () => (await portOf("s1")) === "login", 3_000);
  expect(await portOf("s2")).toBeUndefined();

  expect((await beckon(["start", "search", "--session", "claude:s2"])).out).toContain("for the session s2");
  await waitUntil(async () => (await portOf("s2")) === "search", 3_000);
  expect(await portOf("s1")).toBe("login");
  expect((await beckon(["end"])).out).toBe("Ended the port login.\n");
  await waitUntil(async () => (await portOf("s1")) === undefined, 3_000);
});

async function readHost(): Promise<string | null> {
  const { createClock } = await import("../../src/system/clock.ts");
  return createClock()().host;
}

test("with store project, the ports are in a file of the project", async () => {
  configure({ store: "project" });
  await beckon(["create", "login", "--title", "Log in"]);
  await beckon(["start", "login"]);
  const file = JSON.parse(await Bun.file(join(project, ".beckon/ports.json")).text());
  expect(file).toMatchObject({ version: 1, ports: [{ id: "login", title: "Log in" }] });
  expect((await beckon(["list"])).out).toContain("login  running  Log in");
  expect(readdirSync(join(project, ".beckon"))).toEqual(["ports.json"]);
});

test("ports of a shared file that depend on each other in a circle can be listed, started and ended", async () => {
  configure({ store: "project" });
  mkdirSync(join(project, ".beckon"));
  const ports = [
    { id: "a", title: "A", dependsOn: ["b"] },
    { id: "b", title: "B", dependsOn: ["a"] },
  ];
  writeFileSync(join(project, ".beckon/ports.json"), JSON.stringify({ version: 1, ports }));
  expect((await beckon(["list"])).out).toContain("a  open     A  waits for b");
  expect((await beckon(["start", "a"])).out).toContain("It depends on b, not ended yet.");
  expect((await beckon(["end", "a"])).out).toBe("Ended the port a.\nb (B) depended on it.\n");
});

test("processes that change a shared file at once lose nothing", async () => {
  configure({ store: "project" });
  const ids = ["a", "b", "c", "d"];
  const results = await Promise.all(ids.map((id) => beckon(["create", id, "--title", id])));
  expect(results.map(({ code }) => code)).toEqual(ids.map(() => 0));
  const { ports } = JSON.parse((await beckon(["list", "--json"])).out) as { ports: { id: string }[] };
  expect(ports.map(({ id }) => id).sort()).toEqual(ids);
});

test("the status says where the guard is on, and which port a session works on", async () => {
  configure({ projects: { [project]: { mode: "strict" } } });
  await fixture.start();
  await fixture.postHook({
    session_id: "s1",
    hook_event_name: "SessionStart",
    source: "startup",
    cwd: project,
  });
  await beckon(["create", "login", "--title", "Log in"]);
  await beckon(["start", "login"]);
  await waitUntil(async () => (await fixture.fetchSession("s1"))?.port?.id === "login", 3_000);
  const child = fixture.spawnBeckon(["status"], { COLUMNS: "100" });
  const out = await child.stdout.text();
  expect(out).toContain("port login: Log in");
  expect(out).toContain("The work guard is on: strict in ~/shop.");
});

test("session.event reaches the clients of the event stream and the history", async () => {
  configure({ projects: { [project]: { mode: "warn" } } });
  await fixture.start();
  const stream = await fixture.request("/api/events");
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const call = { tool_name: "Edit", tool_input: { file_path: join(project, "a.ts") }, tool_use_id: "t1" };
  await fixture.postHook({ session_id: "s1", hook_event_name: "PostToolUse", cwd: project, ...call });
  let text = "";
  while (!text.includes('"event_type":"untracked_edit"')) text += (await reader?.read())?.value ?? "";
  expect(text).toMatch(
    /event: session\.event\ndata: \{"id":"[^"]+","session_id":"s1","event_type":"file_edit"/,
  );
  await reader?.cancel();
  const find = async () =>
    ((await (await fixture.request("/api/history?kind=port")).json()) as { items: { text: string }[] }).items;
  await waitUntil(async () => (await find()).length > 0, 5_000);
  expect((await find()).map((item) => item.text)).toEqual([`Without a port: Edit: ${join(project, "a.ts")}`]);
});

test("what was recorded of sessions and ports is in the history after kill -9, and after a rebuild", async () => {
  configure({ projects: { [project]: { mode: "warn" } } });
  const { pid } = fixture.startAgent();
  const meta = { pid, host: await readHost() };
  const send = (hook_event_name: string, more: object = {}) =>
    fixture.postHook({ session_id: "s1", hook_event_name, cwd: project, ...more }, meta);
  const call = (id: string) => ({
    ...{ tool_name: "Edit", tool_use_id: id, tool_input: { file_path: join(project, `${id}.ts`) } },
  });
  const first = await fixture.startProcess();
  await send("SessionStart", { source: "startup" });
  await send("UserPromptSubmit", { prompt: "Do it" });
  await send("PostToolUse", call("before"));
  await beckon(["create", "login", "--title", "Log in"]);
  await beckon(["start", "login"]);
  await waitUntil(async () => (await fixture.fetchSession("s1"))?.port?.id === "login", 3_000);
  await send("PostToolUse", call("during"));
  await beckon(["end", "login"]);
  await waitUntil(async () => (await fixture.fetchSession("s1"))?.port === null, 3_000);
  await send("PostToolUse", call("after"));
  await waitUntil(() => fixture.readJournal().split("Without a port: Edit").length === 3, 3_000);
  first.kill("SIGKILL");
  await first.exited;

  const expected = [
    ["session_start", null],
    ["user_request", null],
    ["file_edit", null],
    ["untracked_edit", null],
    ["port_start", "login"],
    ["file_edit", "login"],
    ["port_end", "login"],
    ["file_edit", null],
    ["untracked_edit", null],
  ];
  const readEvents = () => {
    if (!existsSync(fixture.paths.history)) return [];
    const db = new Database(fixture.paths.history, { readonly: true });
    const sql = "SELECT event_type, port_id FROM session_events ORDER BY created_at, event_type";
    try {
      return db.query<{ event_type: string; port_id: string | null }, []>(sql).values();
    } catch {
      return [];
    } finally {
      db.close();
    }
  };
  // The history is caught up once somebody asks for it.
  const fetchPorts = async () => ((await (await fixture.request("/api/stats")).json()) as Stats).ports;
  const second = await fixture.startProcess();
  const ports = await fetchPorts();
  await waitUntil(() => readEvents().length >= expected.length, 5_000);
  expect(readEvents()).toEqual(expected);
  second.kill("SIGTERM");
  await second.exited;

  for (const suffix of ["", "-wal", "-shm"]) rmSync(fixture.paths.history + suffix, { force: true });
  await fixture.startProcess();
  const rebuilt = await fetchPorts();
  await waitUntil(() => readEvents().length >= expected.length, 5_000);
  expect(readEvents()).toEqual(expected);
  expect(rebuilt).toMatchObject([{ project, port: "login", title: "Log in", sessions: 1 }]);
  expect(rebuilt?.[0]?.workedMs).toBe(ports?.[0]?.workedMs ?? -1);
}, 20_000);
