/** What Grok Build's files say that its hooks do not. */
import { afterEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FileHook } from "../../../src/agents/agent.ts";
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

const running = { local: true, pid: 4_190_001, procStart: null, tty: null, terminalSessionId: null, env: {} };

/** Sessions of one process, with files as Grok Build 1.0.41 writes them. */
function openSessions(...ids: readonly string[]) {
  const store = createStore();
  let t = 1_000;
  const clock = () => ({ at: 1_794_800_000_000 + t, t, boot: "boot", host: "host" });
  const reported: FileHook[] = [];
  const report = (hook: FileHook) => void reported.push(hook);
  const watcher = watchGrok(createWatchContext("grok", store, { home, clock, report }));
  const find = (sessionId: string) => store.get({ agent: "grok", sessionId });
  const pathOf = (id: string, file: string) => join(home, `.grok/sessions/%2Fproj/${id}/${file}.jsonl`);
  function dispatch(sessionId: string, change: Change): void {
    const about = {
      agent: "grok",
      sessionId,
      place: running,
      // The first hook of a subagent names none.
      ...(sessionId === "sub" ? {} : { transcriptPath: pathOf(sessionId, "updates") }),
    };
    const event = createInternalEvent(`e${++t}`, clock(), about, change);
    store.dispatch(event);
    const session = find(sessionId);
    if (session) watcher.follow(session, event);
  }
  const append = (id: string, file: string, row: object) => {
    mkdirSync(dirname(pathOf(id, file)), { recursive: true });
    appendFileSync(pathOf(id, file), `${JSON.stringify(row)}\n`);
  };
  for (const id of ids) dispatch(id, { kind: "prompt", text: "go", byMachine: false });
  return {
    reported,
    find,
    dispatch,
    stop: watcher.stop,
    /** A line of events.jsonl. */
    log: (id: string, type: string, more: object = {}) =>
      append(id, "events", {
        ts: new Date(clock().at).toISOString(),
        type,
        tool_name: "run_terminal_command",
        ...more,
      }),
    /** A call, in the transcript. */
    call(id: string, toolCallId: string, command: string) {
      const _meta = { "x.ai/tool": { version: 1, name: "run_terminal_command", kind: "execute" } };
      const rawInput = { command, description: "fake" };
      const update = { sessionUpdate: "tool_call", toolCallId, title: "run", rawInput, _meta };
      const params = { sessionId: id, update, _meta: { agentTimestampMs: clock().at } };
      append(id, "updates", { timestamp: 1, method: "session/update", params });
    },
    check: () =>
      watcher.check(
        ids.flatMap((id) => {
          const session = find(id);
          return session ? [session] : [];
        }),
      ),
  };
}

const notification = {
  kind: "ask",
  ask: "permission",
  tool: null,
  inputKey: null,
  summary: "",
  options: [],
} as const;

test("a call that nobody is asked about is reported from the files, with its end", async () => {
  const { reported, log, call, check, stop } = openSessions("s2");
  log("s2", "tool_started");
  call("s2", "c1", "true");
  log("s2", "tool_completed", { tool_call_id: "c1", outcome: "cancelled" });
  const readAll = () => {
    check();
    return reported.length === 2;
  };
  await waitUntil(readAll, 10_000);
  stop();
  expect(reported.map(({ id, payload }) => [id, payload.hook_event_name, payload.tool_input])).toEqual([
    ["s2.c1", "PreToolUse", { command: "true", description: "fake" }],
    ["s2.c1.end", "PostToolUseFailure", { command: "true", description: "fake" }],
  ]);
});

test("a request names its own call, though its notification names none and another call still runs", async () => {
  const { reported, find, dispatch, log, call, check, stop } = openSessions("s3");
  log("s3", "tool_started");
  call("s3", "c1", "first");
  const readFirst = () => {
    check();
    return reported.length === 1;
  };
  await waitUntil(readFirst, 10_000);
  log("s3", "tool_started");
  call("s3", "c2", "second");
  log("s3", "permission_requested");
  dispatch("s3", notification);
  await waitUntil(() => find("s3")?.asks[0]?.tool !== null, 10_000);
  expect(find("s3")?.asks).toMatchObject([{ kind: "permission", tool: "Bash", summary: "second" }]);
  // It starts once it is allowed.
  expect(reported.map(({ id }) => id)).toEqual(["s3.c1"]);
  log("s3", "permission_resolved", { decision: "allow" });
  const readSecond = () => {
    check();
    return reported.length === 2;
  };
  await waitUntil(readSecond, 10_000);
  stop();
  expect(reported.at(-1)?.id).toBe("s3.c2");
});

test("a subagent's request names its call, though it is reported for the main session", async () => {
  const { find, dispatch, log, call, check, stop } = openSessions("main", "sub");
  log("main", "turn_started");
  log("sub", "tool_started");
  check();
  call("sub", "c1", "touch s1");
  log("sub", "permission_requested");
  dispatch("main", notification);
  const isNamed = () => {
    check();
    return find("main")?.asks[0]?.tool !== null;
  };
  await waitUntil(isNamed, 10_000);
  stop();
  expect(find("main")?.asks).toMatchObject([{ kind: "permission", tool: "Bash", summary: "touch s1" }]);
});
