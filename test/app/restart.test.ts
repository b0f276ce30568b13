/** What beckon knows after it was stopped or killed and started again, and after a reboot. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClock } from "../../src/system/clock.ts";
import { bash, createAppFixture, createAskEvent, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const stop = (session_id: string, more = {}) => ({ session_id, hook_event_name: "Stop", ...proj, ...more });
const end = (session_id: string) => ({ session_id, hook_event_name: "SessionEnd", reason: "other" });

/** One that asks, one that works with a subagent, one that is done, one that has ended. */
async function aDay() {
  const agent = fixture.startAgent();
  const { pid, procStart } = agent;
  const here = { pid, procStart, host: createClock()().host, tty: "/dev/pts/1", env: { TERM: "xterm" } };
  const sends = [
    createPromptEvent("asks"),
    { session_id: "asks", hook_event_name: "PreToolUse", tool_use_id: "t1", ...bash, ...proj },
    createAskEvent("asks"),
    createPromptEvent("works"),
    { session_id: "works", hook_event_name: "SubagentStart", agent_id: "a1", agent_type: "Explore", ...proj },
    createPromptEvent("done"),
    stop("done", { last_assistant_message: "Done." }),
    createPromptEvent("over"),
    end("over"),
  ];
  const startedAt = Date.now() - 1_000;
  for (const [n, event] of sends.entries()) {
    expect((await fixture.postHook(event, { at: startedAt + n * 100, ...here })).status).toBe(200);
  }
  return agent;
}

