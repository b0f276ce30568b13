/** `beckon start` and `beckon restart` run the app in the background. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { readEndpoint } from "../../src/system/endpoint.ts";
import { isAlive } from "../../src/system/processes.ts";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

let fixture: AppFixture;
let pid: number | null = null;
beforeEach(() => {
  fixture = createAppFixture();
});
afterEach(async () => {
  const running = pid;
  pid = null;
  if (running !== null && isAlive(running, null)) {
    process.kill(running, "SIGKILL");
    await waitUntil(() => !isAlive(running, null), 5_000);
  }
  await fixture.destroy();
});

const beckon = (args: string[], env?: Record<string, string>) => fixture.runBeckon(args, env);
const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith("beckon-start-"));

test("prints where it runs, and says so if it is running already", async () => {
  const before = leftovers();
  const first = await beckon(["start"]);
  const found = readEndpoint(fixture.paths);
  pid = found?.pid ?? null;
  const at = `at ${found?.url} (pid ${pid})`;
  expect(first).toEqual({ out: `beckon is running ${at}. Stop it with: beckon stop\n`, err: "", code: 0 });
  expect(await beckon(["start"])).toEqual({ out: `beckon is already running ${at}.\n`, err: "", code: 0 });
  expect(leftovers()).toEqual(before);
  expect((await beckon(["stop"])).out).toStartWith("beckon is stopped.");
});

test("prints why it could not be started, and where its log is", async () => {
  const { out, err, code } = await beckon(["start"], { BECKON_PORT: "abc" });
  expect({ out, code }).toEqual({ out: "", code: 1 });
  expect(err).toBe(
    `beckon could not be started: BECKON_PORT must be a number from 1 to 65535, but is "abc". Its log: ~/state/beckon.log\n`,
  );
});

describe("beckon restart", () => {
  const isOff = () => existsSync(fixture.paths.offMarker);
  const where = () => {
    const endpoint = readEndpoint(fixture.paths);
    pid = endpoint?.pid ?? null;
    return `at ${endpoint?.url} (pid ${pid})`;
  };

  test("starts another process that knows the same sessions, and leaves beckon on", async () => {
    const old = await fixture.startProcess();
    await fixture.postHook(createPromptEvent("kept"));
    const printed = await beckon(["restart"]);
    expect(printed).toEqual({ out: `beckon is running again ${where()}.\n`, err: "", code: 0 });
    expect(pid).not.toBe(old.pid);
    expect(await old.exited).toBe(0);
    expect(isOff()).toBe(false);
    expect(await fixture.fetchSession("kept")).toBeDefined();
  });

  testWith("linux", "Xvfb")("keeps the desktop of the running app where the command has none", async () => {
    const screen = Bun.spawn(["Xvfb", "-displayfd", "1"], { stdout: "pipe", stderr: "ignore" });
    try {
      const reader = screen.stdout.getReader();
      const display = `:${new TextDecoder().decode((await reader.read()).value).trim()}`;
      await fixture.startProcess({ DISPLAY: display, XDG_CURRENT_DESKTOP: "test" });
      await beckon(["restart"]);
      where();
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      expect(environment).toContain(`DISPLAY=${display}`);
      expect(environment).toContain("XDG_CURRENT_DESKTOP=test");
    } finally {
      screen.kill();
    }
  });

  test("starts beckon if it was off, and turns it on", async () => {
    await beckon(["stop"]);
    const printed = await beckon(["restart"]);
    expect(printed).toEqual({
      out: `beckon was not running, and is running now ${where()}.\n`,
      err: "",
      code: 0,
    });
    await waitUntil(() => !isOff(), 2_000);
  });

  test("does not keep beckon off if it cannot be started", async () => {
    const old = await fixture.startProcess();
    const { err, code } = await beckon(["restart"], { BECKON_PORT: "abc" });
    expect(code).toBe(1);
    expect(err).toStartWith("beckon could not be started: BECKON_PORT must be");
    expect(await old.exited).toBe(0);
    expect(isOff()).toBe(false);
  });
});
