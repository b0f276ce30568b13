/** The hook that waits, against everything that may answer at the port. It prints a decision or nothing, and exits with 0. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeForwarding } from "../../src/agents/claude/forwarding.ts";
import { limits } from "../../src/core/limits.ts";
import { createLineReader } from "../../src/hook/http.ts";
import { isDecision } from "../../src/hook/pending.ts";
import { signDecision } from "../../src/system/decision-signature.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import {
  type CommandResult,
  catchesSigterm,
  createHarness,
  environment,
  expectNoOutput,
  finish,
  start,
} from "./harness.ts";

const entry = join(import.meta.dir, "../fixtures/pending-entry.ts");
const output = (decision: object) => ({
  hookSpecificOutput: { hookEventName: "PermissionRequest", decision },
});
const yes = JSON.stringify(output({ behavior: "allow" }));
const key = "key of this start";
const proved = (decision: string, request = "e-1") => signDecision(key, request, decision);
const ok = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

const harness = forEachTest(createHarness);

const quick = { checkMs: 20, totalMs: 5_000, silenceMs: 400, reconnectMs: 400 };

function wait(times: object = quick, env: Record<string, string> = {}) {
  const before = performance.now();
  const child = start([process.execPath, entry, JSON.stringify(times)], environment(harness.home, env));
  return { child, result: finish(child, before) };
}

/** A server that answers held requests with `reply` and all others with 200. Records paths and bodies. */
function answering(reply: (socket: Bun.Socket, nth: number) => void) {
  const paths: string[] = [];
  const bodies: string[] = [];
  harness.listener((socket) => {
    void socket;
  });
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, data) {
        const text = data.toString();
        const path = / (\/\S*) /.exec(text)?.[1] ?? "";
        paths.push(path);
        bodies.push(text.slice(text.indexOf("\r\n\r\n") + 4));
        if (path === "/api/hook?hold" || path === "/api/hold")
          reply(socket, paths.filter((one) => one === path).length);
        else socket.end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n");
      },
    },
  });
  harness.announce(server.port, process.pid, { key });
  return { paths, bodies, stop: () => server.stop(true), port: server.port };
}

async function said(
  reply: (socket: Bun.Socket, nth: number) => void,
  times: object = quick,
): Promise<CommandResult> {
  const server = answering(reply);
  const result = await wait(times).result;
  server.stop();
  expect(result.code).toBe(0);
  return result;
}

describe("what it prints", () => {
  test("a decision, once, and it reports that it printed it", async () => {
    const server = answering((socket) => socket.write(`${ok}${chunk("\n")}${chunk(`${proved(yes)}\n`)}`));
    const result = await wait().result;
    server.stop();
    expect(result).toMatchObject({ code: 0, stdout: `${yes}\n`, stderr: "" });
    expect(server.paths).toEqual(["/api/hook?hold", "/api/hold/end"]);
    expect(JSON.parse(server.bodies[1] ?? "")).toEqual({ id: "e-1", how: "printed" });
  });

  test("a decision that arrives in pieces, of 500 kB", async () => {
    const long = JSON.stringify(output({ behavior: "deny", message: "é".repeat(250_000) }));
    const server = answering((socket) => {
      const bytes = Buffer.from(`${ok}${chunk(`\n\n${proved(long)}\n`)}`);
      socket.write(bytes.subarray(0, 90));
      let rest = bytes.subarray(90);
      const timer = setInterval(() => {
        rest = rest.subarray(Math.max(0, socket.write(rest.subarray(0, 70_001))));
        if (rest.length === 0) clearInterval(timer);
      }, 1);
    });
    const result = await wait({ ...quick, silenceMs: 3_000 }).result;
    server.stop();
    expect(result.stdout).toBe(`${long}\n`);
  });

  const nothing: Record<string, string> = {
    "{}": `${ok}${chunk("{}\n")}0\r\n\r\n`,
    "an older app, which only accepts the event": 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok":true}',
    "a token that has changed": "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}",
    "a full disk": "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}",
    "a decision with a bad status": `HTTP/1.1 500 Oops\r\nContent-Length: ${proved(yes).length}\r\n\r\n${proved(yes)}`,
    text: `${ok}${chunk("hello\n")}`,
    HTML: `${ok}${chunk("<html></html>\n")}`,
    "another object": `${ok}${chunk(`${proved('{"ok":true}')}\n`)}`,
    "a decision for another hook": `${ok}${chunk(`${proved(yes.replace("PermissionRequest", "PreToolUse"))}\n`)}`,
    "a decision with more beside it": `${ok}${chunk(`${proved(yes.replace("{", '{"continue":false,'))}\n`)}`,
    "an unknown decision": `${ok}${chunk(`${proved(JSON.stringify(output({ behavior: "maybe" })))}\n`)}`,
    "a list": `${ok}${chunk(`${proved("[]")}\n`)}`,
    "a decision without a signature": `${ok}${chunk(`${yes}\n`)}`,
    "a decision signed with another key": `${ok}${chunk(`${signDecision("another key", "e-1", yes)}\n`)}`,
    "a decision signed for another request": `${ok}${chunk(`${proved(yes, "e-2")}\n`)}`,
    "a signature of something else": `${ok}${chunk(`${proved("{}").split(" ", 1)[0]} ${yes}\n`)}`,
    "2 MB of something": `${ok}${chunk("x".repeat(2 * 1024 * 1024))}`,
    "a server that does not speak HTTP": "SSH-2.0-OpenSSH_9.9\r\n\r\n\r\n\r\n",
  };
  for (const [what, reply] of Object.entries(nothing)) {
    test(`nothing, and it exits at once, for ${what}`, async () => {
      const result = await said((socket) => {
        let rest = Buffer.from(reply);
        const write = () => {
          rest = rest.subarray(Math.max(0, socket.write(rest)));
          if (rest.length > 0) setTimeout(write, 1);
        };
        write();
      });
      expectNoOutput(result);
      expect(result.ms).toBeLessThan(quick.reconnectMs + quick.silenceMs);
    });
  }

  test("half a decision before the connection breaks: nothing", async () => {
    const result = await said((socket) => {
      socket.write(`${ok}${chunk(proved(yes))}`);
      setTimeout(() => socket.end(), 20);
    });
    expectNoOutput(result);
  });
});

