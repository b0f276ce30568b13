/** What no hook reports: Esc, "No", kill -9, and sessions that started before beckon. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claude } from "../../../../src/agents/claude/index.ts";
import { watchClaude } from "../../../../src/agents/claude/watch/index.ts";
import { openEnvelope } from "../../../../src/agents/envelope.ts";
import type { Source } from "../../../../src/core/interfaces/index.ts";
import { maskText } from "../../../../src/secrets/index.ts";
import { createStore, type Store } from "../../../../src/state/store.ts";
import { createClock } from "../../../../src/system/clock.ts";
import { watchAgents } from "../../../../src/watch/index.ts";
import {
  type AppFixture,
  bash,
  createAppFixture,
  createAskEvent,
  createPromptEvent,
  proj,
} from "../../../app-fixture.ts";
import { viewSession } from "../../../core/view/session-view.ts";
import { waitUntil } from "../../../wait-until.ts";
import { createWatchContext } from "../../watch-context.ts";

/** Right after a start, only the next check may see a change. */
const nextCheckMs = 2_500;
const clock = createClock();
let fixture: AppFixture;
let store: Store;
let watching: Source | undefined;
let logged: string[] = [];

beforeEach(() => {
  fixture = createAppFixture();
  logged = [];
  store = createStore((text) => void logged.push(text));
});
afterEach(async () => {
  watching?.stop();
  await fixture.destroy();
});

function watch(): Source {
  const started = watchAgents({
    agents: new Map([["claude", claude]]),
    env: fixture.env,
    clock,
    sessions: () => store.sessions(clock()),
    get: store.get,
    dispatch: store.dispatch,
    mask: maskText,
    exec: async () => ({ code: null, stdout: "", stderr: "" }),
    addPendingRequest: () => () => {},
    report: () => {},
    listWindows: async () => [],
    findProgram: async () => null,
    readLineage: null,
    onError: (text) => void logged.push(text),
  });
  store.subscribe((session, event, before) => started.onChange?.({ session, event, before }));
  watching = started;
  return started;
}

let count = 0;
function hook(payload: Record<string, unknown>, meta: Record<string, unknown> = {}): void {
  const { at, t, host } = clock();
  const opened = openEnvelope({ _meta: { host, ...meta }, payload }, "claude", host);
  const event = opened && claude.translate(opened, { at, t, id: `h${++count}`, key: `k${count}` });
  if (event) store.dispatch(event);
}
const see = (id: string) => {
  const session = store.find(id, clock());
  return session && viewSession(session, clock());
};
const phase = (id: string) => see(id)?.activityPhase;
const interrupted = (at = Date.now()) => ({
  type: "user",
  timestamp: new Date(at).toISOString(),
  message: { role: "user", content: [{ type: "text", text: "[Request interrupted by user]" }] },
});

describe("a session in two terminals", () => {
  for (const how of ["its file is removed", "it is killed"]) {
    test(`continues in one when the other ends: ${how}`, async () => {
      const first = fixture.startAgent();
      const second = fixture.startAgent();
      fixture.writeStatus(first.pid, { sessionId: "a", status: "idle" });
      watch();
      fixture.writeStatus(second.pid, { sessionId: "a", status: "waiting", waitingFor: "permission prompt" });
      await waitUntil(() => phase("a") === "waiting_permission", nextCheckMs);
      hook(
        { session_id: "a", hook_event_name: "CwdChanged" },
        { pid: first.pid, procStart: first.procStart },
      );
      if (how === "it is killed") process.kill(first.pid, "SIGKILL");
      else unlinkSync(fixture.statusPath(first.pid));
      await waitUntil(() => see("a")?.place?.pid === second.pid, nextCheckMs);
      expect(see("a")).toMatchObject({ state: "active", activityPhase: "waiting_permission" });
      process.kill(second.pid, "SIGKILL");
      await waitUntil(() => see("a")?.state === "completed", nextCheckMs);
    });
  }
});

