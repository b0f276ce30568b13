/** What Kimi Code's wire file says that its hooks do not. */
import { afterEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { watchKimi } from "../../../src/agents/kimi/watch/index.ts";
import { createInternalEvent } from "../../../src/core/session/event.ts";
import { createStore } from "../../../src/state/store.ts";
import { waitUntil } from "../../wait-until.ts";
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
