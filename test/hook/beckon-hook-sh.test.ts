import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import { writeEndpoint } from "../../src/system/endpoint.ts";
import { copyScript } from "../known-folder.ts";
import { testWith } from "../needs.ts";
import { hookScript } from "../repo.ts";
import {
  createHarness,
  environment,
  event,
  expectNoOutput,
  expectOneEvent,
  expectPrivateSpool,
  finish,
  type Harness,
  isLinux,
  parseEnvelope,
  run,
  start,
  unusualFiles,
} from "./harness.ts";

const text = JSON.stringify(event);
const shells = [["dash"], ["bash", "--posix"], ["busybox", "sh"]].filter(([name]) => Bun.which(name ?? ""));
if (shells.length === 0) shells.push(["sh"]);

/** As on Alpine: only busybox and curl. */
const tools = createHarness();
afterAll(() => tools.destroy());
function pathFor([name]: string[]): Record<string, string> {
  if (name !== "busybox") return {};
  Bun.spawnSync(["busybox", "--install", "-s", tools.home]);
  symlinkSync(Bun.which("curl") ?? "", tools.inHome("curl"));
  return { PATH: tools.home };
}

const forwarder = copyScript(hookScript, mkdtempSync(join(tmpdir(), "beckon-hook-sh-")));
afterAll(() => rmSync(dirname(forwarder), { recursive: true }));

const endless = createHarness();
afterAll(() => endless.destroy());
const endlessRun = (() => {
  const child = start(["sh", forwarder], environment(endless.home));
  child.stdin.write('{"session_id":');
  child.stdin.flush();
  return finish(child, performance.now());
})();

