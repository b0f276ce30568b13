/** `beckon hook AGENT --guard`, against everything that may answer at the port: it prints a refusal or nothing, and exits with 0. */
import { afterEach, describe, expect, test } from "bun:test";
import { claudeForwarding } from "../../src/agents/claude/forwarding.ts";
import { codexForwarding } from "../../src/agents/codex/forwarding.ts";
import { readGuardRequest as readCodexRequest } from "../../src/agents/codex/payload.ts";
import { readGuardRequest as readCopilotRequest } from "../../src/agents/copilot/translate.ts";
import { geminiForwarding } from "../../src/agents/gemini/forwarding.ts";
import { readGuardRequest } from "../../src/agents/gemini/translate.ts";
import { agents, findAgent } from "../../src/agents/index.ts";
import { opencodeForwarding } from "../../src/agents/opencode/forwarding.ts";
import type { HookOutput } from "../../src/core/interfaces/wire.ts";
import { timing } from "../../src/core/timing.ts";
import { signDecision } from "../../src/system/decision-signature.ts";
import { forEachTest } from "../for-each-test.ts";
import { createHarness, expectNoOutput, parseEnvelope } from "./harness.ts";

const key = "key of this start";
const edit = {
  session_id: "s1",
  hook_event_name: "PreToolUse",
  cwd: "/p/shop",
  tool_name: "Write",
  tool_input: { file_path: "/p/shop/a.ts", content: "x".repeat(3_000_000) },
  tool_use_id: "t1",
};
const output = (more: Partial<HookOutput> = {}): HookOutput => ({
  decision: "block",
  reason: "No port is running",
  context: { active_port: null, loaded_docs: [], session_state: "active", tokens_used: 0, token_budget: 0 },
  notifications: [],
  suggestions: [],
  metadata: { mode: "strict", project: "/p/shop", session_id: "s1", fingerprint: null },
  ...more,
});
const refusal = {
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: "deny",
    permissionDecisionReason: "No port is running",
  },
};

const harness = forEachTest(createHarness);

/** A server that answers with what `reply` makes of the request's id. */
function serve(reply: (id: string) => string | Response): { readonly bodies: string[] } {
  const bodies: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const text = await request.text();
      bodies.push(text);
      const answer = reply(parseEnvelope(text)._meta.id);
      return typeof answer === "string" ? new Response(answer) : answer;
    },
  });
  stops.push(() => server.stop(true));
  harness.announce(server.port ?? 0, process.pid, { key });
  return { bodies };
}
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const signed = (id: string, value: object = output()) => `${signDecision(key, id, JSON.stringify(value))}\n`;
const ask = (payload: object = edit) => harness.forward(JSON.stringify(payload), {}, ["claude", "--guard"]);

test("a refusal is printed in the agent's own form", async () => {
  const { bodies } = serve((id) => signed(id));
  const { stdout, stderr, code } = await ask();
  expect(JSON.parse(stdout)).toEqual(refusal);
  expect([stderr, code]).toEqual(["", 0]);
  // A file's content stays here: the guard needs only its name.
  expect(bodies[0]?.length).toBeLessThan(5_000);
  expect(parseEnvelope(bodies[0]).payload.tool_input).toEqual({ file_path: "/p/shop/a.ts" });
});

