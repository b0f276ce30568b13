/** The work guard in the app: what it answers, assigns and records. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonRecord } from "../../src/core/json.ts";
import { createInternalEvent } from "../../src/core/session/event.ts";
import { createPort, endPort, type SessionIdentity, startPort } from "../../src/workguard/ports.ts";
import { changePorts } from "../../src/workguard/store.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { createGuardFixture, type GuardFixture } from "./fixture.ts";

afterAll(removeTemporaryFolders);

const cwd = "/p/shop";
const strict = { projects: { [cwd]: { mode: "strict" as const } } };
const warn = { projects: { [cwd]: { mode: "warn" as const } } };
const event = (name: string, more: JsonRecord = {}): JsonRecord => ({
  session_id: "s1",
  hook_event_name: name,
  cwd,
  ...more,
});
const edit = (path: string, more: JsonRecord = {}): JsonRecord =>
  event("PreToolUse", { tool_name: "Edit", tool_input: { file_path: path }, ...more });
const edited = (path: string, more: JsonRecord = {}): JsonRecord =>
  event("PostToolUse", { tool_name: "Edit", tool_input: { file_path: path }, tool_use_id: path, ...more });
const start = event("SessionStart", { source: "startup" });
/** A call of Codex's. */
const patch = (...files: string[]): JsonRecord => {
  const headers = files.map((file) => `*** Update File: ${file}`);
  const command = ["*** Begin Patch", ...headers, "*** End Patch"].join("\n");
  return { tool_name: "apply_patch", tool_use_id: "t1", tool_input: { command } };
};

const create = ({ paths }: GuardFixture, id: string, dependsOn: readonly string[] = []) =>
  changePorts(paths, cwd, false, (book) => createPort(book, cwd, { id, title: `About ${id}`, dependsOn }, 1));
const begin = ({ paths }: GuardFixture, id: string, session: SessionIdentity | null = null) =>
  changePorts(paths, cwd, false, (book) => startPort(book, cwd, id, session, 2));
const finish = ({ paths }: GuardFixture, id: string) =>
  changePorts(paths, cwd, false, (book) => endPort(book, cwd, id, null, 3));

test("a damaged file of one project turns the guard off there, and nowhere else", async () => {
  const [broken, whole] = [temporaryFolder(), temporaryFolder()];
  for (const folder of [broken, whole]) mkdirSync(join(folder, ".beckon"));
  writeFileSync(join(broken, ".beckon/ports.json"), "<<<<<<< HEAD");
  writeFileSync(join(whole, ".beckon/ports.json"), JSON.stringify({ version: 1, ports: [] }));
  const own = { mode: "strict", store: "project" } as const;
  const { check, problems } = await createGuardFixture({ projects: { [broken]: own, [whole]: own } });
  const decideIn = (folder: string) => check(edit(join(folder, "a.ts"), { cwd: folder })).decision;
  expect([decideIn(broken), decideIn(whole)]).toEqual(["approve", "block"]);
  expect(problems).toEqual([expect.stringContaining("lets every edit of this project through")]);
});

