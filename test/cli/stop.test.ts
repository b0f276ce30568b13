/** `beckon stop`: the app has ended, and stays off until the user starts it again. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../src/system/processes.ts";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { mainSource } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";

const silentApp = join(import.meta.dir, "../fixtures/silent-app.ts");
const staysOff = "It stays off until you start it with: beckon start\n";
const fixture = forEachTest(createAppFixture);

const beckon = (...args: string[]) => fixture.runBeckon(args);
const isOff = () => existsSync(fixture.paths.offMarker);

describe("beckon stop", () => {
  test("the app has ended when it returns, and everything is saved", async () => {
    const app = await fixture.startProcess();
    await fixture.postHook({ session_id: "kept", hook_event_name: "UserPromptSubmit", prompt: "go" });
    expect(await beckon("stop")).toEqual({ out: `beckon is stopped. ${staysOff}`, err: "", code: 0 });
    expect(isAlive(app.pid, null)).toBe(false);
    expect(await app.exited).toBe(0);
    expect(existsSync(fixture.paths.endpoint)).toBe(false);
    expect(fixture.read(fixture.paths.snapshot)).toContain("kept");
    expect(isOff()).toBe(true);
  });

  test("succeeds if nothing runs, and keeps it off", async () => {
    expect(await beckon("stop")).toEqual({ out: `beckon is not running. ${staysOff}`, err: "", code: 0 });
    expect(isOff()).toBe(true);
    expect(existsSync(fixture.paths.lock)).toBe(false);
  });

  test("is undone by starting beckon", async () => {
    await beckon("stop");
    await fixture.startProcess();
    await waitUntil(() => !isOff(), 2_000);
  });

  test("does not kill another program whose pid a crashed beckon left behind", async () => {
    const other = fixture.spawn(["sleep", "600"]);
    await fixture.startProcess().then((app) => app.kill("SIGKILL"));
    writeFileSync(fixture.paths.endpoint, JSON.stringify({ url: "http://127.0.0.1:9", pid: other.pid }));
    expect((await beckon("stop")).out).toStartWith("beckon is not running.");
    expect(isAlive(other.pid, null)).toBe(true);
  });

  test("sends a signal to an app that does not answer", async () => {
    mkdirSync(fixture.paths.state, { mode: 0o700 });
    const { lock, authHeader, endpoint } = fixture.paths;
    const silent = fixture.spawn([process.execPath, silentApp, lock, authHeader, endpoint]);
    await waitUntil(() => fixture.read(fixture.paths.endpoint).endsWith("}"), 5_000);
    expect(await beckon("stop")).toMatchObject({ out: `beckon is stopped. ${staysOff}`, code: 0 });
    expect(silent.signalCode).toBe("SIGTERM");
  });

  testWith("linux")(
    "names a frozen app, and says how to end it",
    async () => {
      const app = await fixture.startProcess();
      app.kill("SIGSTOP");
      const { err, code } = await beckon("stop");
      expect({ err, code }).toEqual({
        err: `beckon (pid ${app.pid}) does not stop. You can end it without losing anything: kill -9 ${app.pid}\n`,
        code: 1,
      });
      app.kill("SIGCONT");
      expect(await app.exited).toBe(0);
    },
    20_000,
  );

  test("stops an app that a hook is just starting", async () => {
    for (const delayMs of [0, 60, 120, 180, 240]) {
      const app = fixture.spawnBeckon(["run", "--from-hook"]);
      await letTimePass(delayMs, "it is stopped at another moment of its start each time");
      expect((await beckon("stop")).code).toBe(0);
      expect(await app.exited).toBe(0);
      expect(isOff()).toBe(true);
      await fixture.startProcess().then(async (started) => {
        await waitUntil(() => !isOff(), 2_000);
        started.kill("SIGTERM");
        await started.exited;
      });
    }
  }, 30_000);
});

describe("whether beckon stays off", () => {
  const inTerminal = (child: { stdin: unknown }) => child.stdin as Bun.FileSink;

  testWith("script", "linux")("after Ctrl-C in a terminal it does", async () => {
    const child = Bun.spawn(["script", "-qec", `exec ${process.execPath} ${mainSource}`, "/dev/null"], {
      env: { ...fixture.env, BECKON_PORT: "4788" },
      stdin: "pipe",
      stdout: "pipe",
    });
    await waitUntil(() => existsSync(fixture.paths.endpoint), 5_000);
    inTerminal(child).write("\u0003");
    inTerminal(child).flush();
    expect(await child.exited).toBe(0);
    expect(isOff()).toBe(true);
  });

  test.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)(
    "after %s from elsewhere it does not",
    async (signal) => {
      const app = await fixture.startProcess();
      app.kill(signal);
      expect(await app.exited).toBe(0);
      expect(isOff()).toBe(false);
    },
  );

  test("after POST /api/stop it does not", async () => {
    const app = await fixture.startProcess();
    const response = await fixture.post({}, "/api/stop");
    expect([response.status, await response.text()]).toEqual([200, '{"ok":true}']);
    expect(await app.exited).toBe(0);
    expect(isOff()).toBe(false);
  });

  test("a login starts it although it is off, a hook does not", async () => {
    await beckon("stop");
    expect(await beckon("run", "--from-hook")).toEqual({ out: "", err: "", code: 0 });
    expect(isOff()).toBe(true);
    const app = fixture.spawnBeckon(["run", "--at-login"]);
    await waitUntil(() => existsSync(fixture.paths.endpoint) && !isOff(), 5_000);
    expect(await beckon("run", "--at-login")).toEqual({ out: "", err: "", code: 0 });
    app.kill("SIGTERM");
    expect(await app.exited).toBe(0);
  });
});