describe("nothing is printed, and the edit goes on", () => {
  test("for an approval", async () => {
    serve((id) => signed(id, output({ decision: "approve", reason: "" })));
    expectNoOutput(await ask());
  });
  test("if beckon does not run", async () => expectNoOutput(await ask()));
  test("if nothing listens at its port any more", async () => {
    harness.announce(1, process.pid, { key });
    expectNoOutput(await ask());
  });
  test("if beckon does not answer in time", async () => {
    harness.listener(() => {});
    const endpoint = JSON.parse(await Bun.file(harness.inHome("endpoint.json")).text());
    harness.announce(Number(new URL(endpoint.url).port), process.pid, { key });
    const ran = await ask();
    expectNoOutput(ran);
    expect(ran.ms).toBeGreaterThan(timing.guardTimeoutMs * 0.9);
    expect(ran.ms).toBeLessThan(timing.guardTimeoutMs + 2_000);
  });
  test.each<[string, (id: string) => string | Response]>([
    ["an answer without a signature", () => JSON.stringify(output())],
    ["an answer signed for another request", () => signed("another")],
    ["an answer signed with another key", (id) => signDecision("wrong", id, JSON.stringify(output()))],
    ["an error", () => new Response(signed("x"), { status: 500 })],
    ["nonsense", () => "\u0000\u0001 {"],
    ["nothing", () => ""],
  ])("if it gets %s", async (_, reply) => {
    serve(reply);
    expectNoOutput(await ask());
  });
  test.each(["", "null", "[]", "{oops", '"text"'])("if stdin is %p", async (stdin) => {
    serve((id) => signed(id));
    expectNoOutput(await harness.forward(stdin, {}, ["claude", "--guard"]));
  });
  test("for an agent that beckon does not know", async () => {
    serve((id) => signed(id));
    expectNoOutput(await harness.forward(JSON.stringify(edit), {}, ["nobody", "--guard"]));
  });
  test("if BECKON_URL names another program: only this machine's own beckon may refuse", async () => {
    const { bodies } = serve((id) => signed(id));
    const url = JSON.parse(await Bun.file(harness.inHome("endpoint.json")).text()).url;
    await Bun.write(harness.inHome("endpoint.json"), "{}");
    const stdin = JSON.stringify(edit);
    expectNoOutput(await harness.forward(stdin, { BECKON_URL: url }, ["claude", "--guard"]));
    expect(bodies).toEqual([]);
  });
});

describe("the app writes where it has to be asked", () => {
  const yes = { edits: true, starts: true };
  const no = { edits: false, starts: false };
  const scope = { general: yes, projects: { "/p/shop": no, "/p/shop/strict": yes } };
  const start = { session_id: "s1", hook_event_name: "SessionStart", source: "startup", cwd: "/p/shop" };
  const inFolder = (cwd: string, file_path: string) => ({ ...edit, cwd, tool_input: { file_path } });

  test.each<[string, object, boolean]>([
    ["an edit in a project that is excepted", inFolder("/p/shop", "/p/shop/a.ts"), false],
    ["one with a relative path", inFolder("/p/shop", "a.ts"), false],
    ["one from elsewhere in that project", inFolder("/p/other", "/p/shop/a.ts"), false],
    ["a start there", start, false],
    ["an edit in another project", inFolder("/p/other", "/p/other/a.ts"), true],
    ["an edit in a project inside of it", inFolder("/p/shop", "/p/shop/strict/a.ts"), true],
    ["a start in another project", { ...start, cwd: "/p/other" }, true],
  ])("%s", async (_, payload, isAsked) => {
    const { bodies } = serve((id) => signed(id));
    await Bun.write(harness.inHome("guard.json"), JSON.stringify(scope));
    const ran = await ask(payload);
    expect(bodies.length).toBe(isAsked ? 1 : 0);
    if (!isAsked) expectNoOutput(ran);
  });

  test.each(["", "{oops", "[]", "{}", '{"general":null,"projects":{}}', '{"general":{},"projects":7}'])(
    "it asks if that is not known: %p",
    async (text) => {
      const { bodies } = serve((id) => signed(id));
      await Bun.write(harness.inHome("guard.json"), text);
      await ask();
      expect(bodies.length).toBe(1);
    },
  );
});

test("nothing is left in the spool or the log", async () => {
  await ask();
  expect([harness.spool(), harness.log()]).toEqual([[], ""]);
});

describe("what the CLI gets", () => {
  const format = (event: string, more: Partial<HookOutput>) =>
    claudeForwarding.guard?.formatOutput({ hook_event_name: event }, output(more));
  const metadata = {
    ...output().metadata,
    additional_context: "Running port a: A",
    system_message: "beckon: hi",
  };

  test("context and a message at the start of a session", () => {
    expect(format("SessionStart", { decision: "approve", metadata })).toEqual({
      hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "Running port a: A" },
      systemMessage: "beckon: hi",
    });
  });
  test("only a message for an edit without a port", () => {
    const { additional_context: _, ...message } = metadata;
    expect(format("PreToolUse", { decision: "approve", metadata: message })).toEqual({
      systemMessage: "beckon: hi",
    });
  });
  test("never a permission", () => {
    for (const event of ["PreToolUse", "SessionStart", "PermissionRequest", "Stop"])
      for (const decision of ["approve", "block", "allow"] as never[])
        expect(JSON.stringify(format(event, { decision, metadata }) ?? "")).not.toContain("allow");
  });
  test("a block is only for edits", () => {
    expect(format("SessionStart", {})).toBeNull();
    expect(format("Stop", {})).toBeNull();
  });
});

