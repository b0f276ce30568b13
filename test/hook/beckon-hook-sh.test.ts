import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chownSync,
  mkdirSync,
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
import { join } from "node:path";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import { writeEndpoint } from "../../src/system/endpoint.ts";
import { testWith } from "../needs.ts";
import {
  createWorld,
  environment,
  event,
  expectSilence,
  finish,
  isLinux,
  oddities,
  open,
  run,
  start,
  token,
  type World,
} from "./world.ts";

const script = join(import.meta.dir, "../../hooks/beckon-hook.sh");
const text = JSON.stringify(event);
const shells = [["dash"], ["bash", "--posix"], ["busybox", "sh"]].filter(([name]) => Bun.which(name ?? ""));
if (shells.length === 0) shells.push(["sh"]);

/** As on Alpine: nothing but busybox and curl. */
const tools = createWorld();
afterAll(() => tools.destroy());
function pathFor([name]: string[]): Record<string, string> {
  if (name !== "busybox") return {};
  Bun.spawnSync(["busybox", "--install", "-s", tools.home]);
  symlinkSync(Bun.which("curl") ?? "", tools.inHome("curl"));
  return { PATH: tools.home };
}

const endless = createWorld();
afterAll(() => endless.destroy());
const endlessRun = (() => {
  const child = start(["sh", script], environment(endless.home));
  child.stdin.write('{"session_id":');
  child.stdin.flush();
  return finish(child, performance.now());
})();

