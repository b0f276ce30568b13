/** A linked machine that lies, floods or hangs. It can show its own sessions under its own name, and nothing else. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HookOutput } from "../../src/core/interfaces/wire.ts";
import { limits } from "../../src/core/limits.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { createLink } from "../../src/machines/link.ts";
import { schedule } from "../../src/system/schedule.ts";
import { hashAddress } from "../../src/workguard/repository-files.ts";
import { createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { mainSource } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { createRepository } from "../workguard/repository.ts";

const soonMs = 15_000;
let laptop: ReturnType<typeof createAppFixture>;
/** What each machine says: its link prints the file, and whatever is appended to it. */
let script: (machine: string) => string;

beforeEach(() => {
  laptop = createAppFixture();
  script = (machine) => join(laptop.home, `${machine}.jsonl`);
});
afterEach(() => laptop.destroy());

const sayAll = `tail --pid=$$ -n +1 -s 0.05 -f "$0" & exec cat >"$0.received"`;
const now = () => ({ at: Date.now(), t: performance.now() });

const hello = (more: object = {}) => ({
  kind: "hello",
  protocol: 1,
  version: "0.1.0",
  machineId: "0123456789abcdef",
  now: now(),
  agents: ["claude"],
  hasChannels: false,
  ...more,
});

const createHostileSession = (sessionId: string, more: object = {}): Session => {
  const { at, t } = now();
  const session = createSession({ at, t, agent: "claude", sessionId } as Parameters<typeof createSession>[0]);
  return { ...session, newest: t, cwd: "/src/shop", firstCwd: "/src/shop", ...more };
};

const createAsk = (id: string, more: object = {}) => ({
  ...now(),
  id,
  kind: "permission",
  agentId: null,
  tool: "Bash",
  toolUseId: null,
  promptId: null,
  inputKey: null,
  summary: "npm test",
  options: [],
  request: "request",
  from: "hook",
  hidden: false,
  ...more,
});

const details = {
  kind: "permission",
  tool: "Bash",
  heading: "Run a command",
  lines: ["npm test"],
  isWhole: true,
  dangers: [],
  always: [],
  questions: [],
};
const answerable = (id: string) => ({
  id,
  answerId: "theirs",
  details,
  masked: { details, hasSecret: false },
});

const say = (machine: string, ...messages: object[]): void =>
  appendFileSync(script(machine), messages.map((message) => `${JSON.stringify(message)}\n`).join(""));

const describeSession = (session: object, ...asks: object[]) => ({
  kind: "session",
  seq: 1,
  described: { session, answerable: asks },
});

function setMachines(machines: Record<string, readonly string[]>): void {
  mkdirSync(dirname(laptop.paths.config), { recursive: true });
  const settings = Object.entries(machines).map(([name, command]) => [name, { command }]);
  writeFileSync(laptop.paths.config, JSON.stringify({ machines: Object.fromEntries(settings) }));
}

const greet = (machine: string): void =>
  say(machine, hello({ machineId: machine }), { kind: "sessions", seq: 0, sessions: [] });

/** Links these machines, each of which says hello. */
async function link(...names: string[]): Promise<void> {
  for (const name of names) greet(name);
  setMachines(Object.fromEntries(names.map((name) => [name, ["sh", "-c", sayAll, script(name)]])));
  await laptop.start();
  await waitUntil(async () => (await reports()).every(({ state }) => state === "linked"), soonMs);
}

interface Report {
  readonly name: string;
  readonly state: string;
  readonly problem: string | null;
  readonly version: string | null;
  readonly since: number | null;
  readonly sessions: number;
}
const reports = async (): Promise<Report[]> =>
  ((await (await laptop.request("/api/machines")).json()) as { machines: Report[] }).machines;

const findSession = async (key: string) =>
  (await laptop.fetchSessions()).find(
    ({ machine, provider, sessionId }) => key === `${machine ?? ""}/${provider}:${sessionId}`,
  );
const isListed = (key: string) => async () => (await findSession(key)) !== undefined;

