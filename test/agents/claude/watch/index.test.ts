/** What no hook reports: Esc, "No", kill -9, and sessions that started before beckon. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claude } from "../../../../src/agents/claude/index.ts";
import { openEnvelope } from "../../../../src/agents/envelope.ts";
import type { Source } from "../../../../src/core/ports.ts";
import { maskText } from "../../../../src/secrets/index.ts";
import { createStore, type Store } from "../../../../src/state/store.ts";
import { createClock } from "../../../../src/system/clock.ts";
import { watchAgents } from "../../../../src/watch/index.ts";
import { takeSnapshot } from "../../../core/view/snapshot.ts";
import { asks, bash, createWorld, proj, prompt, until, type World } from "../../../world.ts";

/** Right after a start, only the next check may see a change. */
const nextCheckMs = 2_500;
const clock = createClock();
let world: World;
let store: Store;
let watching: Source | undefined;
let logged: string[] = [];

beforeEach(() => {
  world = createWorld();
  logged = [];
  store = createStore((text) => void logged.push(text));
});
afterEach(async () => {
  watching?.stop();
  await world.destroy();
});

function watch(): Source {
  const started = watchAgents({
    agents: new Map([["claude", claude]]),
    env: world.env,
    clock,
    sessions: () => store.sessions(clock()),
    get: store.get,
    dispatch: store.dispatch,
    mask: maskText,
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
  return session && takeSnapshot(session, clock());
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
      const first = world.agent();
      const second = world.agent();
      world.writeStatus(first.pid, { sessionId: "a", status: "idle" });
      watch();
      world.writeStatus(second.pid, { sessionId: "a", status: "waiting", waitingFor: "permission prompt" });
      await until(() => phase("a") === "waiting_permission", nextCheckMs);
      hook(
        { session_id: "a", hook_event_name: "CwdChanged" },
        { pid: first.pid, procStart: first.procStart },
      );
      if (how === "it is killed") process.kill(first.pid, "SIGKILL");
      else unlinkSync(world.statusPath(first.pid));
      await until(() => see("a")?.place?.pid === second.pid, nextCheckMs);
      expect(see("a")).toMatchObject({ state: "active", activityPhase: "waiting_permission" });
      process.kill(second.pid, "SIGKILL");
      await until(() => see("a")?.state === "completed", nextCheckMs);
    });
  }
});

test("secrets in a transcript or a session's name are masked like those in hooks", async () => {
  const { pid } = world.agent();
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const message = { id: "m", model: "x", content: [{ type: "text", text: `The token is ${secret}.` }] };
  world.transcript("a", { type: "assistant", message }, { type: "ai-title", aiTitle: `Use ${secret}` });
  world.writeStatus(pid, { sessionId: "a", status: "idle", name: `Use ${secret}`, nameSource: "user" });
  watch().start();
  await until(() => see("a")?.lastResponse, 1_000);
  expect(see("a")).toMatchObject({ title: "Use •••", lastResponse: "The token is •••." });
});

describe("a session that started before beckon", () => {
  test("is listed at once, with what it waits for and where", () => {
    const { pid, procStart } = world.agent();
    const status = {
      sessionId: "a",
      status: "waiting",
      waitingFor: "permission prompt",
      tmux: "s:@0.%4",
      entrypoint: "cli",
    };
    world.writeStatus(pid, status);
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
    const { pid } = world.agent();
    const message = { id: "m", model: "claude-opus-5-5", content: [{ type: "text", text: "Done." }] };
    world.transcript(
      "a",
      { type: "assistant", gitBranch: "spine", message },
      { type: "ai-title", aiTitle: "Footer" },
    );
    world.writeStatus(pid, { sessionId: "a", status: "idle" });
    watch().start();
    await until(() => see("a")?.gitBranch, 1_000);
    expect(see("a")).toMatchObject({
      gitBranch: "spine",
      model: "claude-opus-5-5",
      title: "Footer",
      lastResponse: "Done.",
    });
  });

  test("has ended if the terminal left it while beckon was not running", async () => {
    const { pid } = world.agent();
    world.writeStatus(pid, { sessionId: "a", status: "idle" });
    const before = watch();
    before.stop();
    world.writeStatus(pid, { sessionId: "b", status: "idle" });
    watch();
    expect(see("b")?.state).toBe("active");
    await until(() => see("a")?.state === "completed", 1_500);
    expect(see("b")?.state).toBe("active");
  });
});

describe("with a status file", () => {
  /** Its dialog is open, and the file says so. */
  async function running() {
    const agent = world.agent();
    world.writeStatus(agent.pid, { sessionId: "a", status: "busy" });
    watch();
    hook(prompt("a"));
    hook({ session_id: "a", hook_event_name: "PreToolUse", ...bash, ...proj });
    hook(asks("a"));
    world.writeStatus(agent.pid, { sessionId: "a", status: "waiting", waitingFor: "permission prompt" });
    await until(() => store.get("claude", "a")?.file?.status === "waiting", nextCheckMs);
    expect(phase("a")).toBe("waiting_permission");
    return agent;
  }

  test('Esc or "No" in the dialog closes the ask and ends the turn', async () => {
    const { pid } = await running();
    world.writeStatus(pid, { sessionId: "a", status: "idle" });
    expect(await until(() => phase("a") === "interactable", 1_000)).toBeLessThan(250);
    expect(see("a")?.asks).toEqual([]);
  });

  test("approval closes the ask, and the turn goes on", async () => {
    const { pid } = await running();
    world.writeStatus(pid, { sessionId: "a", status: "busy" });
    expect(await until(() => phase("a") === "busy", 1_000)).toBeLessThan(250);
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
      world.writeStatus(pid, { sessionId: "a", status, statusUpdatedAt });
      await until(() => store.get("claude", "a")?.file?.status === status, 1_000);
    }
    expect(phase("a")).toBe("interactable");
  });

  test("/clear ends the old session and starts a new one", async () => {
    const { pid } = await running();
    world.writeStatus(pid, { sessionId: "b", status: "idle" });
    await until(() => phase("b") === "interactable", 300);
    expect(see("a")).toMatchObject({ state: "completed", activityPhase: null, asks: [] });
  });

  test("a session ends when the CLI removes its file", async () => {
    const { pid } = await running();
    unlinkSync(world.statusPath(pid));
    await until(() => see("a")?.state === "completed", 300);
  });

  test("kill -9, which leaves the file, is noticed within two seconds", async () => {
    const { child } = await running();
    child.kill("SIGKILL");
    expect(await until(() => see("a")?.state === "completed", 2_000)).toBeLessThan(2_000);
    expect(see("a")).toMatchObject({ activityPhase: null, asks: [], status: { kind: "idle" } });
  });
});