describe("after a start", () => {
  test("the first list has the sessions with everything that happened while beckon was down", async () => {
    const prompts = Array.from({ length: 100 }, (_, n) => ({
      provider: "claude",
      _meta: { id: `e${n}`, at: Date.now() - 10_000 + n },
      payload: createPromptEvent("s", { prompt: `prompt ${n}` }),
    }));
    mkdirSync(fixture.paths.state, { mode: 0o700 });
    writeFileSync(fixture.paths.spool, prompts.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const starting = fixture.start();
    // As soon as hooks and commands can find it.
    while (!existsSync(fixture.paths.endpoint)) await new Promise((resolve) => setImmediate(resolve));
    expect(await fixture.fetchSessions()).toMatchObject([{ sessionId: "s", lastPrompt: "prompt 99" }]);
    await starting;
  });

  test("every session is as before if beckon was stopped", async () => {
    const first = await fixture.startProcess();
    await aDay();
    const before = await fixture.fetchSessions();
    expect(before.map((session) => session.activityPhase)).toEqual([
      "waiting_permission",
      "busy",
      "interactable",
      null,
    ]);
    first.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    expect(readdirSync(fixture.paths.state)).not.toContain("endpoint.json");
    await fixture.startProcess();
    expect(await fixture.fetchSessions()).toEqual(before);
  });

  test("every session is as before if beckon was killed: from the journal alone, and with a snapshot", async () => {
    const first = await fixture.startProcess();
    await aDay();
    const before = await fixture.fetchSessions();
    first.kill("SIGKILL");
    await first.exited;
    expect(readdirSync(fixture.paths.state)).not.toContain("snapshot.json");

    const second = await fixture.startProcess();
    expect(await fixture.fetchSessions()).toEqual(before);
    await fixture.postHook(createPromptEvent("later"));
    await waitUntil(() => readdirSync(fixture.paths.state).includes("snapshot.json"), 3_000);
    await fixture.postHook(createPromptEvent("latest"));
    const then = await fixture.fetchSessions();
    second.kill("SIGKILL");
    await second.exited;

    await fixture.startProcess();
    expect(await fixture.fetchSessions()).toEqual(then);
    await fixture.postHook({
      session_id: "asks",
      hook_event_name: "PostToolUse",
      tool_use_id: "t1",
      ...bash,
    });
    expect(await fixture.fetchSession("asks")).toMatchObject({ activityPhase: "busy", asks: [] });
  });

  test("after a reboot the order holds, dead processes are gone, and idle sessions stay idle", async () => {
    const app = await fixture.start();
    const { child } = await aDay();
    await fixture.postHook({ ...createPromptEvent("remote"), prompt: "no pid" });
    await app.stop();
    child.kill("SIGKILL");
    await child.exited;
    reboot(60 * 60_000);
    await fixture.start();
    const seen = Object.fromEntries(
      (await fixture.fetchSessions()).map(({ sessionId, state }) => [sessionId, state]),
    );
    expect(seen).toEqual({
      asks: "completed",
      works: "completed",
      done: "completed",
      over: "completed",
      remote: "active",
    });
    await fixture.postHook(stop("remote"));
    expect(await fixture.fetchSession("remote")).toMatchObject({
      activityPhase: "interactable",
      lastPrompt: "no pid",
    });
  });

  test("sessions that ended long ago are removed", async () => {
    const app = await fixture.start();
    await fixture.postHook(end("old"), { at: Date.now() - 25 * 60 * 60_000 });
    await fixture.postHook(end("new"));
    await app.stop();
    await fixture.start();
    expect((await fixture.fetchSessions()).map((session) => session.sessionId)).toEqual(["new"]);
  });

  test("the spool is read, in order, before the first request is answered", async () => {
    const app = await fixture.start();
    await app.stop();
    const line = (event: object, n: number) =>
      JSON.stringify({
        provider: "claude",
        _meta: { id: `spooled-${n}`, at: Date.now() + n },
        payload: event,
      });
    const lines = [
      createPromptEvent("s"),
      stop("s", { last_assistant_message: "Done." }),
      createPromptEvent("s", { prompt: "more" }),
    ].map(line);
    writeFileSync(fixture.paths.spool, `${lines.join("\n")}\n`);
    await fixture.start();
    expect(await fixture.fetchSession("s")).toMatchObject({
      activityPhase: "busy",
      lastPrompt: "more",
      turnCount: 2,
      lastResponse: "Done.",
    });
  });

  test("an event on its way during a snapshot is put in its place after a kill", async () => {
    const first = await fixture.startProcess();
    const at = Date.now() - 1_000;
    await fixture.postHook(createPromptEvent("s", { prompt: "one" }), { at });
    await fixture.postHook(createPromptEvent("s", { prompt: "three" }), { at: at + 200 });
    await waitUntil(() => readdirSync(fixture.paths.state).includes("snapshot.json"), 3_000);
    first.kill("SIGKILL");
    await first.exited;
    const _meta = { id: "late", at: at + 100 };
    const late = { provider: "claude", _meta, payload: createPromptEvent("s", { prompt: "two" }) };
    writeFileSync(fixture.paths.spool, `${JSON.stringify(late)}\n`);
    await fixture.startProcess();
    expect(await fixture.fetchSession("s")).toMatchObject({ turnCount: 3, lastPrompt: "three" });
  });

  test("beckon starts with a damaged snapshot", async () => {
    const app = await fixture.start();
    await fixture.postHook(createPromptEvent("good"));
    await app.stop();
    const file = JSON.parse(readFileSync(fixture.paths.snapshot, "utf8"));
    file.sessions.push({ sessionId: "bad" }, null);
    writeFileSync(fixture.paths.snapshot, JSON.stringify(file));
    await fixture.start();
    expect((await fixture.fetchSessions()).map((session) => session.sessionId)).toEqual(["good"]);
    expect(fixture.read(fixture.paths.log)).toContain("dropped 2 damaged sessions of the snapshot");
  });
});

/** Changes everything on the disk as if it were from an earlier boot and that much older. */
function reboot(ms: number): void {
  const { boot = "", host } = createClock()() as { boot: string; host: string | null };
  const earlier = (text: string) => text.replaceAll(boot, "an-earlier-boot");
  const file = JSON.parse(earlier(readFileSync(fixture.paths.snapshot, "utf8")));
  expect(host).toContain(boot);
  writeFileSync(fixture.paths.snapshot, JSON.stringify({ ...file, savedAt: file.savedAt - ms }));
  for (const name of readdirSync(fixture.paths.journal)) truncateSync(join(fixture.paths.journal, name));
}