test("secrets in a transcript or a session's name are masked like those in hooks", async () => {
  const { pid } = fixture.startAgent();
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const message = { id: "m", model: "x", content: [{ type: "text", text: `The token is ${secret}.` }] };
  fixture.appendTranscript(
    "a",
    { type: "assistant", message },
    { type: "ai-title", aiTitle: `Use ${secret}` },
  );
  fixture.writeStatus(pid, { sessionId: "a", status: "idle", name: `Use ${secret}`, nameSource: "user" });
  watch().start();
  await waitUntil(() => see("a")?.lastResponse, 1_000);
  expect(see("a")).toMatchObject({ title: "Use •••", lastResponse: "The token is •••." });
});

describe("a CLI whose hooks do not say everything", () => {
  const prompt = (text: string) => ({ type: "user", message: { role: "user", content: text } });
  const answer = (id: string, text: string) => ({
    type: "assistant",
    message: { id, model: "x", content: [{ type: "text", text }] },
  });
  const runTurn = (transcript_path: string, stop: object = {}) => {
    hook({ session_id: "a", transcript_path, hook_event_name: "UserPromptSubmit", prompt: "go" });
    hook({ session_id: "a", transcript_path, hook_event_name: "Stop", ...stop });
  };

  test("has the response of each turn, although Stop has none", async () => {
    watch();
    runTurn(fixture.appendTranscript("a", prompt("one"), answer("m1", "First.")));
    await waitUntil(() => see("a")?.lastResponse === "First.", 2_000);
    runTurn(fixture.appendTranscript("a", prompt("two"), answer("m2", "Second.")));
    await waitUntil(() => see("a")?.lastResponse === "Second.", 2_000);
  });

  test("a response that Stop has is not replaced by the transcript, which may be older", async () => {
    watch();
    const path = fixture.appendTranscript("a", prompt("one"), answer("m1", "First."));
    runTurn(path, { last_assistant_message: "First." });
    runTurn(path, { last_assistant_message: "Second, in full." });
    fixture.appendTranscript("a", { type: "ai-title", aiTitle: "Two turns" });
    await waitUntil(() => see("a")?.title === "Two turns", 2_000);
    expect(see("a")?.lastResponse).toBe("Second, in full.");
  });

  test("has its turns, although its transcript is empty", async () => {
    watch();
    const path = fixture.appendTranscript("a");
    runTurn(path);
    runTurn(path);
    expect(see("a")?.turnCount).toBe(2);
    fixture.appendTranscript("a", { type: "ai-title", aiTitle: "Nothing yet" });
    await waitUntil(() => see("a")?.title === "Nothing yet", 2_000);
    expect(see("a")?.turnCount).toBe(2);
  });
});

describe("a session that started before beckon", () => {
  test("is listed at once, with what it waits for and where", () => {
    const { pid, procStart } = fixture.startAgent();
    const status = {
      sessionId: "a",
      status: "waiting",
      waitingFor: "permission prompt",
      tmux: "s:@0.%4",
      entrypoint: "cli",
    };
    fixture.writeStatus(pid, status);
    watch();
    expect(see("a")).toMatchObject({
      activityPhase: "waiting_permission",
      attended: true,
      cwd: "/home/dev/proj",
      project: "proj",
      place: { local: true, pid, procStart, env: { TMUX_PANE: "%4" } },
    });
  });

  test("has its branch, model and title, though no hook named its transcript", async () => {
    const { pid } = fixture.startAgent();
    const message = { id: "m", model: "claude-opus-5-5", content: [{ type: "text", text: "Done." }] };
    fixture.appendTranscript(
      "a",
      { type: "assistant", gitBranch: "spine", message },
      { type: "ai-title", aiTitle: "Footer" },
    );
    fixture.writeStatus(pid, { sessionId: "a", status: "idle" });
    watch().start();
    await waitUntil(() => see("a")?.gitBranch, 1_000);
    expect(see("a")).toMatchObject({
      gitBranch: "spine",
      model: "claude-opus-5-5",
      title: "Footer",
      lastResponse: "Done.",
    });
  });

  test("has ended if the terminal left it while beckon was not running", async () => {
    const { pid } = fixture.startAgent();
    fixture.writeStatus(pid, { sessionId: "a", status: "idle" });
    const before = watch();
    before.stop();
    fixture.writeStatus(pid, { sessionId: "b", status: "idle" });
    watch();
    expect(see("b")?.state).toBe("active");
    await waitUntil(() => see("a")?.state === "completed", 1_500);
    expect(see("b")?.state).toBe("active");
  });
});

