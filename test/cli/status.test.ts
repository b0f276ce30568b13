/** `beckon status`, run as a command. */
import { describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const status = (args: string[] = [], env?: Record<string, string>) =>
  fixture.runBeckon(["status", ...args], env);

/** Runs on a terminal. `screen` returns everything that was written to it. */
function onTerminal(args: string[], env: Record<string, string> = {}, cols = 100, rows = 24) {
  const drawn: string[] = [];
  const child = Bun.spawn([process.execPath, mainSource, "status", ...args], {
    env: { ...fixture.env, TERM: "xterm-256color", ...env },
    terminal: { cols, rows, data: (_, bytes) => void drawn.push(Buffer.from(bytes).toString("latin1")) },
  });
  // A character may come in two pieces.
  return { child, screen: () => Buffer.from(drawn.join(""), "latin1").toString() };
}

describe("while beckon runs", () => {
  test("shows which session needs you, since when and where", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("works-1"), { at: Date.now() - 30_000 });
    const seen = {
      at: Date.now() - 125_000,
      tty: "/dev/pts/7",
      env: { TMUX_PANE: "%3" },
      workspace_id: "shop",
    };
    await fixture.postHook(createAskEvent("asks-1"), seen);
    const { out, err, code } = await status();
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out.split("\n")).toEqual([
      "● 1 needs you   ◐ 1 working",
      "",
      "● shop   2m  Permission for Bash: touch x  tmux %3 · pts/7  asks-1",
      "◐ proj  30s  Thinking                                       works-1",
      "",
    ]);
  });

  test("shows muted sessions as set aside, quiet modes and mistakes in the settings", async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toTimeString().slice(0, 5);
    const hours = { from: inHours(-2), to: inHours(2) };
    mkdirSync(fixture.paths.state, { recursive: true });
    writeFileSync(fixture.paths.config, JSON.stringify({ quietHours: hours, alerts: { sond: true } }));
    await fixture.start();
    expect((await status()).out).toContain("Claude Code's hooks are not registered");
    await fixture.postHook(createAskEvent("asks-1"));
    await fixture.post({}, "/api/sessions/asks-1/mute");
    const { out } = await status();
    expect(out).toContain("nothing needs you   ◌ 1 set aside");
    expect(out).toContain("(muted) Permission for Bash: touch x");
    expect(out).toContain(`${hours.to} (quiet hours): beckon shows no alerts.`);
    expect(out).toContain("config.json: alerts.sond");
    expect(out).not.toContain("hooks are not registered");
  });

  test.each([
    ["settings.json", { enabledPlugins: { "beckon@beckon": true } }, { enabledPlugins: {} }],
    [
      "plugins/installed_plugins.json",
      { plugins: { "beckon@beckon": [{ scope: "user" }] } },
      { plugins: {} },
    ],
  ])("with the plugin, by %s, it does not ask to register hooks", async (name, on, off) => {
    const file = join(fixture.claudeFolder, name);
    mkdirSync(dirname(file), { recursive: true });
    await fixture.start();
    const says = "hooks are not registered";
    expect((await status()).out).toContain(says);
    writeFileSync(file, JSON.stringify(on));
    expect((await status()).out).not.toContain(says);
    writeFileSync(file, JSON.stringify(off));
    expect((await status()).out).toContain(says);
  });

  test("after Esc shows the interrupted prompt, not an older response", async () => {
    await fixture.start();
    const { pid } = fixture.startAgent();
    const is = (status: string) => fixture.writeStatus(pid, { sessionId: "s-1", status });
    await fixture.postHook(createPromptEvent("s-1"));
    is("busy");
    await fixture.postHook({
      ...createPromptEvent("s-1"),
      hook_event_name: "Stop",
      last_assistant_message: "FINAL: 254",
    });
    is("idle");
    await waitUntil(async () => (await status()).out.includes("FINAL: 254"), 5_000);
    await fixture.postHook(createPromptEvent("s-1", { prompt: "Now deploy it" }));
    is("busy");
    await waitUntil(async () => (await status()).out.includes("1 working"), 5_000);
    is("idle");
    await waitUntil(async () => (await status()).out.includes("interrupted: Now deploy it"), 5_000);
    expect((await status()).out).not.toContain("FINAL");
    const [session] = JSON.parse((await status(["--json"])).out).sessions;
    expect(session).toMatchObject({ interrupted: true, lastResponse: "FINAL: 254" });
  });

  test("--json prints the response of GET /api/sessions", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("a"));
    await fixture.postHook(createAskEvent("b"));
    const { out, err } = await status(["--json"]);
    expect(err).toBe("");
    expect(JSON.parse(out)).toEqual(await (await fixture.request("/api/sessions")).json());
    expect(out).toEndWith("}\n");
  });

  test("control characters of an event do not reach the terminal", async () => {
    await fixture.start();
    const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31mred\r\nnext\u202e";
    const said = { prompt: evil, cwd: `/tmp/${evil}`, transcript_path: evil };
    await fixture.postHook(createPromptEvent("evil", said), {
      tty: evil,
      env: { TERM_PROGRAM: evil },
      workspace_id: evil,
    });
    await fixture.postHook({ ...createAskEvent("evil"), tool_name: evil, tool_input: { command: evil } });
    await fixture.postHook({
      ...createPromptEvent("done", { cwd: "/x" }),
      hook_event_name: "Stop",
      last_assistant_message: evil,
    });
    const { out } = await status();
    expect(out).toContain("red");
    expect(out).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u);
    const { child, screen } = onTerminal([], { NO_COLOR: "1" });
    await child.exited;
    expect(screen()).toContain("red");
    expect(screen().replaceAll("\r\n", "\n")).not.toMatch(/[^\P{Cc}\n]/u);
  });

  test("twenty sessions fit into 60, 80 and 200 columns", async () => {
    await fixture.start();
    for (let n = 0; n < 20; n++) {
      await fixture.postHook({
        ...createAskEvent(`s-${n}`),
        tool_input: { command: `echo ${"long ".repeat(n * 4)}` },
      });
    }
    for (const columns of [60, 80, 200]) {
      const { out } = await status([], { COLUMNS: String(columns) });
      expect(out).toStartWith("● 20 need you\n");
      expect(Math.max(...out.split("\n").map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(columns);
    }
  });

  test("uses colours on a terminal, but not in a pipe or with NO_COLOR", async () => {
    await fixture.start();
    await fixture.postHook(createAskEvent("a"));
    const drawn = async (env: Record<string, string>) => {
      const { child, screen } = onTerminal([], env);
      await child.exited;
      return screen();
    };
    expect(await drawn({})).toContain("\u001b[1m\u001b[38;5;130m●\u001b[0m \u001b[1m1 needs you");
    expect(await drawn({ NO_COLOR: "1" })).not.toContain("\u001b");
    expect((await status()).out).not.toContain("\u001b");
  });

  test("a reader that leaves early causes no error", async () => {
    await fixture.start();
    await fixture.postHook(createAskEvent("a"));
    const command = `"${process.execPath}" "${mainSource}" status | head -n 0`;
    const child = fixture.spawn(["sh", "-c", command]);
    expect(await child.stderr.text()).toBe("");
  });
});

