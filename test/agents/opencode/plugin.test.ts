/** beckon's plugin inside of opencode: what it reports, what it passes back, and that no fault of it is noticed. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { letTimePass, waitUntil } from "../../wait-until.ts";
import { type LoadedPlugin, loadPlugin, loadPluginFor } from "./plugin.ts";

const folder = mkdtempSync(join(tmpdir(), "beckon-opencode-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const main = { id: "ses_1", directory: "/home/dev/proj", title: "Fix the cart", agent: "build" };
const child = { id: "ses_2", parentID: "ses_1", directory: "/home/dev/proj", agent: "general" };
const busy = (sessionID: string) => ({ sessionID, status: { type: "busy" } });
const idle = (sessionID: string) => ({ sessionID, status: { type: "idle" } });
const permission = {
  id: "per_1",
  sessionID: "ses_1",
  permission: "bash",
  patterns: ["npm test"],
  metadata: { command: "npm test" },
  always: ["npm *"],
  tool: { messageID: "msg_1", callID: "call_1" },
};

let plugin: LoadedPlugin;
beforeEach(async () => {
  plugin = await loadPlugin();
  await plugin.sendEvent("session.created", { info: main });
});

describe("it reports", () => {
  test("what an MCP server's tool is called with, as it is when opencode asks", async () => {
    const output = { args: { repo: "shop" } };
    await plugin.callHook(
      "tool.execute.before",
      { tool: "gh", sessionID: "ses_1", callID: "call_1" },
      output,
    );
    // Another plugin changes it after beckon's.
    output.args.repo = "everything";
    // opencode ignores arguments that replace its own: it runs those that it passed to the plugins (as the code of 1.18.33 says).
    output.args = { repo: "nothing" };
    const asked = { ...permission, permission: "gh", patterns: ["*"], metadata: {} };
    expect(await plugin.sendEvent("permission.asked", asked)).toMatchObject([
      { input: { repo: "everything" } },
    ]);
  });

  test("where a command would run, which opencode's request does not say", async () => {
    const args = { command: "npm test", workdir: "node_modules/evil", timeout: 5 };
    await plugin.callHook(
      "tool.execute.before",
      { tool: "bash", sessionID: "ses_1", callID: "call_1" },
      { args },
    );
    expect(await plugin.sendEvent("permission.asked", permission)).toMatchObject([
      { called: "bash", input: args },
    ]);
  });

  test("a turn once, although opencode announces every step of it", async () => {
    const types: unknown[] = [];
    for (const event of [busy("ses_1"), busy("ses_1"), idle("ses_1"), idle("ses_1")]) {
      types.push(...(await plugin.sendEvent("session.status", event)).map(({ type }) => type));
    }
    expect(types.filter((type) => type !== "session.updated")).toEqual(["session.busy", "session.idle"]);
  });

  test("what the user typed, without what opencode adds to it", async () => {
    const parts = [
      { type: "text", text: "go on" },
      { type: "text", text: "<file>…</file>", synthetic: true },
    ];
    expect(await plugin.callHook("chat.message", { sessionID: "ses_1" }, { parts })).toMatchObject([
      { type: "prompt", session: "ses_1", prompt: "go on" },
    ]);
  });

  test("an error with the end of its turn, and Esc as an interruption", async () => {
    await plugin.sendEvent("session.status", busy("ses_1"));
    const error = { name: "APIError", data: { message: "overloaded" } };
    await plugin.sendEvent("session.error", { sessionID: "ses_1", error });
    expect(await plugin.sendEvent("session.status", idle("ses_1"))).toContainEqual(
      expect.objectContaining({ type: "session.idle", error: "overloaded" }),
    );
    await plugin.sendEvent("session.status", busy("ses_1"));
    await plugin.sendEvent("session.error", { sessionID: "ses_1", error: { name: "MessageAbortedError" } });
    expect(await plugin.sendEvent("session.status", idle("ses_1"))).toContainEqual(
      expect.objectContaining({ type: "session.idle", aborted: true }),
    );
    await plugin.sendEvent("session.status", busy("ses_1"));
    expect(await plugin.sendEvent("session.status", idle("ses_1"))).not.toContainEqual(
      expect.objectContaining({ aborted: true }),
    );
  });

  test("no error of an earlier turn, if it comes after the end of that turn", async () => {
    await plugin.sendEvent("session.status", busy("ses_1"));
    await plugin.sendEvent("session.status", idle("ses_1"));
    await plugin.sendEvent("session.error", { sessionID: "ses_1", error: { name: "MessageAbortedError" } });
    await plugin.sendEvent("session.status", busy("ses_1"));
    const [end] = await plugin.sendEvent("session.status", idle("ses_1"));
    expect(end).toMatchObject({ type: "session.idle" });
    expect(end).not.toHaveProperty("aborted");
  });

  test("what a subagent does under the session that the user started", async () => {
    await plugin.sendEvent("session.created", { info: child });
    expect(await plugin.sendEvent("session.status", busy("ses_2"))).toMatchObject([
      { type: "session.busy", session: "ses_1", subagent: "ses_2", subagentType: "general" },
    ]);
    const asked = { ...permission, sessionID: "ses_2" };
    expect(await plugin.sendEvent("permission.asked", asked)).toMatchObject([
      { type: "permission.asked", session: "ses_1", subagent: "ses_2", request: "per_1" },
    ]);
    // Its prompt was written by the main session, not by the user.
    expect(await plugin.callHook("chat.message", { sessionID: "ses_2" }, { parts: [] })).toEqual([]);
  });

  test("that the user left a session for another one, until they return to it", async () => {
    await plugin.sendEvent("session.status", busy("ses_1"));
    await plugin.sendEvent("session.status", idle("ses_1"));
    await plugin.sendEvent("session.created", { info: { ...main, id: "ses_9" } });
    const sent = await plugin.callHook("chat.message", { sessionID: "ses_9" }, { parts: [] });
    expect(sent).toContainEqual(expect.objectContaining({ type: "session.left", session: "ses_1" }));
    const again = await plugin.callHook("chat.message", { sessionID: "ses_9" }, { parts: [] });
    expect(again.map(({ type }) => type)).toEqual(["prompt"]);
  });

  test("tokens of the session and its subagents", async () => {
    const tokens = { input: 100, output: 20, reasoning: 0, cache: { read: 5, write: 0 } };
    await plugin.sendEvent("session.updated", { info: { ...main, tokens, cost: 0.25 } });
    await plugin.sendEvent("session.created", { info: child });
    const [sent] = await plugin.sendEvent("session.updated", { info: { ...child, tokens, cost: 0.5 } });
    expect(sent).toMatchObject({
      type: "session.updated",
      session: "ses_1",
      title: "Fix the cart",
      sessions: [
        { id: "ses_1", tokens, cost: 0.25 },
        { id: "ses_2", tokens, cost: 0.5 },
      ],
    });
  });

  test("a call without the file that it writes", async () => {
    const args = { filePath: "a.ts", content: "x".repeat(100_000) };
    const [sent] = await plugin.callHook(
      "tool.execute.before",
      { tool: "write", sessionID: "ses_1", callID: "call_1" },
      { args },
    );
    expect(JSON.stringify(sent).length).toBeLessThan(3_000);
  });
});

describe("it passes an answer to opencode", () => {
  test.each([
    [{ reply: "once" }, { reply: "once" }],
    [{ reply: "always" }, { reply: "always" }],
    [
      { reply: "reject", message: "not on a Friday" },
      { reply: "reject", message: "not on a Friday" },
    ],
  ])("to a permission: %j", async (output, body) => {
    await plugin.sendEvent("permission.asked", permission);
    plugin.print(output);
    expect(plugin.posts).toMatchObject([
      { url: "/permission/{requestID}/reply", path: { requestID: "per_1" }, body },
    ]);
  });

  test("to a question, or rejects it", async () => {
    const questions = [{ question: "Which?", header: "", options: [{ label: "Red", description: "" }] }];
    await plugin.sendEvent("question.asked", { id: "que_1", sessionID: "ses_1", questions });
    plugin.print({ answers: [["Red"]] });
    plugin.print({ reply: "reject" });
    expect(plugin.posts).toMatchObject([
      { url: "/question/{requestID}/reply", path: { requestID: "que_1" }, body: { answers: [["Red"]] } },
      { url: "/question/{requestID}/reject", path: { requestID: "que_1" } },
    ]);
  });

  test("but nothing if beckon decided nothing", async () => {
    await plugin.sendEvent("permission.asked", permission);
    plugin.print({});
    expect(plugin.posts).toEqual([]);
  });
});

describe("opencode does not notice", () => {
  test("events of another version", async () => {
    for (const type of ["session.created", "session.status", "permission.asked", "message.updated", "x"]) {
      for (const properties of [undefined, null, {}, { info: null }, { status: null }])
        await plugin.sendEvent(type, properties);
    }
    // What names no session is not sent.
    expect(await plugin.callHook("chat.message", {}, undefined)).toEqual([]);
  });

  test("that beckon was removed: it stops trying, and nothing is thrown", async () => {
    const hooks = await loadPluginFor(join(folder, "gone"));
    const started = performance.now();
    for (let n = 0; n < 50; n++) {
      await hooks.event?.({ event: { type: "session.created", properties: { info: { id: `ses_${n}` } } } });
    }
    expect(performance.now() - started).toBeLessThan(200);
    await letTimePass(
      50,
      "an exception or a rejection that nobody handles would fail this test a little later",
    );
  });

  test("a beckon that hangs: no hook waits for it", async () => {
    const program = join(folder, "hangs");
    writeFileSync(program, "#!/bin/sh\nexec sleep 30\n", { mode: 0o755 });
    const hooks = await loadPluginFor(program);
    const started = performance.now();
    for (let n = 0; n < 5; n++) {
      await hooks["tool.execute.before"]?.({ tool: "bash", sessionID: "ses_1", callID: `call_${n}` }, {});
    }
    expect(performance.now() - started).toBeLessThan(100);
  });

  test("and beckon gets the events in their order, with opencode's process id", async () => {
    const log = join(folder, "log");
    const program = join(folder, "writes");
    writeFileSync(program, `#!/bin/sh\nread -r line; echo "$OPENCODE_PID $* $line" >>${log}\n`, {
      mode: 0o755,
    });
    const hooks = await loadPluginFor(program);
    for (let n = 0; n < 20; n++) {
      const info = { id: `ses_${n}` };
      await hooks.event?.({ event: { type: "session.created", properties: { info } } });
    }
    const readLines = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
    await waitUntil(() => readLines().length === 20, 10_000);
    const lines = readLines();
    expect(lines.map((line) => /"session":"ses_(\d+)"/.exec(line)?.[1])).toEqual(
      Array.from({ length: 20 }, (_, n) => String(n)),
    );
    expect(lines[0]).toStartWith(`${process.pid} hook opencode --connect {`);
  });
});

describe("before an edit it asks the work guard", () => {
  const scope = join(folder, "guard.json");
  const log = join(folder, "asked");
  const yes = { edits: true, starts: false };
  const no = { edits: false, starts: false };
  const project = "/home/dev/proj";
  let programs = 0;

  /** The plugin with a beckon that runs this shell command if the guard is asked. */
  async function load(
    command: string,
    settings: object | null,
  ): Promise<(tool: string, args: object) => Promise<unknown>> {
    rmSync(scope, { force: true });
    rmSync(log, { force: true });
    if (settings) writeFileSync(scope, JSON.stringify(settings));
    const program = join(folder, `guard-${++programs}`);
    writeFileSync(program, `#!/bin/sh\n[ "$3" = --guard ] || exit 0\ncat >>${log}\n${command}\n`, {
      mode: 0o755,
    });
    const hooks = await loadPluginFor(program, scope);
    return async (tool, args) => {
      try {
        await hooks["tool.execute.before"]?.({ tool, sessionID: "ses_1", callID: "call_1" }, { args });
        return "goes on";
      } catch (error) {
        return error;
      }
    };
  }
  const refuse = `printf '%s' '{"refuse":"No port is running"}'`;
  const on = { general: no, projects: { [project]: yes } };
  const write = { filePath: `${project}/a.ts`, content: "x".repeat(10_000) };
  const patch = (...files: string[]) => ({
    patchText: [
      "*** Begin Patch",
      ...files.flatMap((file) => [`*** Update File: ${file}`, "+x"]),
      "*** End Patch",
    ].join("\n"),
  });

  test("a refusal keeps the tool from running, and is what the model gets", async () => {
    const call = await load(refuse, on);
    expect(await call("write", write)).toEqual(new Error("No port is running"));
    expect(JSON.parse(readFileSync(log, "utf8"))).toEqual({
      ...{ type: "tool.started", session: "ses_1", cwd: project, tool: "write" },
      input: { filePath: write.filePath },
    });
  });

  test.each<[string, string, object]>([
    ["approves", "true", write],
    ["prints nonsense", "echo oops", write],
    ["prints something else", `echo '{"refuse":7}'`, write],
    ["fails", "exit 3", write],
  ])("the edit goes on if it %s", async (_, command, args) => {
    const call = await load(command, on);
    expect(await call("write", args)).toBe("goes on");
    expect(existsSync(log)).toBe(true);
  });

  test("what its model should know stands below the result of that edit, and of no other", async () => {
    rmSync(scope, { force: true });
    writeFileSync(scope, JSON.stringify(on));
    const program = join(folder, "guard-tells");
    const said = JSON.stringify({ tell: "a.ts also changed by codex" });
    writeFileSync(program, `#!/bin/sh\n[ "$3" = --guard ] || exit 0\nprintf '%s' '${said}'\n`, {
      mode: 0o755,
    });
    const hooks = await loadPluginFor(program, scope);
    const run = async (tool: string, callID: string, args: object) => {
      const result = { title: "", output: "Wrote file", metadata: {} };
      await hooks["tool.execute.before"]?.({ tool, sessionID: "ses_1", callID }, { args });
      await hooks["tool.execute.after"]?.({ tool, sessionID: "ses_1", callID }, result);
      return result.output;
    };
    expect(await run("write", "call_1", write)).toBe("Wrote file\n\na.ts also changed by codex");
    expect(await run("read", "call_2", write)).toBe("Wrote file");
  });

  test("the edit goes on after a second if beckon hangs, and at once if it was removed", async () => {
    const call = await load("exec sleep 30", on);
    const started = performance.now();
    expect(await call("edit", write)).toBe("goes on");
    expect(performance.now() - started).toBeWithin(900, 3_000);
    const hooks = await loadPluginFor(join(folder, "gone"), scope);
    await hooks["tool.execute.before"]?.({ tool: "write", sessionID: "s", callID: "c" }, { args: write });
  });

  test.each<[string, object | null, string, object, boolean]>([
    ["the guard is off", null, "write", write, false],
    ["it is on elsewhere", { general: no, projects: { "/home/dev/other": yes } }, "write", write, false],
    [
      "it is on in a project with a longer name",
      { general: no, projects: { [`${project}-2`]: yes } },
      "write",
      write,
      false,
    ],
    ["it is on in general", { general: yes, projects: {} }, "write", write, true],
    ["this project is excepted", { general: yes, projects: { [project]: no } }, "write", write, false],
    [
      "the file is in a project where it is on",
      { general: no, projects: { "/srv/x": yes } },
      "edit",
      { filePath: "/srv/x/a" },
      true,
    ],
    ["a patch changes a file here", on, "apply_patch", patch("/tmp/a", "b.ts"), true],
    ["a patch has Windows line ends", on, "apply_patch", patch("/tmp/a\r", "b.ts\r"), true],
    [
      "a patch has no blank after a colon",
      { general: no, projects: { "/srv": yes } },
      "apply_patch",
      { patchText: "*** Begin Patch\n*** Add File:/srv/a\n+x\n*** End Patch" },
      true,
    ],
    [
      "a patch changes files elsewhere",
      { general: no, projects: { "/srv": yes } },
      "apply_patch",
      patch("a", "b"),
      false,
    ],
    ["the tool edits nothing", on, "bash", { command: "ls" }, false],
    ["the file is damaged", [], "write", write, false],
  ])("only where it is needed: %s", async (_, settings, tool, args, isAsked) => {
    const call = await load("true", settings);
    expect(await call(tool, args)).toBe("goes on");
    expect(existsSync(log)).toBe(isAsked);
  });
});
