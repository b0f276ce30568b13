/** The hook that waits, against whatever may stand behind the port. It prints a decision or nothing, and ends with 0. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeForwarding } from "../../src/agents/claude/forwarding.ts";
import { limits } from "../../src/core/limits.ts";
import { isDecision } from "../../src/hook/hold.ts";
import { createLineReader } from "../../src/hook/http.ts";
import { signDecision } from "../../src/system/decision-signature.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { createWorld, environment, expectSilence, finish, type Ran, start, type World } from "./world.ts";

const entry = join(import.meta.dir, "../fixtures/hold-entry.ts");
const output = (decision: object) => ({
  hookSpecificOutput: { hookEventName: "PermissionRequest", decision },
});
const yes = JSON.stringify(output({ behavior: "allow" }));
const key = "key of this start";
const proved = (decision: string, request = "e-1") => signDecision(key, request, decision);
const ok = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

const quick = { checkMs: 20, totalMs: 5_000, silenceMs: 400, reconnectMs: 400 };

function wait(times: object = quick, env: Record<string, string> = {}) {
  const before = performance.now();
  const child = start([process.execPath, entry, JSON.stringify(times)], environment(world.home, env));
  return { child, ran: finish(child, before) };
}

/** Answers a held line so, and confirmations with 200; what was asked, by path. */
function answering(reply: (socket: Bun.Socket, nth: number) => void) {
  const paths: string[] = [];
  const bodies: string[] = [];
  world.listener((socket) => {
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
  world.announce(server.port, process.pid, { key });
  return { paths, bodies, stop: () => server.stop(true), port: server.port };
}

async function said(reply: (socket: Bun.Socket, nth: number) => void, times: object = quick): Promise<Ran> {
  const server = answering(reply);
  const ran = await wait(times).ran;
  server.stop();
  expect(ran.code).toBe(0);
  return ran;
}

describe("what it prints", () => {
  test("a decision, whole and once, and it says that it did", async () => {
    const server = answering((socket) => socket.write(`${ok}${chunk("\n")}${chunk(`${proved(yes)}\n`)}`));
    const ran = await wait().ran;
    server.stop();
    expect(ran).toMatchObject({ code: 0, stdout: `${yes}\n`, stderr: "" });
    expect(server.paths).toEqual(["/api/hook?hold", "/api/hold/end"]);
    expect(JSON.parse(server.bodies[1] ?? "")).toEqual({ id: "e-1", how: "printed" });
  });

  test("a decision that comes byte by byte, and one of 500 kB", async () => {
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
    const ran = await wait({ ...quick, silenceMs: 3_000 }).ran;
    server.stop();
    expect(ran.stdout).toBe(`${long}\n`);
  });

  const nothing: Record<string, string> = {
    "{}": `${ok}${chunk("{}\n")}0\r\n\r\n`,
    "an older app, which only takes the event": 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok":true}',
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
    "a stranger's decision": `${ok}${chunk(`${yes}\n`)}`,
    "a decision with another start's proof": `${ok}${chunk(`${signDecision("another key", "e-1", yes)}\n`)}`,
    "a decision about another request": `${ok}${chunk(`${proved(yes, "e-2")}\n`)}`,
    "a proof of something else": `${ok}${chunk(`${proved("{}").split(" ", 1)[0]} ${yes}\n`)}`,
    "2 MB of something": `${ok}${chunk("x".repeat(2 * 1024 * 1024))}`,
    "no HTTP": "SSH-2.0-OpenSSH_9.9\r\n\r\n\r\n\r\n",
  };
  for (const [what, reply] of Object.entries(nothing)) {
    test(`${what}: nothing, and it ends at once`, async () => {
      const ran = await said((socket) => {
        let rest = Buffer.from(reply);
        const write = () => {
          rest = rest.subarray(Math.max(0, socket.write(rest)));
          if (rest.length > 0) setTimeout(write, 1);
        };
        write();
      });
      expectSilence(ran);
      expect(ran.ms).toBeLessThan(quick.reconnectMs + quick.silenceMs);
    });
  }

  test("half a decision before the line broke: nothing", async () => {
    const ran = await said((socket) => {
      socket.write(`${ok}${chunk(proved(yes))}`);
      setTimeout(() => socket.end(), 20);
    });
    expectSilence(ran);
  });
});

test("where the endpoint holds no key, nobody is believed", async () => {
  const server = answering((socket) => socket.write(`${ok}${chunk(`${proved(yes)}\n`)}`));
  world.announce(server.port);
  const ran = await wait().ran;
  server.stop();
  expectSilence(ran);
});

describe("it lets go", () => {
  test("of an app that hangs", async () => {
    const ran = await said(() => {});
    expectSilence(ran);
    expect(ran.ms).toBeGreaterThanOrEqual(quick.silenceMs);
  });

  test("of an app that hung later, but not while there is a sign of life", async () => {
    let beats = 0;
    const ran = await said((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      const timer = setInterval(() => {
        socket.write(chunk("\n"));
        if (++beats === 8) clearInterval(timer);
      }, 100);
    });
    expectSilence(ran);
    expect(ran.ms).toBeGreaterThanOrEqual(1_100);
  });

  test("after all its time, whatever comes", async () => {
    const ran = await said(
      (socket) => {
        socket.write(ok);
        const timer = setInterval(() => socket.write(chunk("\n")), 50);
        setTimeout(() => clearInterval(timer), 3_000);
      },
      { ...quick, totalMs: 600 },
    );
    expectSilence(ran);
    expect(ran.ms).toBeWithin(600, 2_500);
  });

  testWith("linux")("when the agent's process is gone", async () => {
    const agent = Bun.spawn(["sleep", "60"]);
    const server = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      agent.kill("SIGKILL");
    });
    const ran = await wait(
      { ...quick, silenceMs: 60_000, totalMs: 60_000 },
      { CLAUDE_PID: String(agent.pid) },
    ).ran;
    server.stop();
    expectSilence(ran);
  });

  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    testWith("linux")(`when told to (${signal}), and says so`, async () => {
      const server = answering((socket) => socket.write(`${ok}${chunk("\n")}`));
      const { child, ran } = wait({ ...quick, silenceMs: 60_000 });
      await until(() => server.paths.length === 1, 5_000);
      await Bun.sleep(50);
      child.kill(signal);
      expectSilence(await ran);
      server.stop();
      expect(server.paths).toEqual(["/api/hook?hold", "/api/hold/end"]);
      expect(JSON.parse(server.bodies[1] ?? "")).toEqual({ id: "e-1", how: "stopped" });
    });
  }
});

