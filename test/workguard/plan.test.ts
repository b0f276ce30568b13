/** The work guard's test plan: identity of sessions, strict mode, context, and how they work together. */
import { afterAll, describe, expect, test } from "bun:test";
import { computeFingerprint } from "../../src/core/view/session-view.ts";
import { createPort, emptyBook, startPort } from "../../src/workguard/ports.ts";
import { changePorts } from "../../src/workguard/store.ts";
import { removeTemporaryFolders } from "../storage/folder.ts";
import { createGuardFixture, type GuardFixture } from "./fixture.ts";

afterAll(removeTemporaryFolders);

const cwd = "/p/shop";
const place = (tty: string, pid = 100) => ({
  local: true,
  pid,
  procStart: "5",
  tty,
  terminalSessionId: null,
  env: {},
});
const strict = { projects: { [cwd]: { mode: "strict" as const } } };
const warn = { projects: { [cwd]: { mode: "warn" as const } } };
const edit = { hook_type: "pre-tool-use", tool_name: "Edit", cwd, tool_input: { file_path: `${cwd}/a.ts` } };

const startEverybody = ({ paths }: GuardFixture, id: string): Promise<unknown> =>
  changePorts(paths, cwd, false, (book) =>
    startPort(createPort(book, cwd, { id, title: `About ${id}`, dependsOn: [] }, 1), cwd, id, null, 2),
  );

describe("TestSessionIdentifier", () => {
  const fingerprint = (tty: string) => computeFingerprint({ firstCwd: cwd, place: place(tty) });
  test("the same cwd, another TTY → another fingerprint", () => {
    expect(fingerprint("/dev/pts/1")).not.toBe(fingerprint("/dev/pts/2"));
  });
  test("the same cwd, the same TTY → the same fingerprint", () => {
    expect(fingerprint("/dev/pts/1")).toBe(fingerprint("/dev/pts/1"));
    expect(fingerprint("/dev/pts/1")).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe("TestPortTrackingStrict", () => {
  test.each(["Edit", "Write", "MultiEdit", "NotebookEdit"])(
    "strict: %s without a port → block",
    async (tool) => {
      const { check } = await createGuardFixture(strict);
      const output = check({ ...edit, tool_name: tool });
      expect(output.decision).toBe("block");
      expect(output.suggestions).toContain('beckon port create ID --title "TITLE" && beckon port start ID');
      expect(output.reason).toContain("No port is running");
    },
  );
});

describe("TestHookOutputContext", () => {
  test("the context is filled in", async () => {
    const fixture = await createGuardFixture({ ...strict, tokenBudget: 50_000 });
    await fixture.send({ session_id: "s1", hook_event_name: "SessionStart", source: "startup", cwd });
    const document = { file_path: `${cwd}/CLAUDE.md`, memory_type: "Project" };
    await fixture.send({ session_id: "s1", hook_event_name: "InstructionsLoaded", cwd, ...document });
    await startEverybody(fixture, "login");
    expect(fixture.check({ ...edit, session_id: "s1" })).toMatchObject({
      decision: "approve",
      context: {
        active_port: { id: "login", title: "About login", status: "running", open_dependencies: [] },
        loaded_docs: [{ path: `${cwd}/CLAUDE.md`, type: "Project" }],
        session_state: "active",
        tokens_used: 0,
        token_budget: 50_000,
      },
    });
  });
});

describe("integration", () => {
  test("1. session identification", async () => {
    const { check } = await createGuardFixture(strict);
    const start = { hook_type: "session-start", session_id: "s1", cwd };
    const one = check(start, { pid: 100, procStart: "5", tty: "/dev/pts/1" }).metadata.fingerprint;
    const two = check(start, { pid: 200, procStart: "9", tty: "/dev/pts/2" }).metadata.fingerprint;
    expect(one).toMatch(/^[0-9a-f]{16}$/);
    expect(two).toMatch(/^[0-9a-f]{16}$/);
    expect(one).not.toBe(two);
  });

  test("2. port tracking", async () => {
    const fixture = await createGuardFixture(strict);
    expect(fixture.check(edit).decision).toBe("block");
    await startEverybody(fixture, "login");
    expect(fixture.check(edit).decision).toBe("approve");
    const warning = await createGuardFixture(warn);
    expect(warning.check(edit)).toMatchObject({
      decision: "approve",
      notifications: [{ level: "warn", title: "Edit without a port" }],
    });
    const off = await createGuardFixture({});
    expect(off.check(edit)).toMatchObject({ decision: "approve", notifications: [], suggestions: [] });
  });

  test("3. event emission", async () => {
    const { send, events } = await createGuardFixture(warn);
    await send({ session_id: "s1", hook_event_name: "SessionStart", source: "startup", cwd });
    const call = { tool_name: "Edit", tool_input: { file_path: `${cwd}/a.ts` }, tool_use_id: "t1" };
    await send({ session_id: "s1", hook_event_name: "PostToolUse", cwd, ...call });
    expect(events.map(({ event_type, session_id, severity }) => [event_type, session_id, severity])).toEqual([
      ["session_start", "s1", "info"],
      ["file_edit", "s1", "info"],
      ["untracked_edit", "s1", "warn"],
    ]);
    expect(events[2]).toEqual({
      id: expect.any(String),
      session_id: "s1",
      event_type: "untracked_edit",
      summary: `Without a port: Edit: ${cwd}/a.ts`,
      details: { tool: "Edit", path: `${cwd}/a.ts`, blocked: false },
      severity: "warn",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });
});

test("auto_create: true adds the suggestion, and creates nothing", async () => {
  const { check, paths } = await createGuardFixture({ ...strict, autoCreate: true });
  const path = `${cwd}/src/login/form.ts`;
  const { suggestions, decision } = check({ ...edit, tool_input: { file_path: path } });
  expect(decision).toBe("block");
  expect(suggestions[0]).toBe(
    'beckon port create login-form --title "Change src/login/form.ts" && beckon port start login-form',
  );
  expect(await Bun.file(paths.ports).exists()).toBe(false);
  expect(emptyBook.runs).toEqual([]);
});