describe("what Codex gets", () => {
  const patch = (...files: string[]) =>
    ["*** Begin Patch", ...files.flatMap((file) => [`*** Update File: ${file}`, "@@", "-a", "+*** b"])]
      .concat("*** End Patch")
      .join("\n");
  const payload = { session_id: "s", cwd: "/p", hook_event_name: "PreToolUse", tool_name: "apply_patch" };
  const { guard } = codexForwarding;

  test("a refusal, or nothing", () => {
    expect(guard?.formatOutput(payload, output())).toEqual(refusal);
    expect(guard?.formatOutput(payload, output({ decision: "approve", reason: "" }))).toBeNull();
    expect(guard?.formatOutput({ hook_event_name: "PostToolUse" }, output())).toBeNull();
  });
  test("the files of a patch are what the guard is asked about", () => {
    const tool_input = { command: patch("a.ts", "docs/b.md") };
    const reduced = guard?.reduce({ ...payload, tool_input }) ?? {};
    expect(JSON.stringify(reduced)).not.toContain("-a");
    expect(readCodexRequest(reduced)).toEqual({
      ...{ sessionId: "s", cwd: "/p", isStart: false },
      edit: { tool: "Edit", paths: ["a.ts", "docs/b.md"] },
    });
    expect(
      readCodexRequest({ ...payload, tool_name: "Bash", tool_input: { command: "ls" } })?.edit,
    ).toBeNull();
  });
});

test.each([
  [
    "blanks before a header",
    "*** Begin Patch\n  *** Add File: a.ts\n+x\n\u0085*** Add File: b.ts\n+y\n*** End Patch",
  ],
  [
    "Windows line ends",
    "*** Begin Patch\r\n*** Add File: a.ts\r\n+x\r\n*** Delete File: b.ts\r\n*** End Patch\r\n",
  ],
  ["a heredoc", "<<'EOF'\n*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n+x\n*** End Patch\nEOF"],
])("Codex's patch with %s: the guard is asked about the same files", (_, command) => {
  const call = {
    cwd: "/p",
    hook_event_name: "PreToolUse",
    tool_name: "apply_patch",
    tool_input: { command },
  };
  const reduced = codexForwarding.guard?.reduce(call) ?? {};
  expect(readCodexRequest(call)?.edit?.paths).toEqual(["a.ts", "b.ts"]);
  expect(readCodexRequest(reduced)?.edit?.paths).toEqual(["a.ts", "b.ts"]);
});

describe("an agent that runs Claude Code's hooks of a project too", () => {
  const tool_input = { path: "/p/shop/a.ts", file_text: "x".repeat(10_000) };
  const call = { ...edit, tool_input, timestamp: "2026-11-17T12:58:25.158Z" };
  test("Copilot CLI is refused as itself, with its own file and session", async () => {
    const { bodies } = serve((id) => signed(id));
    const { stdout } = await harness.forward(JSON.stringify(call), { COPILOT_CLI: "1" }, [
      "claude",
      "--guard",
    ]);
    expect(JSON.parse(stdout)).toEqual(refusal);
    expect(parseEnvelope(bodies[0]).provider).toBe("copilot");
    const { payload } = parseEnvelope(bodies[0]);
    expect(readCopilotRequest(payload)).toEqual({
      ...{ sessionId: "s1", cwd: "/p/shop", isStart: false },
      edit: { tool: "Write", paths: ["/p/shop/a.ts"] },
    });
  });
  test("Cursor is not refused, and nothing is asked", async () => {
    const { bodies } = serve((id) => signed(id));
    const payload = { ...edit, conversation_id: "c1", cursor_version: "3.2.16" };
    expectNoOutput(await harness.forward(JSON.stringify(payload), {}, ["claude", "--guard"]));
    expect(bodies).toEqual([]);
  });
});