testWith("linux")("a decision that comes when it was told to stop is not printed", async () => {
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
  world.announce(server.port, process.pid, { key });
  const { child, ran } = wait({ ...quick, silenceMs: 60_000 });
  await until(() => held !== null, 5_000);
  await Bun.sleep(50);
  child.kill("SIGTERM");
  expectSilence(await ran);
  server.stop(true);
});

describe("a line that breaks", () => {
  test("is looked for again, with the same text, and answered there", async () => {
    const first = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      setTimeout(() => first.stop(), 20);
    });
    const { ran } = wait({ ...quick, reconnectMs: 5_000, silenceMs: 5_000 });
    await until(() => first.paths.length === 1, 5_000);
    await Bun.sleep(100);
    const second = answering((socket) => socket.write(`${ok}${chunk("\n")}${chunk(`${proved(yes)}\n`)}`));
    expect((await ran).stdout).toBe(`${yes}\n`);
    second.stop();
    expect(second.bodies[second.paths.indexOf("/api/hold")]).toBe(first.bodies[0] ?? "");
  });

  test("and does not come back: it lets go in time", async () => {
    const server = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      setTimeout(() => server.stop(), 20);
    });
    const ran = await wait().ran;
    expectSilence(ran);
    expect(ran.ms).toBeGreaterThanOrEqual(quick.reconnectMs);
  });

  test("because the person has turned beckon off: it lets go at once", async () => {
    const server = answering((socket) => {
      socket.write(`${ok}${chunk("\n")}`);
      writeFileSync(world.inHome("off"), "");
      setTimeout(() => server.stop(), 20);
    });
    const ran = await wait({ ...quick, reconnectMs: 20_000, silenceMs: 20_000, totalMs: 20_000 }).ran;
    expectSilence(ran);
    expect(ran.ms).toBeLessThan(5_000);
  });
});

test("a reader of any pieces gives the same line", () => {
  const bytes = Buffer.from(`${ok}${chunk("\n")}${chunk('{"é":')}${chunk("1}\n")}0\r\n\r\n`);
  for (let size = 1; size < bytes.length; size++) {
    const read = createLineReader();
    let got: string | null = null;
    for (let at = 0; at < bytes.length; at += size) got ??= read(bytes.subarray(at, at + size));
    expect(got).toBe('{"é":1}');
  }
});

test("what is longer than a decision may be is none", () => {
  const long = JSON.stringify(output({ behavior: "deny", message: "x".repeat(limits.maxDecisionBytes) }));
  const agent = { id: "claude", forwarding: claudeForwarding };
  expect(isDecision(long, agent)).toBe(false);
  expect(isDecision(yes, agent)).toBe(true);
});
