/** The whole of beckon, as others see it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApp } from "../../src/app/start.ts";
import { limits } from "../../src/core/limits.ts";
import { createClock } from "../../src/system/clock.ts";
import { asks, createWorld, proj, prompt, until, type World } from "../world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

const stop = (session_id: string, more = {}) => ({ session_id, hook_event_name: "Stop", ...proj, ...more });

describe("what hooks do not report", () => {
  test("a session that was waiting before beckon started is in the first response", async () => {
    const { pid } = world.agent();
    world.writeStatus(pid, { sessionId: "a", status: "waiting", waitingFor: "permission prompt" });
    await world.startProcess();
    expect(await world.session("a")).toMatchObject({ activityPhase: "waiting_permission", place: { pid } });
  });

  test("kill -9 of the agent is noticed within two seconds; a pid of another machine is ignored", async () => {
    await world.start();
    const { child, pid, procStart } = world.agent();
    await world.hook(asks("here"), { pid, procStart, host: createClock()().host });
    await world.hook(asks("there"), { pid, procStart, host: "another-boot/pid:[1]" });
    child.kill("SIGKILL");
    await until(async () => (await world.session("here"))?.state === "completed", 2_000);
    expect(await world.session("here")).toMatchObject({ activityPhase: null, asks: [] });
    expect((await world.session("there"))?.activityPhase).toBe("waiting_permission");
  });
});

describe("slow work", () => {
  test("a transcript that is huge, a pipe, or outside the agent's folder delays no response", async () => {
    await world.start();
    const huge = world.transcript("huge");
    truncateSync(huge, 2 * 1024 ** 3);
    const pipe = huge.replace("huge", "pipe");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    for (const transcript_path of [huge, pipe, "/dev/zero", "/proc/self/mem", "../../etc/passwd"]) {
      const started = performance.now();
      expect((await world.hook(prompt("s", { transcript_path, prompt: transcript_path }))).status).toBe(200);
      expect(performance.now() - started).toBeLessThan(200);
    }
    await Bun.sleep(350);
    const started = performance.now();
    expect((await world.hook(stop("s"))).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe("on the disk", () => {
  const secret = "AKIAIOSFODNN7EXAMPLE";

  test("no secret of a prompt, command or answer is kept or returned", async () => {
    const app = await world.start();
    await world.hook(prompt("s", { prompt: `use ${secret}` }));
    await world.hook({ ...asks("s"), tool_input: { command: `export AWS_KEY=${secret}` } });
    await world.hook(stop("s", { last_assistant_message: `I used ${secret}.` }));
    const served = JSON.stringify(await world.sessions());
    await app.stop();
    expect(served).toContain("use •••");
    for (const text of [
      served,
      world.journal(),
      world.read(world.places.snapshot),
      world.read(world.places.log),
    ]) {
      expect(text.length).toBeGreaterThan(0);
      expect(text).not.toContain(secret);
    }
  });

  test("every file is readable only by its owner, and the log says what happened", async () => {
    const app = await world.start();
    await world.hook(prompt("s"));
    await app.stop();
    expect(statSync(world.places.state).mode & 0o777).toBe(0o700);
    for (const name of ["auth-header", "beckon.log", "snapshot.json", "lock"]) {
      expect([name, statSync(join(world.places.state, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(world.read(world.places.log)).toMatch(
      /info {2}listening on http:\/\/127\.0\.0\.1:\d+: 0 sessions.*\n.*info {2}stopped\n$/,
    );
  });

  test("a large log is rotated at start", async () => {
    const app = await world.start();
    await app.stop();
    writeFileSync(world.places.log, "x".repeat(1024 * 1024));
    await world.start();
    expect(statSync(world.places.log).size).toBeLessThan(1_000);
    expect(statSync(`${world.places.log}.1`).size).toBe(1024 * 1024);
  });
});

describe("one app per state folder", () => {
  test("a second beckon with the same folder does not start and does not disturb the first", async () => {
    await world.start();
    expect(await startApp({ paths: world.places, env: world.env, port: 4488, echo: false })).toBeNull();
    const second = world.beckon();
    expect(await second.exited).toBe(1);
    expect(await second.stderr.text()).toBe(
      `beckon is already running at ${world.address()} (pid ${process.pid}). See your sessions: beckon status\n`,
    );
    expect((await world.hook(prompt("s"))).status).toBe(200);
  });

  test("if the port is taken, it uses the next one", async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const app = await startApp({ paths: world.places, env: world.env, port: other.port, echo: false });
    try {
      expect(Number(new URL(app?.url ?? "").port)).toBeGreaterThan(other.port);
      expect(world.address()).toBe(app?.url ?? "");
    } finally {
      await app?.stop();
      other.stop(true);
    }
  });

  test("if every port is taken, it says so, exits, and releases everything", async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 65_535, socket: { data() {} } });
    try {
      const child = world.beckon([], { BECKON_PORT: "65535" });
      expect(await child.exited).toBe(1);
      const said = (await child.stderr.text()).split("\n").filter((line) => !line.startsWith("20"));
      expect(said).toEqual(["beckon: no free port from 65535 to 65535. Set BECKON_PORT to a free one.", ""]);
    } finally {
      other.stop(true);
    }
    await world.start();
  });

  test("BECKON_PROVIDER names the agent of events that name none", async () => {
    await world.start({ BECKON_PROVIDER: "somebody" });
    expect(await (await world.post(prompt("s"))).json()).toEqual({ error: "unknown provider" });
    expect((await world.post({ ...prompt("s"), provider: "claude" })).status).toBe(200);
  });
});

test("a body of the maximum size is kept, also after a restart", async () => {
  const app = await world.start();
  const text = "ä".repeat(limits.maxBodyBytes / 2 - 500);
  expect((await world.post(prompt("large", { prompt: text }))).status).toBe(200);
  await app.stop();
  await world.start();
  expect((await world.session("large"))?.turnCount).toBe(1);
});
