import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import { testWith } from "../needs.ts";
import {
  beckonHook,
  createWorld,
  environment,
  event,
  expectSilence,
  finish,
  open,
  run,
  start,
  token,
  type World,
} from "./world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

/** Takes its five seconds beside the other tests. */
function startEndless() {
  const home = createWorld();
  const child = start(beckonHook, environment(home.home));
  child.stdin.write('{"session_id":');
  child.stdin.flush();
  return { home, ran: finish(child, performance.now()) };
}
const endless = startEndless();

function catchesSigterm(pid: number): boolean {
  const caught = /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${caught}`) & (1n << 14n)) !== 0n;
}

describe("beckon runs", () => {
  test("the event arrives with the token and its text untouched, and nothing is left behind", async () => {
    const { received } = world.receiver();
    const text = ` { "n":1.0, "big":12345678901234567890, "half":"\\ud800",\n "session_id":"s" }\n`;
    const ran = await world.forward(text);
    expectSilence(ran);
    expect(ran.stderr).toBe("");
    expect(received).toHaveLength(1);
    expect(received[0]?.path).toBe("/api/hook");
    expect(received[0]?.headers.authorization).toBe(`Bearer ${token}`);
    expect(received[0]?.headers["content-type"]).toBe("application/json");
    expect(received[0]?.text).toEndWith(`,"payload":${text.trimEnd()}}`);
    expect(open(received[0]?.text).provider).toBe("claude");
    expect(world.spool()).toEqual([]);
    expect(world.log()).toBe("");
  });

  test("the agent is named by the argument, else by BECKON_PROVIDER", async () => {
    const { received } = world.receiver();
    await world.forward(JSON.stringify(event), { BECKON_PROVIDER: "gemini" });
    await world.forward(JSON.stringify(event), { BECKON_PROVIDER: "gemini" }, ["codex"]);
    expect(received.map(({ text }) => open(text).provider)).toEqual(["gemini", "codex"]);
  });

  test("a body of 900 kB arrives whole", async () => {
    const { received } = world.receiver();
    const prompt = "né".repeat(300_000);
    expectSilence(await world.forward(JSON.stringify({ ...event, prompt })));
    expect(open(received[0]?.text).payload.prompt).toBe(prompt);
    expect(open(received[0]?.text)._meta.cut).toBeUndefined();
  });

  test("of a body of 10 MB the long text is cut, and the event still arrives", async () => {
    const { received } = world.receiver();
    expectSilence(
      await world.forward(JSON.stringify({ tool_response: "x".repeat(10 * 1024 * 1024), ...event })),
    );
    expect(received[0]?.text.length).toBeLessThan(limits.maxBodyBytes);
    const { _meta, payload } = open(received[0]?.text);
    expect(_meta.cut).toBe(true);
    expect(payload).toMatchObject(event);
    expect(payload.tool_response).toMatch(/^x{60000,}…$/);
  });

  test("bytes that are no UTF-8 do not lose the event", async () => {
    const { received } = world.receiver();
    const bytes = Buffer.concat([
      Buffer.from('{"session_id":"s","x":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expectSilence(await world.forward(bytes));
    expect(open(received[0]?.text).payload).toEqual({ session_id: "s", x: "\ufffd\ufffd" });
  });

  test("_meta in the payload stays as it was given", async () => {
    const { received } = world.receiver();
    await world.forward(JSON.stringify({ ...event, _meta: { workspace_id: "given" } }));
    expect(open(received[0]?.text).payload._meta).toEqual({ workspace_id: "given" });
  });

  test("a permission request is sent once, and asks to be held only where somebody can answer it", async () => {
    const { received } = world.receiver();
    const request = { ...event, hook_event_name: "PermissionRequest" };
    expectSilence(await world.forward(JSON.stringify(request)));
    expectSilence(await world.forward(JSON.stringify({ ...request, agent_id: "a1" })));
    expectSilence(await world.forward(JSON.stringify(request), { CLAUDE_CODE_SESSION_ATTENDED: "0" }));
    expect(received.map(({ path }) => path)).toEqual(["/api/hook?hold", "/api/hook", "/api/hook"]);
    expect(open(received[0]?.text).payload).toEqual(request);
    expect(world.spool()).toEqual([]);
    expect(world.log()).toBe("");
  });

  test("a proxy of the environment is not asked", async () => {
    const { received } = world.receiver();
    const dead = "http://127.0.0.1:9";
    await world.forward(JSON.stringify(event), { HTTP_PROXY: dead, http_proxy: dead, ALL_PROXY: dead });
    expect(received).toHaveLength(1);
  });
});

describe("a permission request that beckon cannot take is kept in the spool, and the terminal decides", () => {
  const request = JSON.stringify({ ...event, hook_event_name: "PermissionRequest" });

  test("beckon's disk is full", async () => {
    world.receiver(503);
    expectSilence(await world.forward(request));
    expect(world.spool()).toHaveLength(1);
  });

  test("beckon dies before it has answered", async () => {
    world.listener((socket) => void socket.end());
    expectSilence(await world.forward(request));
    expect(world.spool()).toHaveLength(1);
  });
});

describe("stdin that is no event", () => {
  for (const [what, stdin] of [
    ["nothing", ""],
    ["text", "not JSON"],
    ["half an object", '{"session_id":"s"'],
    ["a list", "[1]"],
    ["null", "null"],
    ["NUL bytes", '{"a":"\0"}'],
    ["NUL bytes only", "\0\0\0"],
  ] as const) {
    test(`${what}: a line in the log, nothing sent`, async () => {
      const { received } = world.receiver();
      const ran = await world.forward(stdin);
      expectSilence(ran);
      expect(ran.stderr).toStartWith("beckon hook: stdin ");
      expect(world.log()).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z\t-\t-\tstdin [^\t\n]+\n$/);
      expect(received).toEqual([]);
      expect(world.spool()).toEqual([]);
    });
  }
});

describe("closed before it began", () => {
  for (const closed of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
    test(`${closed}: still no failure`, async () => {
      const command = ["sh", "-c", `"${beckonHook.join('" "')}" ${closed}`];
      const ran = await run(command, environment(world.home), JSON.stringify(event));
      expectSilence(ran);
      if (closed.startsWith("<")) expect(world.log()).toContain("stdin was empty");
      else expect(world.spool()).toHaveLength(1);
    });
  }

  testWith("linux")("SIGTERM before stdin ended: said in the log, and no failure", async () => {
    const child = start(beckonHook, environment(world.home));
    child.stdin.write('{"session_id":');
    child.stdin.flush();
    while (!catchesSigterm(child.pid)) await Bun.sleep(2);
    child.kill("SIGTERM");
    const ran = await finish(child, 0);
    expectSilence(ran);
    expect(world.log()).toContain("SIGTERM before the event was read");
  });
});

test("stdin that nobody closes does not hold the agent up for ever", async () => {
  const ran = await endless.ran;
  const log = endless.home.log();
  endless.home.destroy();
  expectSilence(ran);
  expect(ran.ms).toBeWithin(timing.stdinTimeoutMs - 100, timing.stdinTimeoutMs + 3_000);
  expect(log).toContain("stdin did not end");
}, 15_000);