describe("while beckon does not run", () => {
  const says = "beckon is not running. Start it with: beckon start";

  test("says so if it knows no session", async () => {
    expect(await status()).toEqual({
      out: `${says}\n`,
      err: "",
      code: 0,
    });
    expect(await status(["--json"])).toEqual({
      out: '{"sessions":[],"running":false}\n',
      err: `${says}\n`,
      code: 0,
    });
  });

  test("says so, and shows the last known sessions", async () => {
    const app = await fixture.start();
    await fixture.postHook(createAskEvent("asks-1"));
    const known = await fixture.fetchSessions();
    await app.stop();
    const { out } = await status();
    expect(out).toStartWith(`${says}\nThis is what it knew 0s ago:\n\n● 1 needs you\n\n● proj`);
    expect(JSON.parse((await status(["--json"])).out)).toEqual({ sessions: known, running: false });
  });

  test("shows muted and snoozed sessions, and projects muted in the settings", async () => {
    mkdirSync(fixture.paths.state, { recursive: true });
    writeFileSync(fixture.paths.config, JSON.stringify({ mutedProjects: ["quiet-project"] }));
    const app = await fixture.start();
    await fixture.postHook(createAskEvent("muted-1"));
    await fixture.postHook(createAskEvent("snoozed-1"));
    await fixture.postHook(createAskEvent("project-1"), { workspace_id: "quiet-project" });
    await fixture.postHook(createAskEvent("waiting-1"));
    await fixture.post({}, "/api/sessions/muted-1/mute");
    await fixture.post({ minutes: 90 }, "/api/sessions/snoozed-1/snooze");
    const known = await fixture.fetchSessions();
    await app.stop();
    const { out } = await status();
    expect(out).toContain("● 1 needs you   ◌ 3 set aside");
    expect(out).toMatch(/\(snoozed until .*\d\d:\d\d\) Permission for Bash.* snoozed-/);
    expect(out).toMatch(/\(muted\) Permission for Bash.* muted-1/);
    expect(out).toMatch(/\(muted\) Permission for Bash.* project-/);
    expect(JSON.parse((await status(["--json"])).out)).toEqual({ sessions: known, running: false });
  });

  test("a live session that has been idle for eight hours is ready", async () => {
    const nineHoursAgo = Date.now() - 9 * 3_600_000;
    const app = await fixture.start();
    const { pid } = fixture.startAgent();
    fixture.writeStatus(pid, { sessionId: "idle-1", status: "idle", statusUpdatedAt: nineHoursAgo });
    await waitUntil(async () => (await fixture.fetchSessions()).length === 1, 5_000);
    const [session] = await fixture.fetchSessions();
    expect(session).toMatchObject({ state: "stale", group: "ready" });
    expect((await status()).out).toStartWith("nothing needs you   ○ 1 ready");
    await app.stop();
    expect((await status()).out).toContain("nothing needs you   ○ 1 ready");
  });

  test("is not misled by the endpoint of a killed beckon", async () => {
    const app = await fixture.startProcess();
    app.kill("SIGKILL");
    await app.exited;
    expect((await status()).out).toStartWith(says);
    // The pid belongs to another process now, and nothing listens.
    const endpoint = JSON.parse(readFileSync(fixture.paths.endpoint, "utf8"));
    writeFileSync(fixture.paths.endpoint, JSON.stringify({ ...endpoint, pid: process.pid }));
    expect((await status()).out).toStartWith(says);
  });

  test("says what is wrong if another program answers", async () => {
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("no", { status: 418 }),
    });
    mkdirSync(fixture.paths.state, { recursive: true });
    const url = `http://127.0.0.1:${other.port}`;
    writeFileSync(fixture.paths.endpoint, JSON.stringify({ url, pid: process.pid }));
    writeFileSync(fixture.paths.authHeader, "Authorization: Bearer x\n");
    const { out } = await status([], { COLUMNS: "200" });
    expect(out).toStartWith(
      `beckon (pid ${process.pid}) does not answer: ${url} returned 418. Its log: ~/state/beckon.log\n`,
    );
    await other.stop(true);
  });

  test("names a damaged snapshot, and does not change it", async () => {
    mkdirSync(fixture.paths.state, { recursive: true });
    writeFileSync(fixture.paths.snapshot, "{");
    const { out, code } = await status();
    expect(code).toBe(0);
    expect(out).toStartWith(`${says}\nsnapshot.json is damaged`);
    expect(fixture.read(fixture.paths.snapshot)).toBe("{");
  });
});

