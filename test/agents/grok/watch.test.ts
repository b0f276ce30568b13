/** What Grok Build's files say that its hooks do not. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchGrok } from "../../../src/agents/grok/watch/index.ts";
import { type Change, createInternalEvent } from "../../../src/core/session/event.ts";
import { createStore } from "../../../src/state/store.ts";
import { waitUntil } from "../../wait-until.ts";
import { createWatchContext } from "../watch-context.ts";

const home = mkdtempSync(join(tmpdir(), "beckon-grok-"));
afterEach(() => rmSync(home, { recursive: true, force: true }));

test("the model, tokens, the size of the context and the title, once a turn has ended", async () => {
  const folder = join(home, ".grok/sessions/%2Fproj/s1");
  mkdirSync(folder, { recursive: true });
  const store = createStore();
  const clock = () => ({ at: 1_794_800_000_000, t: 1_000, boot: "boot", host: "host" });
  const watcher = watchGrok(createWatchContext("grok", store, { home, clock }));
  const find = () => store.get({ agent: "grok", sessionId: "s1" });
  const place = { local: true, pid: null, procStart: null, tty: null, terminalSessionId: null, env: {} };
  const subject = { agent: "grok", sessionId: "s1", place, transcriptPath: join(folder, "updates.jsonl") };
  const start = { kind: "session-start", source: "startup", model: null } as const;
  store.dispatch(createInternalEvent("e1", clock(), subject, start));
  // As Grok Build 1.0.41 writes them.
  const events = [
    { ts: "2026-11-18T12:49:20.576Z", type: "turn_started", model_id: "grok-code" },
    { ts: "2026-11-18T12:49:20.990Z", type: "turn_ended", outcome: "completed" },
  ];
  const usage = { inputTokens: 600, outputTokens: 120, cachedReadTokens: 50, cacheCreationTokens: 0 };
  const files = {
    "events.jsonl": events.map((event) => JSON.stringify(event)).join("\n"),
    "usage.json": JSON.stringify({ session: { ...usage, totalTokens: 720, modelCalls: 6 } }, null, 2),
    "signals.json": JSON.stringify({ contextTokensUsed: 128, contextWindowTokens: 128_000 }),
    "summary.json": JSON.stringify({ generated_title: "Find the colour" }, null, 2),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), `${text}\n`);
  const session = find();
  if (session) watcher.scan([session]);
  await waitUntil(() => find()?.model !== null, 10_000);
  watcher.stop();
  expect(find()).toMatchObject({
    model: "grok-code",
    title: "Find the colour",
    usage: { tokens: { input: 550, output: 120, cacheRead: 50, cacheWrite: 0 }, costMicros: null },
    context: { used: 128, window: 128_000 },
  });
});

test("a call ends when its file says so, also if its hook comes later", async () => {
  const folder = join(home, ".grok/sessions/%2Fproj/s2");
  mkdirSync(folder, { recursive: true });
  const store = createStore();
  let t = 1_000;
  const clock = () => ({ at: 1_794_800_000_000 + t, t, boot: "boot", host: "host" });
  const watcher = watchGrok(createWatchContext("grok", store, { home, clock }));
  const find = () => store.get({ agent: "grok", sessionId: "s2" });
  const place = { local: true, pid: null, procStart: null, tty: null, terminalSessionId: null, env: {} };
  const subject = { agent: "grok", sessionId: "s2", place, transcriptPath: join(folder, "updates.jsonl") };
  const dispatch = (change: Change) => {
    store.dispatch(createInternalEvent(`e${++t}`, clock(), subject, change));
    const session = find();
    if (session) watcher.check([session]);
  };
  const end = { ts: new Date(clock().at).toISOString(), type: "tool_completed", tool_name: "write" };
  const rows = [
    { ...end, outcome: "success", tool_call_id: "c1" },
    { ...end, outcome: "cancelled", tool_call_id: "c2" },
  ];
  writeFileSync(join(folder, "events.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const start = { kind: "tool-start", tool: "Write", inputKey: "k", summary: "", skill: null } as const;
  for (const toolUseId of ["c1", "c2", "c3"]) dispatch({ ...start, toolUseId, editPaths: ["/proj/a"] });
  const listRunning = () => find()?.tools.flatMap(({ toolUseId, ended }) => (ended ? [] : [toolUseId]));
  await waitUntil(() => listRunning()?.length === 1, 10_000);
  expect(listRunning()).toEqual(["c3"]);
  watcher.stop();
});