describe("which files need a port", () => {
  test.each([
    ["/p/shop/a.ts", "block"],
    ["a.ts", "block"],
    ["/p/shop/src/../b.ts", "block"],
    ["/p/shop/README.md", "approve"],
    ["/p/shop/src/notes.md", "approve"],
    ["/p/shop/docs/deep/x.txt", "approve"],
    ["/p/shop/src/docs/x.txt", "block"],
    ["/p/shop/generated", "block"],
    ["/p/shop/generated/a.ts", "approve"],
    ["/p/shop/.beckon/ports.json", "approve"],
    ["/home/me/.claude/plans/plan.md", "approve"],
    ["/tmp/x.ts", "approve"],
    ["/p/shopping/x.ts", "approve"],
  ])("%p: %s", async (path, decision) => {
    const ignore = ["*.md", "docs/**", "generated/"];
    const { check } = await createGuardFixture({ projects: { [cwd]: { mode: "strict", ignore } } });
    expect(check(edit(path)).decision).toBe(decision as "block");
  });

  test("a patch of several files needs one if any of them does", async () => {
    const ignore = ["*.md"];
    const { check } = await createGuardFixture({ projects: { [cwd]: { mode: "strict", ignore } } });
    const decide = (...files: string[]) => check(event("PreToolUse", patch(...files)), {}, "codex").decision;
    expect(decide("README.md", "docs/x.md")).toBe("approve");
    expect(decide("README.md", "src/a.ts")).toBe("block");
    expect(decide("README.md", "/tmp/a.ts")).toBe("approve");
  });

  test("a patch in two projects needs a port in both", async () => {
    const projects = { [cwd]: { mode: "strict" as const }, "/p/other": { mode: "strict" as const } };
    const fixture = await createGuardFixture({ projects });
    const decide = (...files: string[]) =>
      fixture.check(event("PreToolUse", patch(...files)), {}, "codex").decision;
    await create(fixture, "login");
    await begin(fixture, "login");
    expect(decide("a.ts", "/p/shop/b.ts")).toBe("approve");
    expect(decide("a.ts", "/p/other/b.ts")).toBe("block");
  });

  test("a session elsewhere needs one for a file of a guarded project", async () => {
    const { check } = await createGuardFixture(strict);
    expect(check(edit("/p/shop/a.ts", { cwd: "/p/other" })).decision).toBe("block");
    expect(check(edit("/p/other/a.ts", { cwd: "/p/other" })).decision).toBe("approve");
  });

  test("a project named by a link is the same project", async () => {
    const real = temporaryFolder();
    const link = join(temporaryFolder(), "link");
    symlinkSync(real, link);
    const { check } = await createGuardFixture({ projects: { [link]: { mode: "strict" } } });
    expect(check(edit(join(real, "a.ts"), { cwd: real })).decision).toBe("block");
  });

  test("a project can be excepted from a general mode", async () => {
    const { check } = await createGuardFixture({ mode: "strict", projects: { [cwd]: { mode: "off" } } });
    expect(check(edit("a.ts")).decision).toBe("approve");
    expect(check(edit("a.ts", { cwd: "/p/other" })).decision).toBe("block");
  });

  test("other tools and events are approved", async () => {
    const { check } = await createGuardFixture(strict);
    expect(check(event("PreToolUse", { tool_name: "Bash", tool_input: { command: "ls" } })).decision).toBe(
      "approve",
    );
    expect(check(event("Stop")).decision).toBe("approve");
  });
});

describe("the reason of a refusal", () => {
  test("names open ports and the commands that help", async () => {
    const fixture = await createGuardFixture(strict);
    await create(fixture, "login");
    const { reason, suggestions } = fixture.check(edit("a.ts"));
    expect(reason).toContain("Open ports: login (About login).");
    expect(suggestions[0]).toBe("beckon port start login");
    for (const line of suggestions) expect(reason).toContain(line);
    expect(reason).toContain("run one of these commands");
  });

  test("speaks of one command if there is only one", async () => {
    const { check } = await createGuardFixture(strict);
    expect(check(edit("a.ts")).reason).toContain("run this command and try again");
  });

  test("a file's name cannot put anything into the suggested command", async () => {
    const { check } = await createGuardFixture({ ...strict, autoCreate: true });
    const [suggestion] = check(edit('/p/shop/$(touch x)/`y`"; rm -r z #\u0007.ts')).suggestions;
    expect(suggestion).toMatch(
      /^beckon port create [a-z0-9-]+ --title "[\w./ -]+" && beckon port start [a-z0-9-]+$/,
    );
  });
});

describe("it never blocks by mistake", () => {
  test("ports that cannot be written let edits through, and the log says so once", async () => {
    const fixture = await createGuardFixture(strict);
    expect(fixture.check(edit("a.ts")).decision).toBe("block");
    rmSync(fixture.paths.state, { recursive: true });
    expect(fixture.check(edit("a.ts"))).toMatchObject({ decision: "approve", reason: "" });
    fixture.check(edit("b.ts"));
    expect(fixture.problems).toEqual(["the work guard lets edits through: ports cannot be written (ENOENT)"]);
    mkdirSync(fixture.paths.state);
    expect(fixture.check(edit("a.ts")).decision).toBe("block");
  });

  test("ports that cannot be read let edits through", async () => {
    const fixture = await createGuardFixture(strict);
    writeFileSync(fixture.paths.ports, "{oops", { mode: 0o600 });
    expect(fixture.check(edit("a.ts")).decision).toBe("approve");
    expect(fixture.problems.join()).toContain("the work guard lets every edit through");
  });
});