describe("what a session used", () => {
  const response = (id: string, output_tokens: number, more: Record<string, unknown> = {}) => ({
    type: "assistant",
    requestId: `r-${id}`,
    timestamp: "2026-11-16T00:00:00.000Z",
    ...more,
    message: { id, model: "claude-opus-5-5", content: [], usage: { input_tokens: 1_000, output_tokens } },
  });
  const stop = (transcript_path: string) =>
    hook({ session_id: "a", hook_event_name: "Stop", transcript_path, ...proj });

  test("has its subagents' part, and grows with every turn", async () => {
    watch();
    const path = fixture.appendTranscript("a", response("m1", 100));
    fixture.appendTranscript("a/subagents/agent-x", response("m2", 10, { isSidechain: true }));
    hook({
      session_id: "a",
      hook_event_name: "SubagentStart",
      agent_id: "x",
      agent_type: "Explore",
      ...proj,
    });
    stop(path);
    await waitUntil(() => see("a")?.tokens, 2_000);
    expect(see("a")).toMatchObject({
      tokens: { input: 2_000, output: 110, cacheRead: 0, cacheWrite: 0, cached: 0 },
      costUsd: 0.0102,
      context: { used: 1_000, window: 1_000_000 },
      children: [
        { agentId: "x", model: "claude-opus-5-5", tokens: { input: 1_000, output: 10 }, costUsd: 0.0042 },
      ],
    });
    fixture.appendTranscript("a", response("m3", 1));
    stop(path);
    await waitUntil(() => see("a")?.tokens?.output === 111, 2_000);
  });

  test("is complete when the session has ended, and nothing of it is read after that", async () => {
    watch();
    const path = fixture.appendTranscript("a", response("m1", 100));
    stop(path);
    fixture.appendTranscript("a", response("m2", 5));
    hook({ session_id: "a", hook_event_name: "SessionEnd", reason: "other", ...proj });
    await waitUntil(() => see("a")?.tokens?.output === 105, 2_000);
    expect(see("a")).toMatchObject({ state: "completed", endReason: "other" });
  });

  test("keeps its branch after /clear in the same folder", async () => {
    watch();
    const { pid, procStart } = fixture.startAgent();
    const start = (session_id: string, source: string, cwd = proj.cwd) =>
      hook({ session_id, hook_event_name: "SessionStart", source, cwd }, { pid, procStart });
    const path = fixture.appendTranscript("a", response("m1", 1, { gitBranch: "spine" }));
    hook({ ...createPromptEvent("a"), transcript_path: path }, { pid, procStart });
    await waitUntil(() => see("a")?.gitBranch, 2_000);
    hook({ session_id: "a", hook_event_name: "SessionEnd", reason: "clear", ...proj }, { pid, procStart });
    start("b", "clear");
    await Promise.resolve();
    expect(see("b")?.gitBranch).toBe("spine");
    start("c", "clear", "/home/dev/other");
    start("d", "startup");
    await Promise.resolve();
    expect([see("c")?.gitBranch, see("d")?.gitBranch]).toEqual([null, null]);
  });

  test("is unknown until a long transcript has been read, which holds nothing up", async () => {
    watch();
    const filler = { type: "attachment", text: "x".repeat(1_000_000) };
    const path = fixture.appendTranscript("a", response("m1", 100), ...Array(9).fill(filler));
    fixture.appendTranscript("a", response("m2", 5, { gitBranch: "late" }));
    stop(path);
    await waitUntil(() => see("a")?.gitBranch === "late", 2_000);
    expect(see("a")?.tokens).toBeNull();
    await waitUntil(() => see("a")?.tokens?.output === 105, 4_000);
  });

  test("does not count a link to another folder as a subagent's", async () => {
    watch();
    const path = fixture.appendTranscript("a", response("m1", 100));
    const elsewhere = join(dirname(dirname(dirname(path))), "elsewhere.jsonl");
    writeFileSync(elsewhere, `${JSON.stringify(response("m2", 10, { isSidechain: true }))}\n`);
    fixture.appendTranscript("a/subagents/agent-x", response("m3", 1, { isSidechain: true }));
    symlinkSync(elsewhere, path.replace(/\.jsonl$/, "/subagents/agent-y.jsonl"));
    stop(path);
    await waitUntil(() => see("a")?.tokens, 2_000);
    expect(see("a")?.tokens?.output).toBe(101);
  });
});