describe.each(shells.map((shell) => [shell.join(" "), shell] as const))(
  "beckon-hook.sh under %s",
  (_, shell) => {
    let world: World;
    beforeEach(() => {
      world = createWorld();
    });
    afterEach(() => world.destroy());

    const command = [Bun.which(shell[0] ?? "") ?? "", ...shell.slice(1), script];
    const path = pathFor(shell);
    const forward = (stdin: string | Uint8Array, env: Record<string, string> = {}, cwd?: string) =>
      run(command, environment(world.home, { ...path, ...env }), stdin, cwd);
    const kept = () => world.spool().map((line) => open(line).payload);

    test("the event arrives with the token, which is in no process list, and nothing is left behind", async () => {
      const { received } = world.receiver();
      const ran = await forward(text);
      expectSilence(ran);
      expect(ran.stderr).toBe("");
      expect(received).toHaveLength(1);
      expect(received[0]?.path).toBe("/api/hook");
      expect(received[0]?.headers.authorization).toBe(`Bearer ${token}`);
      expect(received[0]?.headers["content-type"]).toBe("application/json");
      expect(received[0]?.text).toStartWith('{"provider":"claude","_meta":{');
      expect(received[0]?.text).toEndWith(`,"payload":${text}}`);
      expect(world.spool()).toEqual([]);
      expect(world.log()).toBe("");
    });

    test("the token may lie elsewhere; a file that holds none is not sent", async () => {
      const { received } = world.receiver();
      world.write("elsewhere", "Authorization: Bearer other\n");
      world.write("secret", "X-Secret: hush\n");
      await forward(text, { BECKON_TOKEN_FILE: world.inHome("elsewhere") });
      await forward(text, { BECKON_TOKEN_FILE: world.inHome("secret") });
      expect(received[0]?.headers.authorization).toBe("Bearer other");
      expect(JSON.stringify(received[1])).not.toContain("hush");
    });

    test("_meta says when, where and who", async () => {
      const { received } = world.receiver();
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
      const [first, second] = received.map((one) => open(one.text)._meta);
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

    testWith("linux")("finds the agent behind the shell where CLAUDE_PID is missing", async () => {
      symlinkSync(realpathSync("/bin/sh"), world.inHome("claude"));
      const inner = `sh -c '${command.join(" ")}; true'; true`;
      const agent = start([world.inHome("claude"), "-c", inner], environment(world.home, path));
      agent.stdin.write(text);
      agent.stdin.end();
      expectSilence(await finish(agent, 0));
      expect(open(world.spool()[0])._meta.pid).toBe(agent.pid);
    });

    test("_meta in the payload stays as it was given, and so does the agent's name", async () => {
      const { received } = world.receiver();
      await run(
        [...command, 'my "agent"'],
        environment(world.home, path),
        '{"session_id":"s","_meta":{"id":"given"}}',
      );
      expect(open(received[0]?.text)).toMatchObject({
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
      test(`stdin is ${what}: a line in the log, nothing sent`, async () => {
        const { received } = world.receiver();
        const ran = await forward(stdin);
        expectSilence(ran);
        expect(ran.stderr).toContain("stdin is not a JSON object");
        expect(world.log()).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z\t-\t-\tstdin [^\t\n]+\n$/);
        expect(received).toEqual([]);
        expect(world.spool()).toEqual([]);
      });
    }

    test("newlines become one line in the spool", async () => {
      expectSilence(await forward(`\n${JSON.stringify(event, null, "\t").replaceAll("\n", "\r\n")}\n\n`));
      expect(kept()).toEqual([event]);
    });

    test("of 10 MB, whose event it was arrives", async () => {
      const { received } = world.receiver();
      const nested = { tool_name: "not this", text: JSON.stringify({ session_id: "nor this" }) };
      const large = { ...event, tool_response: ["x y ".repeat(2_500_000), nested], tool_use_id: "toolu_1" };
      expectSilence(await forward(JSON.stringify(large)));
      const { _meta, payload } = open(received[0]?.text);
      expect(_meta.cut).toBe(true);
      const { tool_input: _, ...names } = event;
      expect(payload).toEqual({ ...names, tool_use_id: "toolu_1" });
    });

    test("what is sent is never more than beckon takes", async () => {
      const { received } = world.receiver();
      for (const length of [982_000, limits.maxBodyBytes])
        expectSilence(await forward(JSON.stringify({ ...event, prompt: "x".repeat(length) })));
      expect(received).toHaveLength(2);
      for (const { text } of received) expect(text.length).toBeLessThanOrEqual(limits.maxBodyBytes);
    });

    test("900 kB arrive whole", async () => {
      const { received } = world.receiver();
      const prompt = "né".repeat(300_000);
      expectSilence(await forward(JSON.stringify({ ...event, prompt })));
      expect(open(received[0]?.text).payload.prompt === prompt).toBe(true);
    });

    test("bytes that are no UTF-8 are passed on", async () => {
      const { received } = world.receiver();
      expectSilence(
        await forward(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')])),
      );
      expect(open(received[0]?.text).payload).toEqual({ a: "\ufffd" });
    });

    test("beckon does not run: kept in a spool of one's own, without an error", async () => {
      const home = world.inHome("a/b");
      const ran = await run(command, environment(home, path), text);
      expectSilence(ran);
      expect(ran.stderr).toBe("");
      expect(open(readFileSync(join(home, "spool.jsonl"), "utf8")).payload).toEqual(event);
      expect(statSync(home).mode & 0o777).toBe(0o700);
      expect(statSync(join(home, "spool.jsonl")).mode & 0o777).toBe(0o600);
    });

    test("beckon was killed: kept, without an error, and who has its port now gets nothing", async () => {
      world.announce(9);
      const refused = await forward(text);
      expectSilence(refused);
      expect(refused.stderr).toBe("");
      const { received, port } = world.receiver();
      const dead = Bun.spawn(["true"]);
      await dead.exited;
      world.announce(port, dead.pid);
      expectSilence(await forward(text));
      expect(received).toEqual([]);
      expect(kept()).toEqual([event, event]);
    });

    test("beckon hangs: kept after a second", async () => {
      world.listener(() => {});
      const ran = await forward(text);
      expectSilence(ran);
      expect(ran.ms).toBeWithin(1_000, 3_000);
      expect(kept()).toEqual([event]);
      expect(world.log()).toContain(`\tPreToolUse\t${event.session_id}\tno answer`);
    });

    test("the connection is torn: kept", async () => {
      world.listener((socket) => socket.terminate());
      expectSilence(await forward(text));
      expect(kept()).toEqual([event]);
      expect(world.log()).toContain("connection broken");
    });

    for (const [status, isKept] of [
      [503, true],
      [401, true],
      [404, true],
      [400, false],
      [413, false],
    ] as const) {
      test(`beckon answers ${status}: ${isKept ? "kept" : "logged, not kept"}`, async () => {
        world.receiver(status);
        expectSilence(await forward(text));
        expect(kept()).toEqual(isKept ? [event] : []);
        expect(world.log()).toContain(String(status));
      });
    }

    test("twenty at once leave twenty whole lines", async () => {
      const long = "x".repeat(200_000);
      const runs = Array.from({ length: 20 }, (_, n) =>
        forward(JSON.stringify({ session_id: `s${n}`, long })),
      );
      for (const ran of await Promise.all(runs)) expectSilence(ran);
      expect(new Set(kept().map((payload) => payload.session_id)).size).toBe(20);
    }, 20_000);

    test("SIGTERM while it waits for the answer: kept, and a quiet end", async () => {
      const heard = Promise.withResolvers<void>();
      world.listener(() => heard.resolve());
      const child = start(command, environment(world.home, path));
      child.stdin.write(text);
      child.stdin.end();
      await heard.promise;
      child.kill("SIGTERM");
      expectSilence(await finish(child, 0));
      expect(kept()).toEqual([event]);
    });

    test("a disk that does not play along is said, and no failure", async () => {
      world.write("file", "");
      const ran = await run(command, environment(world.inHome("file/home"), path), text);
      expectSilence(ran);
      expect(ran.stderr).toContain("could not write");
    });

    for (const [what, put] of Object.entries(oddities)) {
      for (const name of ["endpoint.json", "auth-header"]) {
        testWith("linux")(`${what} as ${name}: kept, without a wait`, async () => {
          world.receiver(401);
          rmSync(world.inHome(name));
          put(world.inHome(name));
          const ran = await forward(text);
          expectSilence(ran);
          expect(ran.ms).toBeLessThan(2_000);
          expect(kept()).toEqual([event]);
        });
      }

      testWith("linux")(`${what} as spool.jsonl and hook.log: said on stderr, without a wait`, async () => {
        put(world.inHome("spool.jsonl"));
        put(world.inHome("hook.log"));
        const ran = await forward(text);
        expectSilence(ran);
        expect(ran.ms).toBeLessThan(2_000);
        expect(ran.stderr).toMatch(/^beckon-hook: [^\n]*event (lost|dropped)[^\n]*\n$/);
        if (what.startsWith("a hole")) expect(world.log()).toMatch(/^\d[^\n]+spool is full[^\n]+\n$/);
      });
    }

    test("nothing is written through a link", async () => {
      world.write("precious", "mine\n");
      for (const name of ["spool.jsonl", "hook.log"])
        symlinkSync(world.inHome("precious"), world.inHome(name));
      const ran = await forward(text);
      expectSilence(ran);
      expect(ran.stderr).toContain("event lost");
      expect(readFileSync(world.inHome("precious"), "utf8")).toBe("mine\n");
    });

    testWith("linux", "root")("nothing is written into another user's folder", async () => {
      chownSync(world.home, 65_534, 65_534);
      const ran = await forward(text);
      expectSilence(ran);
      expect(ran.stderr).toContain("belongs to another user");
      expect(readdirSync(world.home)).toEqual([]);
    });

    test("what a terminal would obey gets neither into the log nor to stderr", async () => {
      world.receiver(503, "127.0.0.1", '{"error":"a\u001b[31m\u009b2J\tb"}');
      const ran = await forward('{"session_id":"s\u001b[31m\u009b2J\u0085\u007f"}');
      expectSilence(ran);
      expect(ran.stderr).toMatch(/^[ -~]+\n$/);
      expect(world.log()).toMatch(/^[ -~]+\t-\ts[ -~]+\tbeckon answered 503 \(a[ -~]+b\)[ -~]+\n$/);
    });

    test("beckon's own words about a refusal are in the log", async () => {
      const error = "wrong Host header: use http://127.0.0.1:4488";
      const { port } = world.receiver(403, "127.0.0.1", JSON.stringify({ error }));
      await forward(text);
      expect(world.log()).toContain(`\tbeckon answered 403 (${error}): kept in the spool\n`);
      await forward(text, { BECKON_URL: `http://127.0.0.1:${port}` });
      expect(world.log()).toContain(`(${error}): kept in the spool of this machine\n`);
      await forward(text, { BECKON_URL: "http://127.0.0.1:9" });
      expect(world.log()).toContain(
        "nobody listens where BECKON_URL says: kept in the spool of this machine\n",
      );
      expect(kept()).toEqual([event, event, event]);
    });

    testWith("linux")("endpoint.json is followed only to the process that wrote it", async () => {
      const { received, port } = world.receiver();
      for (const [pid, more] of [
        [process.pid, { start: "1" }],
        [process.pid, { boot: "another" }],
        [0, {}],
        [-1, {}],
        [undefined, {}],
      ] as const) {
        world.announce(port, pid, { pid, ...more });
        expectSilence(await forward(text));
      }
      expect(received).toEqual([]);
      expect(kept()).toHaveLength(5);
      writeEndpoint(
        { endpoint: world.inHome("endpoint.json") },
        { url: `http://127.0.0.1:${port}`, pid: process.pid, key: "k" },
      );
      expectSilence(await forward(text));
      expect(received).toHaveLength(1);
    });

    test("a spool that nobody empties stops growing, and the log keeps its newer half", async () => {
      world.write("spool.jsonl", "");
      truncateSync(world.inHome("spool.jsonl"), limits.maxSpoolBytes + 1);
      world.write("hook.log", "old line\n".repeat(40_000));
      expectSilence(await forward(text));
      expect(statSync(world.inHome("spool.jsonl")).size).toBe(limits.maxSpoolBytes + 1);
      expect(world.log().length).toBeWithin(limits.maxHookLogBytes / 2 - 20, limits.maxHookLogBytes);
      expect(world.log()).toMatch(/^old line\n(.*\n)+.*spool is full.*\n$/);
    });

    test("BECKON_URL is followed to this machine, past any proxy, and nowhere else", async () => {
      const elsewhere = world.receiver(200, "0.0.0.0");
      const here = world.receiver();
      const dead = "http://127.0.0.1:9";
      for (const host of ["0.0.0.0", "127.0.0.1@0.0.0.0", "127.0.0.1:1@0.0.0.0", "127.0.0.1.nip.io"]) {
        expectSilence(
          await forward(text, { BECKON_URL: `http://${host}:${elsewhere.port}`, http_proxy: dead }),
        );
      }
      expect(elsewhere.received).toEqual([]);
      expect(here.received).toHaveLength(4);
      expect(world.log()).toContain("BECKON_URL ignored");
      world.announce(9);
      for (const host of ["127.0.0.1", "localhost"]) {
        expectSilence(await forward(text, { BECKON_URL: `http://${host}:${here.port}/`, http_proxy: dead }));
      }
      expect(here.received).toHaveLength(6);
    });

    test("the person's own config can allow more; one that a variable places cannot", async () => {
      const elsewhere = world.receiver(200, "0.0.0.0");
      world.announce(9);
      for (const folder of ["", ".config/beckon/", "beckon/"]) {
        mkdirSync(world.inHome(folder), { recursive: true });
        world.write(`${folder}config.json`, '{\n  "allowRemoteUrl": true\n}\n');
      }
      const env = { BECKON_URL: `http://0.0.0.0:${elsewhere.port}` };
      expectSilence(await forward(text, env));
      expectSilence(await forward(text, { ...env, XDG_CONFIG_HOME: world.home }));
      expectSilence(await forward(text, { ...env, BECKON_HOME: "." }, world.home));
      expect(elsewhere.received).toHaveLength(0);
      // A user database in which that folder is the person's home.
      const entry = `ann:x:0:0::${world.home}:/bin/sh`;
      writeFileSync(world.inHome("getent"), `#!/bin/sh\necho '${entry}'\n`, { mode: 0o755 });
      const PATH = `${world.home}:${path.PATH ?? process.env.PATH}`;
      expectSilence(await forward(text, { ...env, PATH }));
      expect(elsewhere.received).toHaveLength(1);
    });
  },
);

testWith("timeout")(
  "stdin that nobody closes does not hold the agent up for ever",
  async () => {
    const ran = await endlessRun;
    expectSilence(ran);
    expect(ran.ms).toBeWithin(timing.stdinTimeoutMs - 100, timing.stdinTimeoutMs + 3_000);
    expect(endless.log()).toContain("stdin is not a JSON object");
  },
  10_000,
);