test("without a key in endpoint.json, no decision is trusted", async () => {
  const server = answering((socket) => socket.write(`${ok}${chunk(`${proved(yes)}\n`)}`));
  harness.announce(server.port);
  const result = await wait().result;
  server.stop();
  expectNoOutput(result);
});

describe("it stops waiting", () => {
  test("for an app that hangs", async () => {
    const result = await said(() => {});
    expectNoOutput(result);
    expect(result.ms).toBeGreaterThanOrEqual(quick.silenceMs);
  });

  test("for an app that hangs later, but not while bytes arrive", async () => {
    let beats = 0;
    const result = await said((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      const timer = setInterval(() => {
        socket.write(chunk("\n"));
        if (++beats === 8) clearInterval(timer);
      }, 100);
    });
    expectNoOutput(result);
    expect(result.ms).toBeGreaterThanOrEqual(1_100);
  });

  test("after its total time, even while bytes arrive", async () => {
    const result = await said(
      (socket) => {
        socket.write(ok);
        const timer = setInterval(() => socket.write(chunk("\n")), 50);
        setTimeout(() => clearInterval(timer), 3_000);
      },
      { ...quick, totalMs: 600 },
    );
    expectNoOutput(result);
    expect(result.ms).toBeWithin(600, 2_500);
  });

  testWith("linux")("when the agent's process is gone", async () => {
    const agent = Bun.spawn(["sleep", "60"]);
    const server = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      agent.kill("SIGKILL");
    });
    const result = await wait(
      { ...quick, silenceMs: 60_000, totalMs: 60_000 },
      { CLAUDE_PID: String(agent.pid) },
    ).result;
    server.stop();
    expectNoOutput(result);
  });

  testWith("linux")("when the agent's process has ended, but its parent has not noticed", async () => {
    const parent = Bun.spawn(["sh", "-c", "sleep 60 & echo $!; exec sleep 60"], { stdout: "pipe" });
    const { value } = await parent.stdout.getReader().read();
    const agent = Number(Buffer.from(value ?? []).toString());
    const server = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      process.kill(agent, "SIGKILL");
    });
    const result = await wait({ ...quick, silenceMs: 3_000, totalMs: 3_000 }, { CLAUDE_PID: String(agent) })
      .result;
    parent.kill("SIGKILL");
    server.stop();
    expectNoOutput(result);
    expect(result.ms).toBeLessThan(3_000);
  });

  testWith("linux")(
    "when an agent that cannot be identified is gone, though a shell still waits for the hook",
    async () => {
      const server = answering((socket) => socket.write(`${ok}${chunk("\n")}`));
      const times = { ...quick, silenceMs: 60_000, totalMs: 60_000 };
      writeFileSync(
        harness.inHome("runner"),
        `'${process.execPath}' '${entry}' '${JSON.stringify(times)}'\necho ended >end\n`,
      );
      // Its own parent ends at once. Otherwise this test, a process of a known runtime, would be taken for the agent.
      writeFileSync(harness.inHome("agent"), "echo $$ >pid\nsh runner\necho never\n");
      const child = start(["sh", "-c", "sh agent >out 2>&1 & exit"], environment(harness.home), harness.home);
      await child.exited;
      await waitUntil(() => server.paths.length === 1, 5_000);
      process.kill(Number(readFileSync(harness.inHome("pid"), "utf8")), "SIGKILL");
      await waitUntil(() => existsSync(harness.inHome("end")), 5_000);
      expect(readFileSync(harness.inHome("out"), "utf8")).toBe("");
      server.stop();
    },
  );

  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    testWith("linux")(`on ${signal}, and reports it`, async () => {
      const server = answering((socket) => socket.write(`${ok}${chunk("\n")}`));
      const { child, result } = wait({ ...quick, silenceMs: 60_000 });
      await waitUntil(() => server.paths.length === 1 && catchesSigterm(child.pid), 5_000);
      child.kill(signal);
      expectNoOutput(await result);
      server.stop();
      expect(server.paths).toEqual(["/api/hook?hold", "/api/hold/end"]);
      expect(JSON.parse(server.bodies[1] ?? "")).toEqual({ id: "e-1", how: "stopped" });
    });
  }
});