describe("the port of a session", () => {
  const place = { pid: 100, procStart: "5", tty: "/dev/pts/1", host: "here" };

  test("is shown with the session, and changes with it", async () => {
    const fixture = await createGuardFixture({});
    const port = () => fixture.store.get({ agent: "claude", sessionId: "s1" })?.port;
    await fixture.send(start, place);
    await create(fixture, "login");
    await begin(fixture, "login");
    await fixture.poll();
    expect(port()).toMatchObject({ id: "login", title: "About login", project: cwd });
    await finish(fixture, "login");
    await fixture.poll();
    expect(port()).toBeNull();
    expect(fixture.eventTypes().filter((type) => type.startsWith("port"))).toEqual([
      "port_start",
      "port_end",
    ]);
  });

  test("a session that starts while the project works on a port has it from its start", async () => {
    const fixture = await createGuardFixture(strict);
    await create(fixture, "login");
    await begin(fixture, "login");
    await fixture.poll();
    await fixture.send(start);
    const session = fixture.store.get({ agent: "claude", sessionId: "s1" });
    expect(session?.port).toMatchObject({ id: "login", since: session?.startedAt });
  });

  test("two sessions in one folder have two ports", async () => {
    const fixture = await createGuardFixture(strict);
    const other = { pid: 200, procStart: "9", tty: "/dev/pts/2", host: "here" };
    await fixture.send(start, place);
    await fixture.send({ ...start, session_id: "s2" }, other);
    for (const id of ["login", "search"]) await create(fixture, id);
    const identity = (sessionId: string, pid: number, procStart: string): SessionIdentity => ({
      ...{ agent: "claude", sessionId, fingerprint: null, pid, procStart, terminalSessionId: null },
    });
    await begin(fixture, "login", identity("s1", 100, "5"));
    expect(fixture.check(edit("a.ts"), place).context.active_port?.id).toBe("login");
    expect(fixture.check(edit("a.ts", { session_id: "s2" }), other).decision).toBe("block");
    await begin(fixture, "search", identity("s2", 200, "9"));
    expect(fixture.check(edit("a.ts", { session_id: "s2" }), other).context.active_port?.id).toBe("search");
    expect(fixture.check(edit("a.ts"), place).context.active_port?.id).toBe("login");
  });
});

test("two sessions of a server that terminals share do not share a port", async () => {
  const fixture = await createGuardFixture(strict);
  await create(fixture, "login");
  const identity = { agent: "codex", sessionId: "s1", fingerprint: null, pid: null };
  await begin(fixture, "login", { ...identity, procStart: null, terminalSessionId: null });
  // The hooks of both are run by the server, which has no terminal.
  const server = { pid: 100, procStart: "5", tty: null, host: "here" };
  const check = (session_id: string) =>
    fixture.check(event("PreToolUse", { session_id, ...patch("a.ts") }), server, "codex");
  expect(check("s1").context.active_port?.id).toBe("login");
  expect(check("s2").decision).toBe("block");
});

describe("where hooks have to ask", () => {
  const read = ({ paths }: GuardFixture) => Bun.file(paths.guardScope).json();

  test("is written for them, with the real path of a project", async () => {
    const real = temporaryFolder();
    const link = join(temporaryFolder(), "link");
    symlinkSync(real, link);
    const own = { mode: "strict" as const };
    const fixture = await createGuardFixture({ projects: { [link]: own, "/p/x": { mode: "warn" } } });
    const asks = { edits: true, starts: false };
    const not = { edits: false, starts: false };
    expect(await read(fixture)).toEqual({
      general: not,
      projects: { [link]: asks, [real]: asks, "/p/x": not },
    });
    fixture.guard.stop?.();
    expect(existsSync(fixture.paths.guardScope)).toBe(false);
  });

  test("is not written if they have to ask nowhere", async () => {
    const { paths } = await createGuardFixture(warn);
    expect(existsSync(paths.guardScope)).toBe(false);
  });
});

