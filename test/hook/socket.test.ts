import { describe, expect, test } from "bun:test";
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { beckonHook, createHarness, event, expectNoOutput, run } from "./harness.ts";

const harness = forEachTest(createHarness);
const fixture = forEachTest(createAppFixture);

describe("a hook with the app's socket in the state folder", () => {
  test("sends its event there, without the token", async () => {
    const { received } = harness.receiver();
    const socket = harness.socket();
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(socket.received).toHaveLength(1);
    expect(socket.received[0]).toMatchObject({ path: "/api/hook" });
    expect(socket.received[0]?.headers).not.toHaveProperty("authorization");
    expect(received).toEqual([]);
  });

  test("sends a permission request to the port, whose answer is signed", async () => {
    const { received } = harness.receiver();
    const socket = harness.socket();
    const asked = { ...event, hook_event_name: "PermissionRequest" };
    expectNoOutput(await harness.forward(JSON.stringify(asked), {}, ["claude"]));
    expect(socket.received).toEqual([]);
    expect(received.map(({ path }) => path)).toEqual(["/api/hook?hold"]);
  });

  test("uses the port if the app has crashed and another one has no socket", async () => {
    const { received } = harness.receiver();
    await harness.socket().abandon();
    expect(existsSync(harness.inHome("hook.sock"))).toBe(true);
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(received).toHaveLength(1);
    expect(harness.spool()).toEqual([]);
  });

  test("keeps the event if the app has crashed", async () => {
    await harness.socket().abandon();
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(harness.spool()).toHaveLength(1);
  });

  test("keeps what the app refuses for now", async () => {
    harness.socket(503);
    await harness.forward(JSON.stringify(event));
    expect(harness.spool()).toHaveLength(1);
    expect(harness.log()).toContain("beckon answered 503");
  });

  test("sends it where BECKON_URL says", async () => {
    const { received, port } = harness.receiver();
    const socket = harness.socket();
    await harness.forward(JSON.stringify(event), { BECKON_URL: `http://127.0.0.1:${port}` });
    expect(socket.received).toEqual([]);
    expect(received).toHaveLength(1);
  });

  testWith("root")("does not use one of another user", async () => {
    const { received } = harness.receiver();
    const socket = harness.socket();
    chownSync(harness.inHome("hook.sock"), 65_534, 65_534);
    await harness.forward(JSON.stringify(event));
    expect(socket.received).toEqual([]);
    expect(received).toHaveLength(1);
  });
});

describe("the app's socket", () => {
  const send = (path: string, body: object, method = "POST") =>
    fetch(`http://localhost${path}`, {
      unix: fixture.paths.hookSocket,
      method,
      ...(method === "POST" ? { body: JSON.stringify(body) } : {}),
    });
  const envelope = (payload: object) => ({ provider: "claude", _meta: { id: crypto.randomUUID() }, payload });

  test("takes events, and nothing else", async () => {
    await fixture.start();
    expect((await send("/api/hook", envelope(createPromptEvent("s")))).status).toBe(200);
    expect(await fixture.fetchSessions()).toMatchObject([{ sessionId: "s" }]);
    expect((await send("/api/sessions", {}, "GET")).status).toBe(404);
    expect((await send("/api/stop", {})).status).toBe(404);
    expect((await send("/api/hold/end", { id: "x", how: "printed" })).status).toBe(404);
    expect((await send("/api/hook", { provider: 1 })).status).toBe(400);
  });

  test("does not wait for an answer: that is signed, and comes from the port", async () => {
    await fixture.start();
    const response = await send("/api/hook?hold", envelope(createAskEvent("s")));
    expect(await response.text()).toBe('{"ok":true}');
  });

  test("can be used by this user alone, and is gone once beckon is stopped", async () => {
    const app = await fixture.start();
    expect(statSync(fixture.paths.hookSocket).mode & 0o777).toBe(0o600);
    expect(statSync(fixture.paths.state).mode & 0o777).toBe(0o700);
    await app.stop();
    expect(existsSync(fixture.paths.hookSocket)).toBe(false);
  });

  test("does not replace a file in its place: hooks use the port", async () => {
    mkdirSync(fixture.paths.state, { mode: 0o700 });
    writeFileSync(fixture.paths.hookSocket, "mine");
    const app = await fixture.start();
    const hook = run([...beckonHook, "claude"], fixture.env, JSON.stringify(createPromptEvent("s")));
    expectNoOutput(await hook);
    expect(await fixture.fetchSessions()).toMatchObject([{ sessionId: "s" }]);
    await app.stop();
    expect(readFileSync(fixture.paths.hookSocket, "utf8")).toBe("mine");
  });

  test("is made again after a crash", async () => {
    const first = await fixture.startProcess();
    first.kill("SIGKILL");
    await first.exited;
    expect(existsSync(fixture.paths.hookSocket)).toBe(true);
    await fixture.start();
    expect((await send("/api/hook", envelope(createPromptEvent("s")))).status).toBe(200);
  });
});