testWith("linux")("a decision that arrives after SIGTERM is not printed", async () => {
  let held: Bun.Socket | null = null;
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, data) {
        if (!data.toString().includes("/api/hold/end")) {
          held = socket;
          socket.write(`${ok}${chunk("\n")}`);
          return;
        }
        held?.write(chunk(`${proved(yes)}\n`));
        setTimeout(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"), 100);
      },
    },
  });
  harness.announce(server.port, process.pid, { key });
  const { child, result } = wait({ ...quick, silenceMs: 60_000 });
  await waitUntil(() => held !== null && catchesSigterm(child.pid), 5_000);
  child.kill("SIGTERM");
  expectNoOutput(await result);
  server.stop(true);
});

describe("a connection that breaks", () => {
  test("is opened again to a restarted app, with the same body, and answered there", async () => {
    const stopped = Promise.withResolvers<void>();
    const first = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      setTimeout(() => {
        first.stop();
        stopped.resolve();
      }, 20);
    });
    const { result } = wait({ ...quick, reconnectMs: 5_000, silenceMs: 5_000 });
    await stopped.promise;
    const second = answering((socket) => socket.write(`${ok}${chunk("\n")}${chunk(`${proved(yes)}\n`)}`));
    expect((await result).stdout).toBe(`${yes}\n`);
    second.stop();
    expect(second.bodies[second.paths.indexOf("/api/hold")]).toBe(first.bodies[0] ?? "");
  });

  test("is given up after a while if the app does not come back", async () => {
    const server = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      setTimeout(() => server.stop(), 20);
    });
    const result = await wait().result;
    expectNoOutput(result);
    expect(result.ms).toBeGreaterThanOrEqual(quick.reconnectMs);
  });

  test("is given up at once if the user has turned beckon off", async () => {
    const server = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      writeFileSync(harness.inHome("off"), "");
      setTimeout(() => server.stop(), 20);
    });
    const result = await wait({ ...quick, reconnectMs: 20_000, silenceMs: 20_000, totalMs: 20_000 }).result;
    expectNoOutput(result);
    expect(result.ms).toBeLessThan(5_000);
  });
});

test("the line is the same however the response is split", () => {
  const bytes = Buffer.from(`${ok}${chunk("\n")}${chunk('{"é":')}${chunk("1}\n")}0\r\n\r\n`);
  for (let size = 1; size < bytes.length; size++) {
    const read = createLineReader();
    let got: string | null = null;
    for (let at = 0; at < bytes.length; at += size) got ??= read(bytes.subarray(at, at + size));
    expect(got).toBe('{"é":1}');
  }
});

test("a text that is too long is not a decision", () => {
  const long = JSON.stringify(output({ behavior: "deny", message: "x".repeat(limits.maxDecisionBytes) }));
  const agent = { id: "claude", forwarding: claudeForwarding };
  expect(isDecision(long, agent)).toBe(false);
  expect(isDecision(yes, agent)).toBe(true);
});