describe("hook answers", () => {
  const begun = { hook_event_name: "SessionStart", session_id: "s1", source: "startup", cwd };
  test("nothing unless the settings say so", async () => {
    const { check } = await createGuardFixture(strict);
    expect(check(begun).metadata).toEqual({
      ...{ mode: "strict", project: cwd, session_id: "s1", fingerprint: null },
    });
  });
  test("the running port, its title and open dependencies at the start", async () => {
    const fixture = await createGuardFixture({ ...strict, context: true, messages: true });
    await create(fixture, "store");
    await create(fixture, "login", ["store"]);
    await begin(fixture, "login");
    const text = "Running port login: About login (depends on store, not ended yet)";
    expect(fixture.check(begun).metadata).toMatchObject({
      additional_context: text,
      system_message: `beckon: ${text}`,
    });
    expect(fixture.events).toMatchObject([
      { event_type: "context_loaded", session_id: "s1", summary: text, port_id: "login" },
    ]);
  });
  test("a dry run records nothing", async () => {
    const fixture = await createGuardFixture({ ...strict, context: true });
    await fixture.send(start);
    fixture.events.length = 0;
    fixture.guard.check({ provider: "claude", ...edit("a.ts") }, true);
    fixture.guard.check({ provider: "claude", ...begun }, true);
    expect(fixture.events).toEqual([]);
  });
});

