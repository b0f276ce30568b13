import { describe, expect, test } from "bun:test";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import {
  beckonHook,
  catchesSigterm,
  createHarness,
  environment,
  event,
  expectNoOutput,
  expectOneEvent,
  finish,
  parseEnvelope,
  run,
  start,
} from "./harness.ts";

const harness = forEachTest(createHarness);

/** Started early: its five seconds pass while the other tests run. */
function startEndless() {
  const home = createHarness();
  const child = start(beckonHook, environment(home.home));
  child.stdin.write('{"session_id":');
  child.stdin.flush();
  return { home, result: finish(child, performance.now()) };
}
const endless = startEndless();

describe("the status line", () => {
  const text = '{"session_id":"s","context_window":{}}';

  test("is passed on, and leaves nothing behind", async () => {
    const { received } = harness.receiver();
    const result = await harness.forward(`${text}\n`, {}, ["claude", "--statusline"]);
    expect(result).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(received.map(({ path }) => path)).toEqual(["/api/statusline"]);
    expect(received[0]?.text).toBe(`{"provider":"claude","payload":${text}}`);
    expect(harness.log() + harness.spool().join()).toBe("");
  });

  test("is dropped if beckon is not running or refuses it, or there is none", async () => {
    for (const prepare of [() => {}, () => harness.announce(1), () => void harness.receiver(503)]) {
      prepare();
      for (const stdin of [text, "", "no JSON"]) {
        const result = await harness.forward(stdin, {}, ["claude", "--statusline"]);
        expect(result).toMatchObject({ code: 0, stdout: "", stderr: "" });
      }
    }
    expect(harness.log() + harness.spool().join()).toBe("");
  });
});