describe("without a status file", () => {
  test("kill -9 is noticed within two seconds, by the pid that the hook reported", async () => {
    const { child, pid, procStart } = world.agent();
    const { host } = clock();
    watch();
    hook(prompt("a"), { pid, procStart, host });
    hook(prompt("elsewhere"), { pid, procStart, host: "another-boot/pid:[1]" });
    hook(prompt("nowhere"), { pid, procStart, host: null });
    child.kill("SIGKILL");
    expect(await until(() => see("a")?.state === "completed", 2_000)).toBeLessThan(2_000);
    expect([phase("elsewhere"), phase("nowhere")]).toEqual(["busy", "busy"]);
  });

  test("Esc is found in the transcript: the turn is over and the ask closed", async () => {
    const transcript_path = world.transcript("a", { type: "ai-title", aiTitle: "Footer" });
    watch();
    hook(prompt("a", { transcript_path }));
    hook({ ...asks("a"), transcript_path });
    await until(() => see("a")?.title === "Footer", 1_000);
    expect(phase("a")).toBe("waiting_permission");
    world.transcript("a", interrupted());
    expect(await until(() => phase("a") === "interactable", 3_000)).toBeLessThan(1_800);
    expect(see("a")?.asks).toEqual([]);
  });

  test("with very many sessions at work, the transcript of each is read in turn", async () => {
    watch();
    const ids = Array.from({ length: 250 }, (_, n) => `many-${n}`);
    const title = { type: "ai-title", aiTitle: "Footer" };
    for (const id of ids) hook(prompt(id, { transcript_path: world.transcript(id, title) }));
    await until(() => ids.every((id) => see(id)?.title === "Footer"), 5_000);
    for (const id of ids) world.transcript(id, interrupted());
    const isOver = (id: string) => phase(id) === "interactable";
    await until(() => ids.some(isOver), 3_000);
    // A hundred a second.
    expect(ids.every(isOver)).toBe(false);
    await until(() => ids.every(isOver), 6_000);
  }, 15_000);

  test("a new prompt after Esc is a new turn, and an unchanged transcript causes no event", async () => {
    const earlier = interrupted(Date.now() - 1_000);
    const transcript_path = world.transcript("a", earlier, { type: "ai-title", aiTitle: "Footer" });
    watch();
    hook(prompt("a", { transcript_path }));
    hook(prompt("b", { transcript_path: world.transcript("b", { type: "note" }) }));
    await until(() => see("a")?.title === "Footer", 1_000);
    expect(phase("a")).toBe("busy");
    const before = store.get("claude", "a");
    world.transcript("b", { type: "ai-title", aiTitle: "Header" });
    // The check that reads this transcript has read the other one too.
    await until(() => see("b")?.title === "Header", nextCheckMs);
    // Every event would write a snapshot, every second of a long turn.
    expect(store.get("claude", "a")).toBe(before);
  });
});

describe("a transcript", () => {
  test("outside of the agent's folder is never read, and a pipe blocks nothing", async () => {
    const outside = join(world.home, "outside.jsonl");
    writeFileSync(outside, `${JSON.stringify({ type: "ai-title", aiTitle: "Stolen" })}\n`);
    const pipe = join(world.claude, "projects", "-home-dev-proj", "pipe.jsonl");
    mkdirSync(dirname(pipe), { recursive: true });
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    // Waits for as long as nobody opens the other end.
    const writer = world.spawn(["sh", "-c", 'echo x > "$0"', pipe]);
    const inside = world.transcript("good", { type: "ai-title", aiTitle: "Footer" });
    watch();
    hook(prompt("bad", { transcript_path: outside }));
    hook(prompt("pipe", { transcript_path: pipe }));
    hook(prompt("good", { transcript_path: inside }));
    await until(() => see("good")?.title === "Footer", 1_500);
    expect([see("bad")?.title, see("pipe")?.title]).toEqual([null, null]);
    expect(writer.exitCode).toBeNull();
    expect(logged).toEqual([]);
  });
});

test("an error in a subscriber does not stop the watcher", async () => {
  const { pid } = world.agent();
  world.writeStatus(pid, { sessionId: "a", status: "idle" });
  store.subscribe(() => {
    throw new Error("no bell");
  });
  watch();
  world.writeStatus(pid, { sessionId: "a", status: "busy" });
  await until(() => phase("a") === "busy", nextCheckMs);
  expect(logged.length).toBeGreaterThan(0);
});
