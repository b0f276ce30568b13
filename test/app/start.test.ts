/** The whole app, from outside. */
import { describe, expect, test } from "bun:test";
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApp } from "../../src/app/start.ts";
import { limits } from "../../src/core/limits.ts";
import { createClock } from "../../src/system/clock.ts";
import { createAppFixture, createAskEvent, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const stop = (session_id: string, more = {}) => ({ session_id, hook_event_name: "Stop", ...proj, ...more });

describe("what hooks do not report", () => {
  test("a session that was waiting before beckon started is in the first response", async () => {
    const { pid } = fixture.startAgent();
    fixture.writeStatus(pid, { sessionId: "a", status: "waiting", waitingFor: "permission prompt" });
    await fixture.startProcess();
    expect(await fixture.fetchSession("a")).toMatchObject({
      activityPhase: "waiting_permission",
      place: { pid },
    });
  });

  test("a session killed at work is listed as failed until another one starts in its terminal", async () => {
    await fixture.start();
    const { child, pid, procStart } = fixture.startAgent();
    const { host } = createClock()();
    const start = (session_id: string) => ({ session_id, hook_event_name: "SessionStart", ...proj });
    await fixture.postHook(createPromptEvent("dead"), { pid, procStart, host, tty: "/dev/pts/1" });
    child.kill("SIGKILL");
    await waitUntil(async () => (await fixture.fetchSession("dead"))?.group === "failed", 3_000);
    const other = fixture.startAgent();
    const { pid: otherPid, procStart: otherStart } = other;
    const from = { pid: otherPid, procStart: otherStart, host };
    await fixture.postHook(start("elsewhere"), { ...from, tty: "/dev/pts/2" });
    expect((await fixture.fetchSession("dead"))?.group).toBe("failed");
    await fixture.postHook(start("next"), { ...from, tty: "/dev/pts/1" });
    expect((await fixture.fetchSession("dead"))?.group).toBe("ended");
  });

  test("kill -9 of the agent is noticed within two seconds; a pid of another machine is ignored", async () => {
    await fixture.start();
    const { child, pid, procStart } = fixture.startAgent();
    await fixture.postHook(createAskEvent("here"), { pid, procStart, host: createClock()().host });
    await fixture.postHook(createAskEvent("there"), { pid, procStart, host: "another-boot/pid:[1]" });
    child.kill("SIGKILL");
    await waitUntil(async () => (await fixture.fetchSession("here"))?.state === "completed", 2_000);
    expect(await fixture.fetchSession("here")).toMatchObject({ activityPhase: null, asks: [] });
    expect((await fixture.fetchSession("there"))?.activityPhase).toBe("waiting_permission");
  });
});

describe("slow work", () => {
  test("a transcript that is huge, a pipe, or outside the agent's folder delays no response", async () => {
    await fixture.start();
    const huge = fixture.appendTranscript("huge");
    truncateSync(huge, 2 * 1024 ** 3);
    const pipe = huge.replace("huge", "pipe");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    const paths = [huge, pipe, "/dev/zero", "/proc/self/mem", "../../etc/passwd"];
    for (const [n, transcript_path] of paths.entries()) {
      const started = performance.now();
      const { status } = await fixture.postHook(createPromptEvent(`s-${n}`, { transcript_path }));
      expect(status).toBe(200);
      expect(performance.now() - started).toBeLessThan(200);
    }
    // Transcripts are read by now, and none of the others blocks this one.
    const transcript_path = fixture.appendTranscript("good", { type: "ai-title", aiTitle: "Footer" });
    await fixture.postHook(createPromptEvent("good", { transcript_path }));
    await waitUntil(async () => (await fixture.fetchSession("good"))?.title === "Footer", 5_000);
    const started = performance.now();
    expect((await fixture.postHook(stop("s-0"))).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe("on the disk", () => {
  const secret = "AKIAIOSFODNN7EXAMPLE";

  test("no secret of a prompt, command or answer is kept or returned", async () => {
    const app = await fixture.start();
    await fixture.postHook(createPromptEvent("s", { prompt: `use ${secret}` }));
    await fixture.postHook({ ...createAskEvent("s"), tool_input: { command: `export AWS_KEY=${secret}` } });
    await fixture.postHook(stop("s", { last_assistant_message: `I used ${secret}.` }));
    const served = JSON.stringify(await fixture.fetchSessions());
    await app.stop();
    expect(served).toContain("use •••");
    for (const text of [
      served,
      fixture.readJournal(),
      fixture.read(fixture.paths.snapshot),
      fixture.read(fixture.paths.log),
    ]) {
      expect(text.length).toBeGreaterThan(0);
      expect(text).not.toContain(secret);
    }
  });

  test("every file is readable only by its owner, and the log says what happened", async () => {
    const app = await fixture.start();
    await fixture.postHook(createPromptEvent("s"));
    await app.stop();
    expect(statSync(fixture.paths.state).mode & 0o777).toBe(0o700);
    for (const name of ["auth-header", "beckon.log", "snapshot.json", "lock"]) {
      expect([name, statSync(join(fixture.paths.state, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(fixture.read(fixture.paths.log)).toMatch(
      /info {2}listening on http:\/\/127\.0\.0\.1:\d+: 0 sessions.*\n.*info {2}stopped\n$/,
    );
  });

  test("a large log is rotated at start", async () => {
    const app = await fixture.start();
    await app.stop();
    writeFileSync(fixture.paths.log, "x".repeat(1024 * 1024));
    await fixture.start();
    expect(statSync(fixture.paths.log).size).toBeLessThan(1_000);
    expect(statSync(`${fixture.paths.log}.1`).size).toBe(1024 * 1024);
  });
});

describe("one app per state folder", () => {
  test("a second beckon with the same folder does not start and does not disturb the first", async () => {
    await fixture.start();
    expect(await startApp({ paths: fixture.paths, env: fixture.env, port: 4488, echo: false })).toBeNull();
    const second = fixture.spawnBeckon();
    expect(await second.exited).toBe(1);
    expect(await second.stderr.text()).toBe(
      `beckon is already running at ${fixture.readUrl()} (pid ${process.pid}). See your sessions: beckon status\n`,
    );
    expect((await fixture.postHook(createPromptEvent("s"))).status).toBe(200);
  });

  test("if the port is taken, it uses the next one", async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const app = await startApp({ paths: fixture.paths, env: fixture.env, port: other.port, echo: false });
    try {
      expect(Number(new URL(app?.url ?? "").port)).toBeGreaterThan(other.port);
      expect(fixture.readUrl()).toBe(app?.url ?? "");
    } finally {
      await app?.stop();
      other.stop(true);
    }
  });

  test("if every port is taken, it says so, exits, and releases everything", async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 65_535, socket: { data() {} } });
    try {
      const child = fixture.spawnBeckon([], { BECKON_PORT: "65535" });
      expect(await child.exited).toBe(1);
      const said = (await child.stderr.text()).split("\n").filter((line) => !line.startsWith("20"));
      expect(said).toEqual(["beckon: no free port from 65535 to 65535. Set BECKON_PORT to a free one.", ""]);
    } finally {
      other.stop(true);
    }
    await fixture.start();
  });

  test("BECKON_PROVIDER names the agent of events that name none", async () => {
    await fixture.start({ BECKON_PROVIDER: "somebody" });
    expect(await (await fixture.post(createPromptEvent("s"))).json()).toEqual({ error: "unknown provider" });
    expect((await fixture.post({ ...createPromptEvent("s"), provider: "claude" })).status).toBe(200);
  });
});

test("a body of the maximum size is kept, also after a restart", async () => {
  const app = await fixture.start();
  const text = "ä".repeat(limits.maxBodyBytes / 2 - 500);
  expect((await fixture.post(createPromptEvent("large", { prompt: text }))).status).toBe(200);
  await app.stop();
  await fixture.start();
  expect((await fixture.fetchSession("large"))?.turnCount).toBe(1);
});