/** What this machine says of an edit, once it has found out who else changed the file. */
async function askGuard(session_id: string, cwd: string, file_path: string): Promise<HookOutput> {
  const response = await laptop.request("/api/guard", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ session_id, cwd, hook_event_name: "PreToolUse" },
      ...{ tool_name: "Edit", tool_input: { file_path } },
    }),
  });
  return (await response.json()) as HookOutput;
}

async function runBeckon(...args: string[]): Promise<string> {
  const { out, err } = await laptop.runBeckon(args, { NO_COLOR: "1" });
  return out + err;
}

/** Everything that a terminal, a menu or a line of a log would not show as text. Line breaks and tabs end and align rows. */
const unsafe = /(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;
const evil = "\u001b[2J\u001b]0;owned\u0007x\u202egnp\u2066\u0000\r\n\u2028\u0085<b onclick=x>&amp;`$(id)`";

/** Every text of the session becomes the evil one, except for words from a list. */
function poison(value: unknown, name = ""): unknown {
  const words = ["kind", "from", "status", "approvals", "agent", "sessionId", "id", "phase", "machine"];
  if (typeof value === "string") return words.includes(name) ? value : evil;
  if (Array.isArray(value)) return value.map((item) => poison(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, poison(inner, field)]));
}

describe("what a machine says of its sessions", () => {
  test("is text, on every front and in every file", async () => {
    await link("devbox");
    const child = {
      ...now(),
      agentId: "a",
      type: "t",
      name: "n",
      running: true,
      detail: "d",
      startedAt: Date.now(),
    };
    const full = {
      ...createHostileSession("s"),
      ...Object.fromEntries(
        [
          "detail",
          "promptId",
          "cwd",
          "firstCwd",
          "project",
          "gitBranch",
          "title",
          "model",
          "permissionMode",
        ].map((field) => [field, "text"]),
      ),
      startSource: "text",
      currentSkill: "text",
      lastPrompt: "text",
      lastResponse: "text",
      attach: "text",
      transcriptPath: "text",
      turn: { ...now(), running: true, byHook: true, error: "text" },
      asks: [createAsk("ask")],
      children: [{ ...child, model: "m", usage: null, context: null, transcriptPath: "/etc/passwd" }],
      tasks: [{ id: "1", status: "pending", subject: "text" }],
      place: {
        local: true,
        pid: process.pid,
        procStart: "text",
        tty: "text",
        terminalSessionId: "text",
        env: { TERM_PROGRAM: "text", TMUX: "text", [evil]: "text" },
      },
      port: { id: "p", title: "text", project: "text", since: Date.now() },
      untracked: { ...now(), tool: "text", path: "text", isBlocked: true },
    };
    const asked = {
      ...answerable("ask"),
      details: poison(details),
      masked: { details: poison(details), hasSecret: false },
    };
    say("devbox", describeSession(poison(full) as object, asked));
    await waitUntil(isListed("devbox/claude:s"), soonMs);
    const list = JSON.stringify(await laptop.fetchSessions());
    // As a program sees it that parses the JSON: an escape would be a character there.
    expect(list.replaceAll(/\\[nt]/g, "")).not.toMatch(/\\u00|\\[bfr]/);
    expect(list).not.toMatch(unsafe);
    say(
      "devbox",
      describeSession({ ...(poison(full) as object), asks: [] }),
      { kind: "ask-ended", seq: 2, agent: "claude", sessionId: "s", ask: "ask", how: evil, where: evil },
      { kind: evil },
      hello({ version: evil, agents: [evil] }),
    );
    await waitUntil(() => laptop.read(laptop.paths.answerLog).includes("gnp"), soonMs);
    const outputs = {
      status: await runBeckon("status"),
      full: await runBeckon("status", "--json"),
      machines: await runBeckon("machine", "list"),
      log: await runBeckon("log"),
      history: await runBeckon("history"),
      answers: laptop.read(laptop.paths.answerLog),
      file: laptop.read(laptop.paths.log),
    };
    for (const [name, text] of Object.entries(outputs))
      expect(`${name}: ${unsafe.exec(text)}`).toBe(`${name}: null`);
    for (const name of ["answers", "full"] as const) expect(outputs[name]).not.toMatch(/\\u(?:00|20)/);
    expect(outputs.status).toContain("on devbox");
  });

  test("does not make it one of this machine or of another one, or touch theirs", async () => {
    await link("devbox", "other");
    await laptop.postHook(createPromptEvent("s", { prompt: "mine" }));
    say("other", describeSession(createHostileSession("s", { lastPrompt: "theirs" })));
    await waitUntil(isListed("other/claude:s"), soonMs);
    say(
      "devbox",
      describeSession({ ...createHostileSession("s", { lastPrompt: "lie" }), machine: null }),
      describeSession({ ...createHostileSession("s", { lastPrompt: "lie" }), machine: "other" }),
      { kind: "gone", seq: 3, agent: "claude", sessionId: "s" },
      { kind: "gone", seq: 4, agent: "other/claude", sessionId: "s" },
      { kind: "gone", seq: 4, agent: "/claude", sessionId: "s" },
      describeSession(createHostileSession("other/claude:s")),
      describeSession(createHostileSession("end")),
    );
    await waitUntil(isListed("devbox/claude:end"), soonMs);
    expect(await findSession("devbox/claude:s")).toBeUndefined();
    expect(await findSession("/claude:s")).toMatchObject({ machine: null, lastPrompt: "mine" });
    expect(await findSession("other/claude:s")).toMatchObject({ machine: "other", lastPrompt: "theirs" });
  });

  test("opens no file, judges no process and runs no command of this machine", async () => {
    await link("devbox");
    const secret = laptop.appendTranscript("secret", {
      type: "user",
      message: { role: "user", content: "the secret" },
    });
    const place = { local: true, pid: 1, procStart: "0", tty: "/dev/pts/0", terminalSessionId: null };
    const env = {
      TMUX: "/tmp/tmux-0/default,1,0",
      TMUX_PANE: "%0",
      KITTY_LISTEN_ON: "unix:/tmp/kitty",
      WINDOWID: "1",
    };
    const session = createHostileSession("s", {
      transcriptPath: secret,
      attach: "touch owned",
      cwd: laptop.home,
      place: { ...place, env },
      turn: { ...now(), running: true, byHook: true, error: null },
    });
    say("devbox", describeSession(session));
    await waitUntil(isListed("devbox/claude:s"), soonMs);
    const key = encodeURIComponent("devbox/claude:s");
    const page = await (await laptop.request(`/api/transcript?session=${key}&at=${Date.now()}`)).text();
    expect(page).not.toContain("the secret");
    const opened = await laptop.post({}, `/api/sessions/${key}/transcript`);
    expect(await opened.text()).toContain("this machine has no transcript of the session");
    const focusing = laptop.post({}, `/api/sessions/${key}/focus`);
    await waitUntil(() => laptop.read(`${script("devbox")}.received`).includes('"focus"'), soonMs);
    const logins = ["127.0.0.1 9 127.0.0.1 22"];
    say("devbox", { kind: "reply", to: "1", outcome: { ok: true, says: "selected", logins } });
    const outcome = await (await focusing).text();
    expect(outcome).toContain("was not made from this one");
    // Neither tmux nor a window was asked.
    expect(JSON.parse(outcome)).toMatchObject({ result: "impossible", by: "" });
    // The process 1 with that start time does not exist here, but this machine does not judge it.
    expect(await findSession("devbox/claude:s")).toMatchObject({
      activityPhase: expect.not.stringMatching("ended"),
    });
  });

  test("shows its files beside this machine's, and never has an edit here asked about or refused", async () => {
    const address = "git@example.com:acme/shop.git";
    const repository = createRepository(Date.now() - 60_000, { "b.ts": "b\n" });
    repository.git("remote", "add", "origin", address);
    const commit = repository.git("rev-parse", "HEAD");
    const files = ["a.ts", "b.ts"];
    await link("devbox");
    for (const name of files) {
      repository.write(name, "own\n");
      await laptop.postHook({
        ...{ session_id: "own", hook_event_name: "PostToolUse", cwd: repository.folder, tool_name: "Edit" },
        ...{ tool_use_id: name, tool_input: { file_path: repository.path(name) } },
      });
    }
    // It knows everything: the hashes, the paths here, and the ids of the sessions.
    const lies = (sessionId: string) =>
      createHostileSession(sessionId, {
        machine: null,
        place: { local: true, pid: 1, procStart: "0", tty: null, terminalSessionId: null, env: {} },
        cwd: repository.folder,
        firstCwd: repository.folder,
        edits: files.map((name) => ({ ...now(), path: repository.path(name) })),
        sharedFiles: files.map((name) => ({
          ...{ ...now(), path: repository.path(name), machine: null },
          ...{ agent: "claude", sessionId: "own", project: "shop" },
        })),
        repositoryFiles: files.flatMap((path) =>
          ["", "../../", `${repository.folder}/`].map((before) => ({
            ...{ ...now(), repository: hashAddress(address), commit, path: `${before}${path}` },
          })),
        ),
      });
    for (let n = 0; n < 200; n++) say("devbox", describeSession(lies(n === 0 ? "own" : `s${n}`)));
    const sharedOf = async (key: string) => (await findSession(key))?.sharedFiles ?? [];
    await waitUntil(async () => (await sharedOf("/claude:own")).length > 0, soonMs);
    const shared = await sharedOf("/claude:own");
    expect(new Set(shared.map(({ machine, path }) => `${machine} ${path}`))).toEqual(
      new Set(["devbox a.ts", "devbox b.ts"]),
    );
    expect(shared.length).toBeLessThanOrEqual(limits.maxSharedFiles);

    for (const collisions of ["ask", "refuse"]) {
      const config = JSON.parse(readFileSync(laptop.paths.config, "utf8")) as object;
      writeFileSync(laptop.paths.config, JSON.stringify({ ...config, workGuard: { collisions } }));
      const askAbout = (session: string, name: string) =>
        askGuard(session, repository.folder, repository.path(name));
      // Of two sessions of this machine, it is asked about or refused.
      await waitUntil(async () => (await askAbout("second", "a.ts")).decision !== "approve", soonMs);
      for (const name of files) {
        const output = await askAbout("own", name);
        expect(output.decision).toBe("approve");
        expect(output.metadata.additional_context).toBeUndefined();
      }
    }
    repository.commit(Date.now());
    const committed = await askGuard("second", repository.folder, repository.path("a.ts"));
    expect(committed.decision).toBe("approve");
  });

  test("cannot have an ask answered that is this machine's or another one's", async () => {
    await link("devbox", "other");
    const id = "same-1";
    say("other", describeSession(createHostileSession("s", { asks: [createAsk(id)] }), answerable(id)));
    await waitUntil(isListed("other/claude:s"), soonMs);
    const request = "other\nrequest";
    say(
      "devbox",
      describeSession(createHostileSession("s", { asks: [createAsk(id, { request })] }), answerable(id)),
    );
    await waitUntil(isListed("devbox/claude:s"), soonMs);
    const [theirs, lie] = [await findSession("other/claude:s"), await findSession("devbox/claude:s")];
    expect(lie?.asks[0]?.answerId).not.toBe(theirs?.asks[0]?.answerId);
    const answered = laptop.post(
      { by: "command line", do: "deny", ask: lie?.asks[0]?.answerId },
      "/api/sessions/devbox%2Fclaude%3As/answer",
    );
    await waitUntil(() => laptop.read(`${script("devbox")}.received`).includes('"answer"'), soonMs);
    expect(laptop.read(`${script("other")}.received`)).not.toContain('"answer"');
    // Neither can another machine say how it went.
    const reply = { kind: "reply", to: "1", outcome: { ok: true, says: "allowed" } };
    say("other", reply, describeSession(createHostileSession("end")));
    await waitUntil(isListed("other/claude:end"), soonMs);
    say("devbox", { kind: "reply", to: "1", outcome: { ok: false, status: 403, says: `no${evil}` } });
    const response = await answered;
    expect(response.status).toBe(403);
    expect(((await response.json()) as { error: string }).error).not.toMatch(unsafe);
  });

  test("has names of things that every object has", async () => {
    await link("devbox");
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    for (const name of names) {
      const raw = JSON.stringify(
        describeSession(createHostileSession(name, { model: name, permissionMode: name })),
      );
      appendFileSync(script("devbox"), `${raw.replace('"env":{}', `"env":{"${name}":"x"}`)}\n`);
    }
    const odd = { ...createHostileSession("odd"), agent: "constructor", currentSkill: "__proto__" };
    appendFileSync(
      script("devbox"),
      `{"kind":"session","seq":1,"__proto__":{"x":1},"described":${JSON.stringify(
        describeSession(odd, answerable("__proto__")).described,
      ).replace("{", '{"__proto__":{"isAdmin":true},')}}\n{"kind":"__proto__"}\n{"kind":"constructor"}\n`,
    );
    await waitUntil(async () => (await laptop.fetchSessions()).length === names.length + 1, soonMs);
    expect(await runBeckon("status")).toContain("on devbox");
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

describe("a machine that", () => {
  test("says hello again changes nothing", async () => {
    await link("devbox");
    const [before] = await reports();
    say(
      "devbox",
      hello({ version: "9.9.9", now: { at: 0, t: 0 } }),
      describeSession(createHostileSession("s")),
    );
    await waitUntil(isListed("devbox/claude:s"), soonMs);
    expect(await reports()).toMatchObject([{ version: "0.1.0", since: before?.since }]);
  });

  test("fills the memory is stopped at its own share, and the app goes on", async () => {
    await link("devbox");
    const lines = Array.from({ length: 12_000 }, () => "x".repeat(100));
    const asked = {
      ...answerable("ask"),
      details: { ...details, lines },
      masked: { details: null, hasSecret: false },
    };
    // 1.5 MB each.
    for (let n = 0; n < 50; n++)
      say("devbox", describeSession(createHostileSession(`s${n}`, { asks: [createAsk("ask")] }), asked));
    say("devbox", describeSession(createHostileSession("end")));
    const wasRead = () => laptop.read(laptop.paths.log).includes("devbox has described more than");
    await waitUntil(wasRead, 60_000);
    expect((await laptop.fetchSessions()).length).toBeLessThan(40);
    await laptop.postHook(createPromptEvent("mine"));
    expect(await findSession("/claude:mine")).toBeDefined();
  }, 90_000);

  test.each([
    ["a line without an end", "cat $0; yes x | tr -d '\\n'"],
    ["a million wrong lines", 'cat $0; yes \'{"kind":"gone"}\''],
    ["deep nesting", "cat $0; while :; do head -c 1000000 /dev/zero | tr '\\0' '['; echo; done"],
    [
      "deep nesting in a message",
      `cat $0; while :; do printf '{"kind":"sessions","seq":'; head -c 1000000 /dev/zero | tr '\\0' '['; echo; done`,
    ],
    ["errors", "cat $0; yes oops >&2"],
  ])(
    "sends %s neither fills the log nor keeps the app from answering",
    async (_, command) => {
      greet("devbox");
      setMachines({ devbox: ["sh", "-c", command, script("devbox")] });
      const app = await laptop.startProcess();
      await waitUntil(async () => (await reports())[0]?.state === "linked", soonMs);
      const usedMs = () => {
        const fields = readFileSync(`/proc/${app.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
        return 10 * (Number(fields[11]) + Number(fields[12]));
      };
      const [cpu, started] = [usedMs(), performance.now()];
      let slowest = 0;
      for (let n = 0; n < 20; n++) {
        const asked = performance.now();
        await laptop.postHook(createPromptEvent(`s${n}`));
        slowest = Math.max(slowest, performance.now() - asked);
        await letTimePass(100, "the flood goes on meanwhile");
      }
      const share = (usedMs() - cpu) / (performance.now() - started);
      expect(slowest).toBeLessThan(5_000);
      expect(share).toBeLessThan(0.6);
      expect(laptop.read(laptop.paths.log).length).toBeLessThan(20_000);
    },
    30_000,
  );

  test("never says hello is given up, whatever else it says", async () => {
    // No message opens the link but the first.
    say("devbox", describeSession(createHostileSession("early")), { kind: "alive" });
    setMachines({ devbox: ["sh", "-c", sayAll, script("devbox")] });
    await laptop.start();
    await waitUntil(() => existsSync(`${script("devbox")}.received`), soonMs);
    say("devbox", hello(), describeSession(createHostileSession("s")));
    await waitUntil(isListed("devbox/claude:s"), soonMs);
    expect(await findSession("devbox/claude:early")).toBeUndefined();
  });

  test("says anything but hello is given up in time", async () => {
    const command = `while :; do echo '{"kind":"alive"}'; sleep 0.02; done`;
    const { promise, resolve } = Promise.withResolvers<string>();
    const connection = createLink({
      machine: "devbox",
      ownName: "laptop",
      argv: ["sh", "-c", command],
      onOpened() {},
      onMessage() {},
      onLost() {},
      onProblem() {},
      onFailure: resolve,
      // A second of a link takes 10 ms here.
      schedule: (run, ms) => schedule(run, ms / 100),
    });
    expect(await promise).toBe("it does not answer");
    await connection.stop();
  });

  test("leaves a process behind that holds its output does not keep the link or the app", async () => {
    say("devbox", hello());
    setMachines({ devbox: ["sh", "-c", 'cat "$0"; sleep 30 & exit 7', script("devbox")] });
    const app = await laptop.startProcess();
    await waitUntil(async () => (await reports())[0]?.problem != null, soonMs);
    expect(await reports()).toMatchObject([{ problem: "the link has ended (exit code 7)" }]);
    app.kill("SIGTERM");
    const ms = await waitUntil(() => app.exitCode !== null || app.signalCode !== null, soonMs);
    expect(ms).toBeLessThan(5_000);
  });

  test("does not end when it is asked to does not keep the app", async () => {
    greet("devbox");
    setMachines({
      devbox: ["sh", "-c", "trap '' TERM; cat $0; while :; do sleep 1; done", script("devbox")],
    });
    const app = await laptop.startProcess();
    await waitUntil(async () => (await reports())[0]?.state === "linked", soonMs);
    app.kill("SIGTERM");
    const ms = await waitUntil(() => app.exitCode !== null || app.signalCode !== null, soonMs);
    expect(ms).toBeLessThan(5_000);
  });
});

describe("a follower", () => {
  const tell = (message: object, headers: Record<string, string> = {}) =>
    laptop.request("/api/link/follower/message", { method: "POST", body: JSON.stringify(message), headers });

  test("is text in the log of the machine whose requests it answers", async () => {
    await laptop.start();
    const ended = new AbortController();
    const stream = await laptop.request("/api/link/follower", { signal: ended.signal });
    expect(stream.status).toBe(200);
    // A response that nobody reads is closed.
    void stream.text().catch(() => {});
    await tell({ kind: "hello", protocol: 1, version: "0.1.0", name: `laptop${evil}` });
    const held = Bun.spawn([process.execPath, mainSource, "hook", "claude"], {
      env: laptop.env,
      stdin: new Blob([JSON.stringify(createAskEvent("s"))]),
      stdout: "pipe",
    });
    const findAsk = async () => (await laptop.fetchSession("s"))?.asks.find((open) => open.answerable);
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const step = { front: "page", by: evil, isWholeShown: true, shownMs: 5_000, isConfirmed: false };
    const about = { agent: "claude", sessionId: "s", answerId: (await findAsk())?.answerId };
    await tell({ kind: "answer", id: "1", ...about, answer: { do: "allow" }, step });
    expect(await held.stdout.text()).toContain('"behavior":"allow"');
    await waitUntil(() => laptop.read(laptop.paths.answerLog).includes("on laptop"), soonMs);
    expect(laptop.read(laptop.paths.answerLog)).not.toMatch(/\\u(?:00|20)|[\u202a-\u202e]/);
    ended.abort();
  });

  test("needs the token and an id that is open (test/api/attacks.ts tries the rest)", async () => {
    await laptop.start();
    const none = { authorization: "" };
    expect((await laptop.request("/api/link/x", { headers: none })).status).toBe(401);
    expect((await tell({ kind: "everything" }, none)).status).toBe(401);
    expect(await (await tell({ kind: "everything" })).json()).toEqual({ error: "no link is open" });
  });
});