describe.each(shells.map((shell) => [shell.join(" "), shell] as const))(
  "beckon-hook.sh under %s",
  (_, shell) => {
    let harness: Harness;
    beforeEach(() => {
      harness = createHarness();
    });
    afterEach(() => harness.destroy());

    const command = [Bun.which(shell[0] ?? "") ?? "", ...shell.slice(1), forwarder];
    const path = pathFor(shell);
    const forward = (stdin: string | Uint8Array, env: Record<string, string> = {}, cwd?: string) =>
      run(command, environment(harness.home, { HOME: harness.user, ...path, ...env }), stdin, cwd);
    const kept = () => harness.spool().map((line) => parseEnvelope(line).payload);

    test("the event arrives with the token, which no process list shows, and no file is written", async () => {
      const { received } = harness.receiver();
      const result = await forward(text);
      expectOneEvent(result, received);
      expect(received[0]?.text).toStartWith('{"provider":"claude","_meta":{');
      expect(received[0]?.text).toEndWith(`,"payload":${text}}`);
      expect(harness.spool()).toEqual([]);
      expect(harness.log()).toBe("");
    });

    test("a file without a token is not sent", async () => {
      const { received, port } = harness.receiver();
      harness.announce(9);
      harness.write("secret", "X-Secret: hush\n");
      await forward(text, {
        BECKON_URL: `http://127.0.0.1:${port}`,
        BECKON_TOKEN_FILE: harness.inHome("secret"),
      });
      expect(received).toHaveLength(1);
      expect(JSON.stringify(received)).not.toContain("hush");
    });

    test("_meta has time, place and agent", async () => {
      const { received } = harness.receiver();
      const before = Date.now();
      const awkward = 'a"b\\c\td é $(id) `id`';
      const env = {
        CLAUDE_PID: String(process.pid),
        CLAUDE_CODE_SESSION_ATTENDED: "0",
        CLAUDE_PROJECT_DIR: "/x/my proj/",
      };
      const hidden = { ANTHROPIC_API_KEY: "hush", TERM: "x".repeat(1_001) };
      await forward(text, { ...env, ...hidden, TMUX: awkward, TMUX_PANE: "%3" });
      await forward(text, { ...env, CLAUDE_PID: "007", CLAUDE_CODE_SESSION_ATTENDED: "1" });
      const [first, second] = received.map((one) => parseEnvelope(one.text)._meta);
      expect(first.id).not.toBe(second.id);
      expect(first.at).toBeWithin(before - 1_000, Date.now() + 1);
      expect(first).toMatchObject({ workspace_id: "my proj", attended: false, terminal_session_id: "%3" });
      expect(first.env).toEqual({ TMUX: awkward.replace("\t", " "), TMUX_PANE: "%3" });
      expect(second.attended).toBe(true);
      if (!isLinux) return;
      const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8");
      expect(first).toMatchObject({
        pid: process.pid,
        procStart: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19],
        boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
        host: `${first.boot}/${readlinkSync("/proc/self/ns/pid")}`,
      });
      expect(
        Math.abs(first.seq / 1e6 - Number.parseFloat(readFileSync("/proc/uptime", "utf8"))),
      ).toBeLessThan(5);
    });

    testWith("linux")("finds the agent's process behind the shell if CLAUDE_PID is missing", async () => {
      symlinkSync(realpathSync("/bin/sh"), harness.inHome("claude"));
      const inner = `sh -c '${command.join(" ")}; true'; true`;
      const agent = start([harness.inHome("claude"), "-c", inner], environment(harness.home, path));
      agent.stdin.write(text);
      agent.stdin.end();
      expectNoOutput(await finish(agent, 0));
      expect(parseEnvelope(harness.spool()[0])._meta.pid).toBe(agent.pid);
    });

    test("an agent that runs Claude Code's hooks is named as the sender", async () => {
      const send = async (payload: string, env: Record<string, string> = {}) => {
        const { received } = harness.receiver();
        await run([...command, "claude"], environment(harness.home, { ...path, ...env }), payload);
        return openEnvelope(parseEnvelope(received[0]?.text), "claude", null)?.provider;
      };
      const stop = '"session_id":"s","hook_event_name":"Stop"';
      expect(await send(`{${stop},"cursor_version":"3.2.16"}`)).toBe("unsupported");
      expect(await send(`{${stop},"timestamp":"2026-11-16T18:45:06Z"}`, { COPILOT_CLI: "1" })).toBe(
        "copilot",
      );
      expect(await send(`{${stop}}`, { COPILOT_CLI: "1" })).toBe("claude");
    });

    test("_meta in the payload and the agent's name are not changed", async () => {
      const { received } = harness.receiver();
      await run(
        [...command, 'my "agent"'],
        environment(harness.home, path),
        '{"session_id":"s","_meta":{"id":"given"}}',
      );
      expect(parseEnvelope(received[0]?.text)).toMatchObject({
        provider: 'my "agent"',
        payload: { _meta: { id: "given" } },
      });
    });

    for (const [what, stdin] of [
      ["nothing", ""],
      ["text", "no JSON"],
      ["a list", "[1]"],
      ["a torn object", '{"a":1'],
    ] as const) {
      test(`stdin is ${what}: logged, and nothing is sent`, async () => {
        const { received } = harness.receiver();
        const result = await forward(stdin);
        expectNoOutput(result);
        expect(result.stderr).toContain("stdin is not a JSON object");
        expect(harness.log()).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z\t-\t-\tstdin [^\t\n]+\n$/);
        expect(received).toEqual([]);
        expect(harness.spool()).toEqual([]);
      });
    }

    test("an event with newlines is one line in the spool", async () => {
      expectNoOutput(await forward(`\n${JSON.stringify(event, null, "\t").replaceAll("\n", "\r\n")}\n\n`));
      expect(kept()).toEqual([event]);
    });

    test("an event of 10 MB arrives with its identifying fields", async () => {
      const { received } = harness.receiver();
      const nested = { tool_name: "not this", text: JSON.stringify({ session_id: "nor this" }) };
      const large = { ...event, tool_response: ["x y ".repeat(2_500_000), nested], tool_use_id: "toolu_1" };
      expectNoOutput(await forward(JSON.stringify(large)));
      const { _meta, payload } = parseEnvelope(received[0]?.text);
      expect(_meta.cut).toBe(true);
      const { tool_input: _, ...names } = event;
      expect(payload).toEqual({ ...names, tool_use_id: "toolu_1" });
    }, 20_000);

    test("a body is never larger than beckon accepts", async () => {
      const { received } = harness.receiver();
      for (const length of [982_000, limits.maxBodyBytes])
        expectNoOutput(await forward(JSON.stringify({ ...event, prompt: "x".repeat(length) })));
      expect(received).toHaveLength(2);
      for (const { text } of received) expect(text.length).toBeLessThanOrEqual(limits.maxBodyBytes);
    }, 20_000);

    test("900 kB arrive complete", async () => {
      const { received } = harness.receiver();
      const prompt = "né".repeat(300_000);
      expectNoOutput(await forward(JSON.stringify({ ...event, prompt })));
      expect(parseEnvelope(received[0]?.text).payload.prompt === prompt).toBe(true);
    });

    test("bytes that are not UTF-8 are passed on", async () => {
      const { received } = harness.receiver();
      expectNoOutput(
        await forward(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')])),
      );
      expect(parseEnvelope(received[0]?.text).payload).toEqual({ a: "\ufffd" });
    });

    test("beckon does not run: spooled in a private folder, without an error", async () => {
      const home = harness.inHome("a/b");
      const result = await run(command, environment(home, path), text);
      expectPrivateSpool(result, home);
    });

    test("beckon was killed: spooled without an error, and the process that has its port receives nothing", async () => {
      harness.announce(9);
      const refused = await forward(text);
      expectNoOutput(refused);
      expect(refused.stderr).toBe("");
      const { received, port } = harness.receiver();
      const dead = Bun.spawn(["true"]);
      await dead.exited;
      harness.announce(port, dead.pid);
      expectNoOutput(await forward(text));
      expect(received).toEqual([]);
      expect(kept()).toEqual([event, event]);
    });

    test("beckon hangs: spooled after a second", async () => {
      harness.listener(() => {});
      const result = await forward(text);
      expectNoOutput(result);
      expect(result.ms).toBeWithin(1_000, 3_000);
      expect(kept()).toEqual([event]);
      expect(harness.log()).toContain(`\tPreToolUse\t${event.session_id}\tno answer`);
    });

    test("the connection breaks: spooled", async () => {
      harness.listener((socket) => socket.terminate());
      expectNoOutput(await forward(text));
      expect(kept()).toEqual([event]);
      expect(harness.log()).toContain("connection broken");
    });

    for (const [status, isKept] of [
      [503, true],
      [401, true],
      [404, true],
      [400, false],
      [413, false],
    ] as const) {
      test(`beckon answers ${status}: ${isKept ? "spooled" : "logged, not spooled"}`, async () => {
        harness.receiver(status);
        expectNoOutput(await forward(text));
        expect(kept()).toEqual(isKept ? [event] : []);
        expect(harness.log()).toContain(String(status));
      });
    }

    test("twenty hooks at once leave twenty complete lines", async () => {
      const long = "x".repeat(200_000);
      const runs = Array.from({ length: 20 }, (_, n) =>
        forward(JSON.stringify({ session_id: `s${n}`, long })),
      );
      for (const result of await Promise.all(runs)) expectNoOutput(result);
      expect(new Set(kept().map((payload) => payload.session_id)).size).toBe(20);
    }, 20_000);

    test("SIGTERM while the hook waits for the answer: spooled, without an error", async () => {
      const heard = Promise.withResolvers<void>();
      harness.listener(() => heard.resolve());
      const child = start(command, environment(harness.home, path));
      child.stdin.write(text);
      child.stdin.end();
      await heard.promise;
      child.kill("SIGTERM");
      expectNoOutput(await finish(child, 0));
      expect(kept()).toEqual([event]);
    });

    test("a disk error is reported, and the hook exits with 0", async () => {
      harness.write("file", "");
      const result = await run(command, environment(harness.inHome("file/home"), path), text);
      expectNoOutput(result);
      expect(result.stderr).toContain("could not write");
    });

    for (const [what, put] of Object.entries(unusualFiles)) {
      for (const name of ["endpoint.json", "auth-header"]) {
        testWith("linux")(`${what} as ${name}: the event is spooled at once`, async () => {
          harness.receiver(401);
          rmSync(harness.inHome(name));
          put(harness.inHome(name));
          const result = await forward(text);
          expectNoOutput(result);
          expect(result.ms).toBeLessThan(2_000);
          expect(kept()).toEqual([event]);
        });
      }

      testWith("linux")(`${what} as spool.jsonl and hook.log is reported on stderr at once`, async () => {
        put(harness.inHome("spool.jsonl"));
        put(harness.inHome("hook.log"));
        const result = await forward(text);
        expectNoOutput(result);
        expect(result.ms).toBeLessThan(2_000);
        expect(result.stderr).toMatch(/^beckon-hook: [^\n]*event (lost|dropped)[^\n]*\n$/);
        if (what.startsWith("a hole")) expect(harness.log()).toMatch(/^\d[^\n]+spool is full[^\n]+\n$/);
      });
    }

    test.each([
      ["a link", symlinkSync],
      ["a hard link", linkSync],
    ])("nothing is written through %s", async (_, makeLink) => {
      harness.write("precious", "mine\n");
      for (const name of ["spool.jsonl", "hook.log"])
        makeLink(harness.inHome("precious"), harness.inHome(name));
      const result = await forward(text);
      expectNoOutput(result);
      expect(result.stderr).toContain("event lost");
      expect(readFileSync(harness.inHome("precious"), "utf8")).toBe("mine\n");
    });

    testWith("linux", "root")("nothing is written to another user's folder", async () => {
      chownSync(harness.home, 65_534, 65_534);
      const result = await forward(text);
      expectNoOutput(result);
      expect(result.stderr).toContain("belongs to another user");
      expect(readdirSync(harness.home)).toEqual([]);
    });

    test("control characters reach neither the log nor stderr", async () => {
      harness.receiver(503, "127.0.0.1", '{"error":"a\u001b[31m\u009b2J\tb"}');
      const result = await forward('{"session_id":"s\u001b[31m\u009b2J\u0085\u007f"}');
      expectNoOutput(result);
      expect(result.stderr).toMatch(/^[ -~]+\n$/);
      expect(harness.log()).toMatch(/^[ -~]+\t-\ts[ -~]+\tbeckon answered 503 \(a[ -~]+b\)[ -~]+\n$/);
    });

    test("the log has the error that beckon answered", async () => {
      const error = "wrong Host header: use http://127.0.0.1:4488";
      const { port } = harness.receiver(403, "127.0.0.1", JSON.stringify({ error }));
      await forward(text);
      expect(harness.log()).toContain(`\tbeckon answered 403 (${error}): kept in the spool\n`);
      await forward(text, { BECKON_URL: `http://127.0.0.1:${port}` });
      expect(harness.log()).toContain(`(${error}): kept in the spool of this machine\n`);
      await forward(text, { BECKON_URL: "http://127.0.0.1:9" });
      expect(harness.log()).toContain("nothing listens at BECKON_URL: kept in the spool of this machine\n");
      expect(kept()).toEqual([event, event, event]);
    });

    testWith("linux")("endpoint.json is followed only to the process that wrote it", async () => {
      const { received, port } = harness.receiver();
      for (const [pid, more] of [
        [process.pid, { start: "1" }],
        [process.pid, { boot: "another" }],
        [0, {}],
        [-1, {}],
        [undefined, {}],
      ] as const) {
        harness.announce(port, pid, { pid, ...more });
        expectNoOutput(await forward(text));
      }
      expect(received).toEqual([]);
      expect(kept()).toHaveLength(5);
      writeEndpoint(
        { endpoint: harness.inHome("endpoint.json") },
        { url: `http://127.0.0.1:${port}`, pid: process.pid, key: "k" },
      );
      expectNoOutput(await forward(text));
      expect(received).toHaveLength(1);
    });

    test("a full spool still takes a request, and what ends it", async () => {
      harness.write("spool.jsonl", "");
      truncateSync(harness.inHome("spool.jsonl"), limits.maxSpoolBytes + 1);
      for (const hook_event_name of ["PermissionRequest", "Stop"])
        expectNoOutput(await forward(JSON.stringify({ ...event, hook_event_name })));
      const text = readFileSync(harness.inHome("spool.jsonl"), "utf8");
      expect(text.match(/"hook_event_name":"\w+"/g)).toEqual([
        '"hook_event_name":"PermissionRequest"',
        '"hook_event_name":"Stop"',
      ]);
      expect(harness.log()).toBe("");
    });

    test("a full spool stops growing, and a full log keeps its newer half", async () => {
      harness.write("spool.jsonl", "");
      truncateSync(harness.inHome("spool.jsonl"), limits.maxSpoolBytes + 1);
      harness.write("hook.log", "old line\n".repeat(40_000));
      expectNoOutput(await forward(text));
      expect(statSync(harness.inHome("spool.jsonl")).size).toBe(limits.maxSpoolBytes + 1);
      expect(harness.log().length).toBeWithin(limits.maxHookLogBytes / 2 - 20, limits.maxHookLogBytes);
      expect(harness.log()).toMatch(/^old line\n(.*\n)+.*spool is full.*\n$/);
    });

    test("BECKON_URL is followed to this machine without a proxy, and nowhere else", async () => {
      const elsewhere = harness.receiver(200, "0.0.0.0");
      const here = harness.receiver();
      const dead = "http://127.0.0.1:9";
      for (const host of ["0.0.0.0", "127.0.0.1@0.0.0.0", "127.0.0.1:1@0.0.0.0", "127.0.0.1.nip.io"]) {
        expectNoOutput(
          await forward(text, { BECKON_URL: `http://${host}:${elsewhere.port}`, http_proxy: dead }),
        );
      }
      expect(elsewhere.received).toEqual([]);
      expect(here.received).toHaveLength(4);
      expect(harness.log()).toContain("BECKON_URL ignored");
      harness.announce(9);
      for (const host of ["127.0.0.1", "localhost"]) {
        expectNoOutput(await forward(text, { BECKON_URL: `http://${host}:${here.port}/`, http_proxy: dead }));
      }
      expect(here.received).toHaveLength(6);
    });

    test("the user's own config can allow another machine; one that a variable points to cannot", async () => {
      const elsewhere = harness.receiver(200, "0.0.0.0");
      harness.announce(9);
      for (const folder of ["", ".config/beckon/", "beckon/"]) {
        mkdirSync(harness.inHome(folder), { recursive: true });
        harness.write(`${folder}config.json`, '{\n  "allowRemoteUrl": true\n}\n');
      }
      const env = { BECKON_URL: `http://0.0.0.0:${elsewhere.port}` };
      expectNoOutput(await forward(text, env));
      expectNoOutput(await forward(text, { ...env, XDG_CONFIG_HOME: harness.home }));
      expectNoOutput(await forward(text, { ...env, BECKON_HOME: "." }, harness.home));
      expect(elsewhere.received).toHaveLength(0);
      // A user database with that folder as the user's home.
      const entry = `ann:x:0:0::${harness.home}:/bin/sh`;
      writeFileSync(harness.inHome("getent"), `#!/bin/sh\necho '${entry}'\n`, { mode: 0o755 });
      const PATH = `${harness.home}:${path.PATH ?? process.env.PATH}`;
      expectNoOutput(await forward(text, { ...env, PATH }));
      expect(elsewhere.received).toHaveLength(1);
    });
  },
);

testWith("timeout")(
  "stdin that is never closed does not keep the agent waiting for ever",
  async () => {
    const result = await endlessRun;
    expectNoOutput(result);
    expect(result.ms).toBeWithin(timing.stdinTimeoutMs - 100, timing.stdinTimeoutMs + 3_000);
    expect(endless.log()).toContain("stdin is not a JSON object");
  },
  10_000,
);