describe("events", () => {
  const failed = (tool: string, id: string, more: JsonRecord) => [
    event("PreToolUse", { tool_name: tool, tool_use_id: id, ...more }),
    event("PostToolUseFailure", { tool_name: tool, tool_use_id: id, error: "Exit code 1", ...more }),
  ];
  const command = (text: string) => ({ tool_input: { command: text } });
  const ask = { tool_name: "Bash", tool_input: { command: "ls" } };

  test.each<[string, JsonRecord[]]>([
    ["session_start", [start]],
    ["session_end", [start, event("SessionEnd", { reason: "prompt_input_exit" })]],
    ["user_request", [event("UserPromptSubmit", { prompt: "Do it" })]],
    ["file_edit", [edited("/p/shop/a.ts")]],
    ["untracked_edit", [edited("/p/shop/a.ts")]],
    ["build_failed", failed("Bash", "t1", command("npm run build"))],
    ["test_failed", failed("Bash", "t1", command("bun test src"))],
    ["compact", [start, event("SessionStart", { source: "compact" })]],
    ["checkpoint_created", [start, event("SessionStart", { source: "compact" })]],
    [
      "context_loaded",
      [event("InstructionsLoaded", { file_path: "/p/shop/CLAUDE.md", memory_type: "Project" })],
    ],
    ["escalation", [event("UserPromptSubmit", { prompt: "x" }), event("PermissionRequest", ask)]],
    ["agent_activated", [event("SubagentStart", { agent_id: "a1", agent_type: "Explore" })]],
    [
      "agent_deactivated",
      [
        event("SubagentStart", { agent_id: "a1", agent_type: "Explore" }),
        event("SubagentStop", { agent_id: "a1", agent_type: "Explore" }),
      ],
    ],
    ["quality_warning", [1, 2, 3].flatMap((n) => failed("Grep", `t${n}`, { tool_input: { pattern: "x" } }))],
  ])("%s", async (type, payloads) => {
    const fixture = await createGuardFixture(warn);
    for (const payload of payloads) await fixture.send(payload);
    expect(fixture.eventTypes().filter((found) => found === type)).toEqual([type]);
    expect(new Set(fixture.events.map(({ id }) => id)).size).toBe(fixture.events.length);
  });

  test("decision: an ask that is over", async () => {
    const { guard, events, send, store } = await createGuardFixture(warn);
    await send(start);
    const session = store.get({ agent: "claude", sessionId: "s1" });
    if (!session) throw new Error("no session");
    const open = { id: "1", kind: "permission", tool: "Bash", summary: "ls", at: 5 } as never;
    guard.onTransition?.({
      kind: "ask-ended",
      id: "x",
      session,
      ask: open,
      how: "allowed",
      where: "menu",
      waitedMs: 4,
    });
    expect(events.at(-1)).toMatchObject({
      event_type: "decision",
      summary: "allowed: Bash: ls",
      details: { how: "allowed", where: "menu", waited_ms: 4 },
    });
  });

  test("context_overflow: once for each time that the context grows past the budget", async () => {
    const fixture = await createGuardFixture({ ...warn, tokenBudget: 1_000 });
    await fixture.send(start);
    let n = 0;
    const use = (used: number) => {
      const subject = { agent: "claude", sessionId: "s1" };
      const moment = { at: 1_800_000_100_000 + ++n, t: 1_800_000_100_000 + n };
      fixture.store.dispatch(
        createInternalEvent(`u${n}`, moment, subject, {
          kind: "enriched",
          with: { context: { used, window: null } },
        }),
      );
    };
    for (const used of [900, 1_000, 1_200, 500, 1_100]) use(used);
    const overflows = fixture.events.filter(({ event_type }) => event_type === "context_overflow");
    expect(overflows.map(({ details }) => details)).toEqual([
      { tokens_used: 1_000, token_budget: 1_000 },
      { tokens_used: 1_100, token_budget: 1_000 },
    ]);
  });

  test("dependency_resolved: a port has ended that another depends on", async () => {
    const fixture = await createGuardFixture(warn);
    await create(fixture, "store");
    await create(fixture, "login", ["store"]);
    await begin(fixture, "store");
    await fixture.poll();
    await finish(fixture, "store");
    await fixture.poll();
    expect(fixture.events).toMatchObject([
      { event_type: "port_end", session_id: "", port_id: "store" },
      {
        event_type: "dependency_resolved",
        session_id: "",
        port_id: "login",
        summary: "login no longer waits for store",
      },
    ]);
  });

  test("an edit belongs to the port that runs, and needs no warning", async () => {
    const fixture = await createGuardFixture(warn);
    await create(fixture, "login");
    await begin(fixture, "login");
    await fixture.poll();
    await fixture.send(start);
    await fixture.send(edited("/p/shop/a.ts"));
    const edits = fixture.events.filter(({ event_type }) => event_type.endsWith("_edit"));
    expect(edits).toMatchObject([{ event_type: "file_edit", port_id: "login" }]);
  });

  test("an agent that names the file only at the start of a call", async () => {
    const fixture = await createGuardFixture(warn);
    await fixture.send(
      event("PreToolUse", {
        tool_name: "Edit",
        tool_input: { file_path: "/p/shop/a.ts" },
        tool_use_id: "t1",
      }),
    );
    await fixture.send(event("PostToolUse", { tool_name: "Edit", tool_use_id: "t1" }));
    expect(fixture.eventTypes()).toEqual(["file_edit", "untracked_edit"]);
  });

  test("a patch of several files is one edit, and names one that needs a port", async () => {
    const fixture = await createGuardFixture({ projects: { [cwd]: { mode: "warn", ignore: ["*.md"] } } });
    await fixture.send(event("PostToolUse", patch("a.md", "b.ts")), {}, "codex");
    expect(fixture.events).toMatchObject([
      { event_type: "file_edit", details: { path: "a.md", paths: ["a.md", "b.ts"] } },
      { event_type: "untracked_edit", details: { path: "b.ts" } },
    ]);
  });

  test("nothing is recorded with the guard off and without a port", async () => {
    const fixture = await createGuardFixture({});
    await fixture.send(start);
    await fixture.send(edited("/p/shop/a.ts"));
    expect(fixture.events).toEqual([]);
  });

  test("a refused edit is recorded as refused", async () => {
    const fixture = await createGuardFixture(strict);
    await fixture.send(start);
    fixture.check(edit("/p/shop/a.ts"));
    expect(fixture.events.at(-1)).toMatchObject({ event_type: "untracked_edit", details: { blocked: true } });
  });
});