describe("hook errors", () => {
  const line = (msAgo: number, what: string) =>
    [new Date(Date.now() - msAgo).toISOString(), "PreToolUse", "s-1", what].join("\t");

  test("are counted, with the latest one and the path of the log", async () => {
    await fixture.start();
    const day = 24 * 60 * 60_000;
    const lines = [
      line(2 * day, "long ago"),
      "garbage",
      line(5_000_000, "first"),
      line(65_000, "no answer within 1000 ms\u009b2J"),
    ];
    writeFileSync(fixture.paths.hookLog, `${lines.join("\n")}\n`);
    const { out } = await status([], { COLUMNS: "200" });
    expect(out.split("\n").slice(-4)).toEqual([
      "",
      "2 hook errors in the last 24 h. The latest, 1m ago (PreToolUse): no answer within 1000 ms",
      "All of them: ~/state/hook.log. To test the hooks, run: beckon doctor",
      "",
    ]);
  });

  test("are not shown after a day", async () => {
    await fixture.start();
    writeFileSync(fixture.paths.hookLog, `${line(25 * 60 * 60_000, "long ago")}\n`);
    expect((await status()).out).not.toContain("hook error");
  });

  test("are not shown after an hour, once an event has come through", async () => {
    await fixture.start();
    writeFileSync(fixture.paths.hookLog, `${line(2 * 60 * 60_000, "no answer")}\n`);
    expect((await status()).out).toContain("1 hook error in the last 24 h. The latest, 2h 00m ago");
    await fixture.postHook(createPromptEvent("s-1"));
    expect((await status()).out).not.toContain("hook error");
    appendFileSync(fixture.paths.hookLog, `${line(30 * 60_000, "no answer again")}\n`);
    expect((await status()).out).toContain("The latest, 30m ago (PreToolUse): no answer again");
  });
});

describe("--watch", () => {
  test("--json prints a line for every change only", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("a"));
    const child = fixture.spawnBeckon(["status", "--watch", "--json"]);
    const lines: string[] = [];
    (async () => {
      for await (const bytes of child.stdout) lines.push(...Buffer.from(bytes).toString().trim().split("\n"));
    })();
    await waitUntil(() => lines.length === 1, 3_000);
    await fixture.postHook(createAskEvent("a"));
    await waitUntil(() => lines.length === 2, 3_000);
    expect(lines.map((text) => JSON.parse(text).sessions[0].activityPhase)).toEqual([
      "busy",
      "waiting_permission",
    ]);
  });
});