test("opencode's plugin gets the reason of a refusal, or nothing", () => {
  const { guard } = opencodeForwarding;
  expect(guard?.formatOutput({ type: "tool.started" }, output())).toEqual({ refuse: "No port is running" });
  expect(guard?.formatOutput({ type: "tool.started" }, output({ decision: "approve" }))).toBeNull();
  expect(guard?.formatOutput({ type: "prompt" }, output())).toBeNull();
  const metadata = { ...output().metadata, additional_context: "a.ts also changed by codex" };
  const asks = output({ decision: "ask", reason: "a.ts", metadata });
  expect(guard?.formatOutput({ type: "tool.started" }, asks)).toEqual({ tell: "a.ts also changed by codex" });
});

describe("a file that another session has changed, if the user wants to be asked", () => {
  const fact = "a.ts also changed by codex in shop 2 min ago. That change is not committed.";
  const metadata = { ...output().metadata, additional_context: `${fact} Read the file again.` };
  const asks = output({ decision: "ask", reason: fact, metadata });
  const line = `beckon: ${fact}`;

  test("Claude Code opens its dialog", () => {
    expect(claudeForwarding.guard?.formatOutput({ hook_event_name: "PreToolUse" }, asks)).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "ask",
        permissionDecisionReason: fact,
      },
      systemMessage: line,
    });
  });
  test("Gemini CLI opens its dialog, which shows it", () => {
    expect(geminiForwarding.guard?.formatOutput({ hook_event_name: "BeforeTool" }, asks)).toEqual({
      decision: "ask",
      reason: fact,
      systemMessage: line,
    });
  });
  test.each(["codex", "qwen"])("the model of %s is told, and the user reads it", (id) => {
    expect(findAgent(id)?.forwarding.guard?.formatOutput({ hook_event_name: "PreToolUse" }, asks)).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        additionalContext: metadata.additional_context,
      },
      systemMessage: line,
    });
  });
  test("no agent gets a permission, or is silently let through if it could do more", () => {
    for (const { forwarding } of agents)
      for (const event of ["PreToolUse", "BeforeTool", "tool.started"]) {
        const printed = JSON.stringify(
          forwarding.guard?.formatOutput({ hook_event_name: event, type: event }, asks) ?? null,
        );
        expect(printed).not.toMatch(/allow|approve/);
      }
    for (const { name, forwarding } of agents.filter(({ forwarding: { guard } }) => guard?.collisions)) {
      const printed = ["PreToolUse", "BeforeTool", "tool.started"].map((event) =>
        forwarding.guard?.formatOutput({ hook_event_name: event, type: event }, asks),
      );
      expect(JSON.stringify(printed), name).toContain(fact);
    }
  });
});

describe("what Gemini CLI gets", () => {
  const format = (event: string, more: Partial<HookOutput>) =>
    geminiForwarding.guard?.formatOutput({ hook_event_name: event }, output(more));
  test("a refusal, or nothing", () => {
    expect(format("BeforeTool", {})).toEqual({ decision: "deny", reason: "No port is running" });
    expect(format("BeforeTool", { decision: "approve", reason: "" })).toBeNull();
    expect(format("AfterTool", {})).toBeNull();
  });
  test("the file that an edit changes is what the guard is asked about", () => {
    const payload = { session_id: "s", cwd: "/p", hook_event_name: "BeforeTool", tool_name: "write_file" };
    const tool_input = { file_path: "/p/a.ts", content: "x".repeat(1_000) };
    const reduced = geminiForwarding.guard?.reduce({ ...payload, tool_input }) ?? {};
    expect(JSON.stringify(reduced).length).toBeLessThan(200);
    expect(readGuardRequest(reduced)).toEqual({
      ...{ sessionId: "s", cwd: "/p", isStart: false, edit: { tool: "write_file", paths: ["/p/a.ts"] } },
    });
    expect(readGuardRequest({ ...payload, tool_name: "read_file" })?.edit).toBeNull();
  });
});