describe("with a status file", () => {
  /** Its dialog is open, and the file says so. */
  async function running() {
    const agent = fixture.startAgent();
    fixture.writeStatus(agent.pid, { sessionId: "a", status: "busy" });
    watch();
    hook(createPromptEvent("a"));
    hook({ session_id: "a", hook_event_name: "PreToolUse", ...bash, ...proj });
    hook(createAskEvent("a"));
    fixture.writeStatus(agent.pid, { sessionId: "a", status: "waiting", waitingFor: "permission prompt" });
    await waitUntil(
      () => store.get({ agent: "claude", sessionId: "a" })?.file?.status === "waiting",
      nextCheckMs,
    );
    expect(phase("a")).toBe("waiting_permission");
    return agent;
  }

  test('Esc or "No" in the dialog closes the ask and ends the turn', async () => {
    const { pid } = await running();
    fixture.writeStatus(pid, { sessionId: "a", status: "idle" });
    expect(await waitUntil(() => phase("a") === "interactable", 1_000)).toBeLessThan(250);
    expect(see("a")?.asks).toEqual([]);
  });

  test("approval closes the ask, and the turn goes on", async () => {
    const { pid } = await running();
    fixture.writeStatus(pid, { sessionId: "a", status: "busy" });
    expect(await waitUntil(() => phase("a") === "busy", 1_000)).toBeLessThan(250);
    expect(see("a")?.asks).toEqual([]);
  });

  test("the last write of the file counts, in the same millisecond and after the clock was set back", async () => {
    const { pid } = await running();
    const at = Date.now();
    for (const [status, statusUpdatedAt] of [
      ["busy", at],
      ["idle", at],
      ["busy", at - 60_000],
      ["shell", at - 120_000],
    ] as const) {
      fixture.writeStatus(pid, { sessionId: "a", status, statusUpdatedAt });
      await waitUntil(() => store.get({ agent: "claude", sessionId: "a" })?.file?.status === status, 1_000);
    }
    expect(phase("a")).toBe("interactable");
  });

  test("/clear ends the old session and starts a new one", async () => {
    const { pid } = await running();
    fixture.writeStatus(pid, { sessionId: "b", status: "idle" });
    await waitUntil(() => phase("b") === "interactable", 300);
    expect(see("a")).toMatchObject({ state: "completed", activityPhase: null, asks: [] });
  });

  test("a session ends when the CLI removes its file", async () => {
    const { pid } = await running();
    unlinkSync(fixture.statusPath(pid));
    await waitUntil(() => see("a")?.state === "completed", 300);
  });

  test("kill -9, which leaves the file, is noticed within two seconds", async () => {
    const { child } = await running();
    child.kill("SIGKILL");
    await waitUntil(() => see("a")?.state === "completed", 2_000);
    expect(see("a")).toMatchObject({ activityPhase: null, asks: [], status: { kind: "idle" } });
  });
});

