import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, truncateSync } from "node:fs";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import { forEachTest } from "../for-each-test.ts";
import {
  beckonHook,
  createHarness,
  environment,
  event,
  expectNoOutput,
  expectPrivateSpool,
  finish,
  parseEnvelope,
  run,
  start,
} from "./harness.ts";

const harness = forEachTest(createHarness);

describe("an event that beckon does not take is spooled", () => {
  const kept = () => harness.spool().map((line) => parseEnvelope(line).payload);

  test("beckon never ran here: without an error, in a private folder", async () => {
    const home = harness.inHome("a/b");
    const result = await run(beckonHook, environment(home), JSON.stringify(event));
    expectPrivateSpool(result, home);
  });

  test("beckon was killed and left its endpoint behind: at once, without an error", async () => {
    harness.announce(9);
    const result = await harness.forward(JSON.stringify(event));
    expectNoOutput(result);
    expect(result.stderr).toBe("");
    expect(kept()).toEqual([event]);
  });

  test("another process has the old port: it receives nothing", async () => {
    const { received, port } = harness.receiver();
    const dead = Bun.spawn(["true"]);
    await dead.exited;
    harness.announce(port, dead.pid);
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(received).toEqual([]);
    expect(kept()).toEqual([event]);
  });

  test("beckon hangs: after one second", async () => {
    harness.listener(() => {});
    const result = await harness.forward(JSON.stringify(event));
    expectNoOutput(result);
    expect(kept()).toEqual([event]);
    expect(result.ms).toBeWithin(timing.hookSendTimeoutMs, timing.hookSendTimeoutMs + 2_000);
    expect(harness.log()).toContain(`\tPreToolUse\t${event.session_id}\tno answer within 1000 ms`);
  });

  for (const status of [503, 500, 401, 403, 404, 408, 429, 302]) {
    test(`beckon answers ${status}`, async () => {
      harness.receiver(status);
      expectNoOutput(await harness.forward(JSON.stringify(event)));
      expect(kept()).toEqual([event]);
      expect(harness.log()).toContain(`beckon answered ${status}`);
    });
  }

  for (const status of [400, 413]) {
    test(`unless beckon answers ${status}, which is about the event: logged, not spooled`, async () => {
      harness.receiver(status);
      expectNoOutput(await harness.forward(JSON.stringify(event)));
      expect(harness.spool()).toEqual([]);
      expect(harness.log()).toContain(`refused the event (${status})`);
    });
  }

  test("the connection breaks before the answer", async () => {
    harness.listener((socket) => socket.terminate());
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(kept()).toEqual([event]);
    expect(harness.log()).toContain("connection broken");
  });

  test("the server does not speak HTTP", async () => {
    harness.listener((socket) => void socket.write("220 mail.example.org ESMTP\r\n"));
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(kept()).toEqual([event]);
  });

  test("with newlines in the payload, on one line", async () => {
    expectNoOutput(await harness.forward(JSON.stringify(event, null, 2).replaceAll("\n", "\r\n")));
    expect(harness.spool()).toHaveLength(1);
    expect(kept()).toEqual([event]);
  });

  test("twenty hooks at once leave twenty complete lines", async () => {
    const long = "x".repeat(200_000);
    const hooks = Array.from({ length: 20 }, (_, n) =>
      harness.forward(JSON.stringify({ session_id: `s${n}`, long })),
    );
    for (const result of await Promise.all(hooks)) expectNoOutput(result);
    expect(new Set(kept().map((payload) => payload.session_id)).size).toBe(20);
    expect(new Set(harness.spool().map((line) => parseEnvelope(line)._meta.id)).size).toBe(20);
  }, 20_000);

  test("unless the spool is full, and is not one that hooks have written", async () => {
    harness.write("spool.jsonl", "");
    truncateSync(harness.inHome("spool.jsonl"), limits.maxSpoolBytes * 2 + 1);
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(statSync(harness.inHome("spool.jsonl")).size).toBe(limits.maxSpoolBytes * 2 + 1);
    expect(harness.log()).toContain("spool is full");
  });

  test("a full spool keeps requests and what ends them, drops the rest, and the log says so", async () => {
    const wrap = (payload: object) =>
      `${JSON.stringify({ provider: "claude", _meta: { id: crypto.randomUUID(), at: 1_000 }, payload })}\n`;
    const tool = (hook_event_name: string, tool_use_id: string, more = {}) =>
      wrap({ session_id: "s", hook_event_name, tool_name: "Bash", tool_use_id, ...more });
    const asked = [
      tool("PreToolUse", "asked"),
      wrap({ session_id: "s", hook_event_name: "PermissionRequest", tool_name: "Bash" }),
      tool("PostToolUse", "asked"),
      wrap({ session_id: "s", hook_event_name: "Stop" }),
    ];
    const noise = tool("PostToolUse", "noise", { text: "x".repeat(200_000) });
    const count = Math.ceil(limits.maxSpoolBytes / noise.length) + 1;
    harness.write("spool.jsonl", asked.join("") + noise.repeat(count));
    const result = await harness.forward(JSON.stringify(event));
    expectNoOutput(result);
    const lines = harness.spool();
    expect(lines.slice(0, -1).map((line) => `${line}\n`)).toEqual(asked);
    expect(parseEnvelope(lines.at(-1)).payload).toEqual(event);
    expect(harness.log()).toContain(`spool is full: ${count} events`);
    expect(JSON.parse(readFileSync(harness.inHome("spool-dropped.json"), "utf8"))).toMatchObject({ count });
  });

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    test(`${signal} while the hook waits for the answer, without an error`, async () => {
      const heard = Promise.withResolvers<void>();
      harness.listener(() => heard.resolve());
      const before = performance.now();
      const child = start(beckonHook, environment(harness.home));
      child.stdin.write(JSON.stringify(event));
      child.stdin.end();
      await heard.promise;
      child.kill(signal);
      const result = await finish(child, before);
      expectNoOutput(result);
      expect(result.stderr).toBe("");
      expect(kept()).toEqual([event]);
    });
  }
});
