/** What Kimi Code's wire file says that its hooks do not. */
import { afterEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FileHook } from "../../../src/agents/agent.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { translate } from "../../../src/agents/kimi/translate.ts";
import { watchKimi } from "../../../src/agents/kimi/watch/index.ts";
import { createInternalEvent } from "../../../src/core/session/event.ts";
import { createStore } from "../../../src/state/store.ts";
import { waitUntil } from "../../wait-until.ts";
import { type RecordedRow, startedAt } from "../replay-other.ts";
import { createWatchContext } from "../watch-context.ts";

const home = mkdtempSync(join(tmpdir(), "beckon-kimi-"));
afterEach(() => rmSync(home, { recursive: true, force: true }));

test("the model, tokens, the size of the context and the text after the last tool", async () => {
  const path = join(home, ".kimi-code/sessions/wd_proj/session_1/agents/main/wire.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  const store = createStore();
  const clock = () => ({ at: 1_794_800_000_000, t: 1_000, boot: "boot", host: "host" });
  const watcher = watchKimi(createWatchContext("kimi", store, { home, clock }));
  const find = () => store.get({ agent: "kimi", sessionId: "session_1" });
  const place = { local: true, pid: null, procStart: null, tty: null, terminalSessionId: null, env: {} };
  const start = { kind: "session-start", source: "startup", model: null } as const;
  store.dispatch(createInternalEvent("e1", clock(), { agent: "kimi", sessionId: "session_1", place }, start));
  // As Kimi Code 2.1.0 writes them.
  const step = (event: object) => ({ type: "context.append_loop_event", agentId: "main", event });
  const say = (text: string) => step({ type: "content.part", part: { type: "text", text } });
  const rows = [
    { type: "llm.request", agentId: "main", kind: "loop", model: "kimi-k2" },
    ...[step({ type: "step.begin" }), say("Let me look.")],
    {
      type: "usage.record",
      usage: { inputOther: 100, output: 20, inputCacheRead: 5, inputCacheCreation: 0 },
    },
    ...[step({ type: "step.begin" }), say("It is "), say("done.")],
    { type: "token_counting.measured", agentId: "main", tokens: 120 },
  ];
  appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const session = find();
  if (session) watcher.scan([session]);
  await waitUntil(() => find()?.lastResponse !== null, 10_000);
  watcher.stop();
  expect(find()).toMatchObject({
    model: "kimi-k2",
    lastResponse: "It is done.",
    usage: { tokens: { input: 100, output: 20, cacheRead: 5, cacheWrite: 0 } },
    context: { used: 120 },
  });
});

/** A session whose wire files are those of a recording, without a hook at any call. */
function openRecording(scenario: string) {
  const rows = readFileSync(join(import.meta.dir, `../../fixtures/agents/kimi/${scenario}.jsonl`), "utf8");
  let sessionId = "";
  for (const row of rows
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as RecordedRow)) {
    if (row.kind !== "file") continue;
    const path = join(home, row.file.replace(/^\/home\/dev\//, ""));
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, `${JSON.stringify(row.line)}\n`);
    sessionId = /session_[\w-]+/.exec(path)?.[0] ?? sessionId;
  }
  const store = createStore();
  const reported: FileHook[] = [];
  const clock = () => ({ at: startedAt + 12_500, t: 12_500, boot: "boot", host: "host" });
  function report(hook: FileHook): void {
    reported.push(hook);
    const message = openEnvelope({ _meta: {}, payload: hook.payload }, "kimi", "host");
    const stamp = { id: hook.id, key: hook.id, at: hook.at, t: hook.at - startedAt };
    const event = message && translate(message, stamp);
    if (event) store.dispatch(event);
  }
  const watcher = watchKimi(createWatchContext("kimi", store, { home, clock, report }));
  const place = { local: true, pid: null, procStart: null, tty: null, terminalSessionId: null, env: {} };
  const about = { agent: "kimi", sessionId, place, cwd: "/home/dev/proj" };
  const prompt = { kind: "prompt", text: "go", byMachine: false } as const;
  store.dispatch(createInternalEvent("e1", { at: startedAt, t: 0 }, about, prompt));
  const find = () => store.get({ agent: "kimi", sessionId });
  const follow = () =>
    waitUntil(() => {
      const session = find();
      if (session) watcher.check([session]);
      return reported.length > 1;
    }, 10_000);
  return { reported, find, follow, stop: watcher.stop };
}

test("calls are reported as their hooks would have, and end, as the wire file says", async () => {
  const { reported, find, follow, stop } = openRecording("edit");
  await follow();
  stop();
  const id = "session_aa1324d1-4981-4b5f-ae68-ae5d338d3ec7.call_fake00000005";
  const call = { tool_name: "Write", tool_input: { path: "/home/dev/proj/w.txt", content: "hello" } };
  expect(reported).toMatchObject([
    { id, payload: { hook_event_name: "PreToolUse", ...call } },
    { id: `${id}.end`, payload: { hook_event_name: "PostToolUse", ...call } },
  ]);
  expect(find()?.edits.map(({ path }) => path)).toEqual(["/home/dev/proj/w.txt"]);
});

test("a subagent's calls are in its own wire file, and its own call has a hook", async () => {
  const { reported, follow, stop } = openRecording("subagent");
  await follow();
  stop();
  const seen = reported.map(({ payload }) => [payload.hook_event_name, payload.tool_input]);
  const input = { command: "touch s1", description: "fake" };
  expect(seen).toEqual([
    ["PreToolUse", input],
    ["PostToolUse", input],
  ]);
});