describe("without a status file", () => {
  test("kill -9 is noticed within two seconds, by the pid that the hook reported", async () => {
    const { child, pid, procStart } = fixture.startAgent();
    const { host } = clock();
    watch();
    hook(createPromptEvent("a"), { pid, procStart, host });
    hook(createPromptEvent("elsewhere"), { pid, procStart, host: "another-boot/pid:[1]" });
    hook(createPromptEvent("nowhere"), { pid, procStart, host: null });
    child.kill("SIGKILL");
    await waitUntil(() => see("a")?.state === "completed", 2_000);
    expect([phase("elsewhere"), phase("nowhere")]).toEqual(["busy", "busy"]);
  });

  test("Esc is found in the transcript: the turn is over and the ask closed", async () => {
    const transcript_path = fixture.appendTranscript("a", { type: "ai-title", aiTitle: "Footer" });
    watch();
    hook(createPromptEvent("a", { transcript_path }));
    hook({ ...createAskEvent("a"), transcript_path });
    await waitUntil(() => see("a")?.title === "Footer", 1_000);
    expect(phase("a")).toBe("waiting_permission");
    fixture.appendTranscript("a", interrupted());
    expect(await waitUntil(() => phase("a") === "interactable", 3_000)).toBeLessThan(1_800);
    expect(see("a")?.asks).toEqual([]);
  });

  test("with very many sessions at work, the transcript of each is read in turn", async () => {
    const context = createWatchContext("claude", store, { home: fixture.home, clock });
    const watcher = watchClaude({ ...context, env: fixture.env });
    const over = new Set<string>();
    store.subscribe(({ sessionId }, { change }) => {
      if (change.kind === "interrupted") over.add(sessionId);
    });
    const ids = Array.from({ length: 250 }, (_, n) => `many-${n}`);
    for (const id of ids) {
      hook(createPromptEvent(id, { transcript_path: fixture.appendTranscript(id, { type: "note" }) }));
      fixture.appendTranscript(id, interrupted(Date.now() + 1));
    }
    // A hundred at a check. Those that are over are no longer in the list, so the second check is soon at its end.
    for (const count of [100, 150, 250]) {
      watcher.check([...store.sessions(clock())]);
      await waitUntil(() => over.size >= count, 15_000);
      expect(over.size).toBe(count);
    }
    expect(ids.map(phase)).toEqual(ids.map(() => "interactable"));
    watcher.stop();
  }, 50_000);

  test("a new prompt after Esc is a new turn, and an unchanged transcript causes no event", async () => {
    const earlier = interrupted(Date.now() - 1_000);
    const transcript_path = fixture.appendTranscript("a", earlier, { type: "ai-title", aiTitle: "Footer" });
    watch();
    hook(createPromptEvent("a", { transcript_path }));
    hook(createPromptEvent("b", { transcript_path: fixture.appendTranscript("b", { type: "note" }) }));
    await waitUntil(() => see("a")?.title === "Footer", 1_000);
    expect(phase("a")).toBe("busy");
    const before = store.get({ agent: "claude", sessionId: "a" });
    fixture.appendTranscript("b", { type: "ai-title", aiTitle: "Header" });
    // The check that reads this transcript has read the other one too.
    await waitUntil(() => see("b")?.title === "Header", nextCheckMs);
    // Every event would write a snapshot, every second of a long turn.
    expect(store.get({ agent: "claude", sessionId: "a" })).toBe(before);
  });
});

describe("a transcript", () => {
  test("outside of the agent's folder is never read, and a pipe blocks nothing", async () => {
    const outside = join(fixture.home, "outside.jsonl");
    writeFileSync(outside, `${JSON.stringify({ type: "ai-title", aiTitle: "Stolen" })}\n`);
    const pipe = join(fixture.claudeFolder, "projects", "-home-dev-proj", "pipe.jsonl");
    mkdirSync(dirname(pipe), { recursive: true });
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    // Blocks until the other end is opened.
    const writer = fixture.spawn(["sh", "-c", 'echo x > "$0"', pipe]);
    const inside = fixture.appendTranscript("good", { type: "ai-title", aiTitle: "Footer" });
    watch();
    hook(createPromptEvent("bad", { transcript_path: outside }));
    hook(createPromptEvent("pipe", { transcript_path: pipe }));
    hook(createPromptEvent("good", { transcript_path: inside }));
    await waitUntil(() => see("good")?.title === "Footer", 1_500);
    expect([see("bad")?.title, see("pipe")?.title]).toEqual([null, null]);
    expect(writer.exitCode).toBeNull();
    expect(logged).toEqual([]);
  });
});

test("an error in a subscriber does not stop the watcher", async () => {
  const { pid } = fixture.startAgent();
  fixture.writeStatus(pid, { sessionId: "a", status: "idle" });
  store.subscribe(() => {
    throw new Error("no bell");
  });
  watch();
  fixture.writeStatus(pid, { sessionId: "a", status: "busy" });
  await waitUntil(() => phase("a") === "busy", nextCheckMs);
  expect(logged.length).toBeGreaterThan(0);
});