describe("while beckon runs", () => {
  test("the event arrives with the token and its exact text, and no file is written", async () => {
    const { received } = harness.receiver();
    const text = ` { "n":1.0, "big":12345678901234567890, "half":"\\ud800",\n "session_id":"s" }\n`;
    const result = await harness.forward(text);
    expectOneEvent(result, received);
    expect(received[0]?.text).toEndWith(`,"payload":${text.trimEnd()}}`);
    expect(parseEnvelope(received[0]?.text).provider).toBe("claude");
    expect(harness.spool()).toEqual([]);
    expect(harness.log()).toBe("");
  });

  test("the agent is the argument, or BECKON_PROVIDER", async () => {
    const { received } = harness.receiver();
    await harness.forward(JSON.stringify(event), { BECKON_PROVIDER: "gemini" });
    await harness.forward(JSON.stringify(event), { BECKON_PROVIDER: "gemini" }, ["codex"]);
    expect(received.map(({ text }) => parseEnvelope(text).provider)).toEqual(["gemini", "codex"]);
  });

  test("a body of 900 kB arrives complete", async () => {
    const { received } = harness.receiver();
    const prompt = "né".repeat(300_000);
    expectNoOutput(await harness.forward(JSON.stringify({ ...event, prompt })));
    expect(parseEnvelope(received[0]?.text).payload.prompt).toBe(prompt);
    expect(parseEnvelope(received[0]?.text)._meta.cut).toBeUndefined();
  });

  test("a body of 10 MB arrives with its long text shortened", async () => {
    const { received } = harness.receiver();
    expectNoOutput(
      await harness.forward(JSON.stringify({ tool_response: "x".repeat(10 * 1024 * 1024), ...event })),
    );
    expect(received[0]?.text.length).toBeLessThan(limits.maxBodyBytes);
    const { _meta, payload } = parseEnvelope(received[0]?.text);
    expect(_meta.cut).toBe(true);
    expect(payload).toMatchObject(event);
    expect(payload.tool_response).toMatch(/^x{60000,}…$/);
  });

  test("an event with two million fields arrives with its identifying fields before the hook gives up", async () => {
    const { received } = harness.receiver();
    const { session_id, tool_input, ...others } = event;
    const many = Array.from({ length: 2_000_000 }, (_, n) => `"k${n}":${n}`).join(",");
    const nested = `"tool_input":${JSON.stringify({ ...tool_input, session_id: "not this" })}`;
    const text = `{"session_id":${JSON.stringify(session_id)},${many},${nested},${JSON.stringify(others).slice(1)}`;
    expectNoOutput(await harness.forward(text));
    const { _meta, payload } = parseEnvelope(received[0]?.text);
    expect(_meta.cut).toBe(true);
    expect(payload).toEqual({ session_id, ...others });
    expect(harness.log()).toBe("");
  });

  test("an event with bytes that are not UTF-8 arrives", async () => {
    const { received } = harness.receiver();
    const bytes = Buffer.concat([
      Buffer.from('{"session_id":"s","x":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expectNoOutput(await harness.forward(bytes));
    expect(parseEnvelope(received[0]?.text).payload).toEqual({ session_id: "s", x: "\ufffd\ufffd" });
  });

  test("_meta in the payload is not changed", async () => {
    const { received } = harness.receiver();
    await harness.forward(JSON.stringify({ ...event, _meta: { workspace_id: "given" } }));
    expect(parseEnvelope(received[0]?.text).payload._meta).toEqual({ workspace_id: "given" });
  });

  test("a permission request is sent once, and waits for an answer only if a user can give one", async () => {
    const { received } = harness.receiver();
    const request = { ...event, hook_event_name: "PermissionRequest" };
    expectNoOutput(await harness.forward(JSON.stringify(request)));
    expectNoOutput(await harness.forward(JSON.stringify({ ...request, agent_id: "a1" })));
    expectNoOutput(await harness.forward(JSON.stringify(request), { CLAUDE_CODE_SESSION_ATTENDED: "0" }));
    expect(received.map(({ path }) => path)).toEqual(["/api/hook?hold", "/api/hook", "/api/hook"]);
    expect(parseEnvelope(received[0]?.text).payload).toEqual(request);
    expect(harness.spool()).toEqual([]);
    expect(harness.log()).toBe("");
  });

  test("proxy variables are ignored", async () => {
    const { received } = harness.receiver();
    const dead = "http://127.0.0.1:9";
    await harness.forward(JSON.stringify(event), { HTTP_PROXY: dead, http_proxy: dead, ALL_PROXY: dead });
    expect(received).toHaveLength(1);
  });
});

describe("a permission request that beckon does not take is spooled, and the terminal decides", () => {
  const request = JSON.stringify({ ...event, hook_event_name: "PermissionRequest" });

  test("beckon's disk is full", async () => {
    harness.receiver(503);
    expectNoOutput(await harness.forward(request));
    expect(harness.spool()).toHaveLength(1);
  });

  test("beckon dies before it answers", async () => {
    harness.listener((socket) => void socket.end());
    expectNoOutput(await harness.forward(request));
    expect(harness.spool()).toHaveLength(1);
  });
});

describe("stdin that is not an event", () => {
  for (const [what, stdin] of [
    ["nothing", ""],
    ["text", "not JSON"],
    ["half an object", '{"session_id":"s"'],
    ["a list", "[1]"],
    ["null", "null"],
    ["NUL bytes", '{"a":"\0"}'],
    ["NUL bytes only", "\0\0\0"],
  ] as const) {
    test(`${what}: logged, and nothing is sent`, async () => {
      const { received } = harness.receiver();
      const result = await harness.forward(stdin, {}, ["claude"]);
      expectNoOutput(result);
      expect(result.stderr).toStartWith("beckon hook: stdin ");
      expect(harness.log()).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z\t-\t-\tstdin [^\t\n]+\n$/);
      expect(received).toEqual([]);
      expect(harness.spool()).toEqual([]);
    });
  }
});

describe("a hook that a user typed", () => {
  const usage = "beckon hook is called by the agents' hooks and reads an event on stdin. See beckon --help.";

  test("without an event it explains itself, and is not an error of the hooks", async () => {
    const result = await harness.forward("");
    expectNoOutput(result);
    expect(result.stderr).toBe(`${usage}\n`);
    expect(harness.log()).toBe("");
  });

  testWith("linux")(
    "in a terminal it explains itself, and names an agent that it does not know",
    async () => {
      const drawn: string[] = [];
      const child = Bun.spawn([...beckonHook, "cluade"], {
        env: environment(harness.home),
        terminal: {
          cols: 200,
          rows: 30,
          data: (_, bytes) => void drawn.push(Buffer.from(bytes).toString()),
        },
      });
      child.terminal?.write("\u0004");
      expect(await child.exited).toBe(0);
      expect(drawn.join("")).toContain(`beckon does not know the agent "cluade". ${usage}`);
      expect(harness.log()).toBe("");
    },
    15_000,
  );

  test("the error of an event from an agent that beckon does not know names the agent", async () => {
    harness.receiver(400);
    const { stderr } = await harness.forward(JSON.stringify(event), {}, ["cluade"]);
    expect(stderr).toBe(
      'beckon hook: beckon does not know the agent "cluade": beckon refused the event (400): not kept\n',
    );
  });
});

describe("streams that are closed from the start", () => {
  for (const closed of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
    test(`${closed}: the hook exits with 0`, async () => {
      const command = ["sh", "-c", `"${beckonHook.join('" "')}" claude ${closed}`];
      const result = await run(command, environment(harness.home), JSON.stringify(event));
      expectNoOutput(result);
      if (closed.startsWith("<")) expect(harness.log()).toContain("stdin was empty");
      else expect(harness.spool()).toHaveLength(1);
    });
  }

  testWith("linux")("SIGTERM before stdin has ended is logged, and the hook exits with 0", async () => {
    const child = start(beckonHook, environment(harness.home));
    child.stdin.write('{"session_id":');
    child.stdin.flush();
    await waitUntil(() => catchesSigterm(child.pid), 5_000);
    child.kill("SIGTERM");
    const result = await finish(child, 0);
    expectNoOutput(result);
    expect(harness.log()).toContain("SIGTERM before the event was read");
  });
});

test("stdin that is never closed does not keep the agent waiting for ever", async () => {
  const result = await endless.result;
  const log = endless.home.log();
  endless.home.destroy();
  expectNoOutput(result);
  expect(result.ms).toBeWithin(timing.stdinTimeoutMs - 100, timing.stdinTimeoutMs + 3_000);
  expect(log).toContain("stdin did not end");
}, 15_000);

describe("an agent that runs another agent's hooks", () => {
  const send = async (payload: object, env: Record<string, string> = {}) => {
    const { received } = harness.receiver();
    const result = await harness.forward(JSON.stringify(payload), env, ["claude"]);
    expect(result).toMatchObject({ code: 0, stdout: "", stderr: "" });
    return received.length === 0 ? null : parseEnvelope(received[0]?.text ?? "").provider;
  };
  const stop = { session_id: "s", hook_event_name: "Stop" };

  test("is named as the sender", async () => {
    const timestamp = "2026-11-16T18:45:06.484Z";
    expect(await send({ ...stop, timestamp }, { COPILOT_CLI: "1" })).toBe("copilot");
    expect(await send({ ...stop, sessionId: "s", hookEventName: "stop", workspaceRoot: "/p" })).toBe("grok");
    expect(await send(stop, { GROK_SESSION_ID: "s" })).toBe("grok");
  });

  test("is not reported at all if beckon does not know it, and costs it nothing", async () => {
    expect(await send({ ...stop, sessionId: "s", timestamp: "2026-11-16T18:45:06.484Z" })).toBeNull();
    expect(await send({ ...stop, conversation_id: "c", cursor_version: "3.2.16" })).toBeNull();
    expect(harness.spool()).toEqual([]);
    expect(harness.log()).toBe("");
  });

  test("is not taken for the one that it started", async () => {
    expect(await send(stop, { COPILOT_CLI: "1" })).toBe("claude");
  });
});
