/** What others script against: every answer exactly as promised. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createHookRoute } from "../../src/api/server.ts";
import type { IngestResult } from "../../src/core/interfaces/index.ts";
import { limits } from "../../src/core/limits.ts";
import { type AppFixture, createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { letTimePass } from "../wait-until.ts";

let fixture: AppFixture;
beforeAll(async () => {
  fixture = createAppFixture();
  await fixture.start();
});
afterAll(() => fixture.destroy());

const answer = async (response: Response) => ({
  status: response.status,
  type: response.headers.get("content-type"),
  body: await response.text(),
});
const json = (status: number, body: string) => ({ status, type: "application/json", body });
const start = { session_id: "s-1", hook_event_name: "SessionStart", source: "startup" };

describe("/health", () => {
  test("returns ok without a token, and nothing else", async () => {
    const response = await fetch(`${fixture.readUrl()}/health`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toStartWith("text/plain");
    expect(await response.text()).toBe("ok");
  });
});

describe.each(["/api/hook", "/ingest"])("POST %s", (path) => {
  test("accepts a bare payload", async () => {
    expect(await answer(await fixture.post(start, path))).toEqual(json(200, '{"ok":true}'));
  });

  test.each([
    ["claude's by name", { ...start, provider: "claude" }],
    ["an envelope", { provider: "claude", _meta: { id: `e-${path}` }, payload: start }],
    ["an envelope without provider", { _meta: {}, payload: start }],
    [
      "_meta inside the payload",
      { ...start, _meta: { workspace_id: "w", collected_at: "2026-02-20T15:00:00Z" } },
    ],
    ["an unknown event", { session_id: "s-1", hook_event_name: "BrandNew", extra: [1] }],
    ["a provider of the wrong type, as if there were none", { ...start, provider: 7 }],
  ])("takes %s", async (_, body) => {
    expect(await answer(await fixture.post(body, path))).toEqual(json(200, '{"ok":true}'));
  });

  test.each(["{", "", "hello", '{"session_id":}', "\0", '"\\ud800'])("%j is invalid JSON", async (body) => {
    expect(await answer(await fixture.post(body, path))).toEqual(json(400, '{"error":"invalid JSON"}'));
  });

  test.each(["null", "[]", "7", '"text"', "true"])("%s is JSON but not an object", async (body) => {
    const refused = '{"error":"invalid JSON: the body is not an object"}';
    expect(await answer(await fixture.post(body, path))).toEqual(json(400, refused));
  });

  test.each(["nobody", "", "Claude", "__proto__", "constructor"])(
    "provider %j is unknown",
    async (provider) => {
      const body = { ...start, provider };
      expect(await answer(await fixture.post(body, path))).toEqual(json(400, '{"error":"unknown provider"}'));
    },
  );

  test.each([
    [{ hook_event_name: "Stop" }, "no session_id in the payload"],
    [{}, "no session_id in the payload"],
    [{ session_id: "s-1" }, "no hook_event_name in the payload"],
    [
      { session_id: "", hook_event_name: "Stop" },
      "session_id or hook_event_name is empty, too long or not a string",
    ],
    [
      { session_id: 7, hook_event_name: "Stop" },
      "session_id or hook_event_name is empty, too long or not a string",
    ],
    [{ _meta: {}, payload: { hook_event_name: "Stop" } }, "no session_id in the payload"],
  ])("%j is refused with a reason", async (body, error) => {
    expect(await answer(await fixture.post(body, path))).toEqual(json(400, JSON.stringify({ error })));
  });

  test("accepts JSON with a charset, and no other content type", async () => {
    const post = (type: string) =>
      fixture.request(path, {
        method: "POST",
        body: JSON.stringify(start),
        headers: { "content-type": type },
      });
    expect((await post("application/json; charset=utf-8")).status).toBe(200);
    expect((await post("application/json;charset=UTF-8")).status).toBe(200);
    expect((await post("text/plain")).status).toBe(415);
  });
});

test("the hook routes can be used in any Elysia server", async () => {
  const texts: string[] = [];
  const accept = async (text: string): Promise<IngestResult> => {
    texts.push(text);
    return { outcome: "accepted" };
  };
  const server = new Elysia().use(createHookRoute(accept)).get("/mine", () => "mine");
  const hook = new Request("http://localhost/api/hook", { method: "POST", body: "{}" });
  expect(await answer(await server.handle(hook))).toEqual(json(200, '{"ok":true}'));
  expect(await (await server.handle(new Request("http://localhost/mine"))).text()).toBe("mine");
  expect(texts).toEqual(["{}"]);
});

describe("a body without a length", () => {
  const pieces = (text: string[]) =>
    new ReadableStream({
      async start(stream) {
        for (const piece of text) {
          stream.enqueue(Buffer.from(piece));
          await letTimePass(1, "each piece leaves in a packet of its own");
        }
        stream.close();
      },
    });
  const post = async (text: string[]) =>
    answer(await fixture.request("/api/hook", { method: "POST", body: pieces(text) }));

  test("is accepted, even if characters are split between chunks", async () => {
    expect(
      await post(['{"session_id":"chunk', 'ed","hook_event_name":"UserPrompt', 'Submit","prompt":"größer"}']),
    ).toEqual(json(200, '{"ok":true}'));
    expect((await fixture.fetchSession("chunked"))?.lastPrompt).toBe("größer");
  });

  test("is limited while it is read", async () => {
    const piece = "x".repeat(limits.maxBodyBytes / 8);
    const tooLarge = json(413, `{"error":"body is larger than ${limits.maxBodyBytes} bytes"}`);
    expect(await post(['{"prompt":"', ...Array.from({ length: 9 }, () => piece), '"}'])).toEqual(tooLarge);
    expect(await answer(await fixture.post("x".repeat(limits.maxBodyBytes + 1)))).toEqual(tooLarge);
    const whole = { ...createPromptEvent("large"), prompt: "x".repeat(limits.maxBodyBytes - 1_000) };
    expect(await answer(await fixture.post(whole))).toEqual(json(200, '{"ok":true}'));
  });
});

describe("/ingest with the older fields", () => {
  const meta = { workspace_id: "my-project", terminal_session_id: "term_abc123", forwarder_version: "2.0.0" };
  const teammate = { agent_name: "worker-01", agent_type: "builder", team_name: "my-team" };
  const send = async (hook_type: string, fields: Record<string, unknown> = {}) =>
    (await fixture.post({ hook_type, session_id: "old-1", ...fields, _meta: meta }, "/ingest")).status;

  test("a teammate starts, works and stops; its terminal is kept", async () => {
    expect(await send("SubagentStart", { ...teammate, prompt: "build", parent_session_id: "p" })).toBe(200);
    expect(await fixture.fetchSession("old-1")).toMatchObject({
      project: "my-project",
      place: { terminalSessionId: "term_abc123" },
      children: [{ agentId: "my-team/worker-01", type: "builder", state: "running" }],
    });
    expect(await send("SubagentStop", { ...teammate, result: { ok: true } })).toBe(200);
    expect((await fixture.fetchSession("old-1"))?.children).toMatchObject([{ state: "ended" }]);
  });

  test("tools run and fail, notifications have a level, Stop a reason", async () => {
    expect(await send("PreToolUse", { tool_name: "Bash", tool_input: { command: "false" } })).toBe(200);
    expect((await fixture.fetchSession("old-1"))?.status).toEqual({ kind: "working", detail: "Bash" });
    expect(await send("PostToolUse", { tool_name: "Bash", tool_result: "", error: "exit 1" })).toBe(200);
    expect(await send("Notification", { message: "hm", level: "warn" })).toBe(200);
    expect((await fixture.fetchSession("old-1"))?.activityPhase).toBe("busy");
    expect(await send("Stop", { reason: "done", summary: "built" })).toBe(200);
    expect((await fixture.fetchSession("old-1"))?.activityPhase).toBe("interactable");
  });
});

describe("/api/sessions", () => {
  const fields =
    "provider sessionId state activityPhase evidence status asks children cwd project gitBranch title model tokens " +
    "costUsd context tasks permissionMode startSource endReason transcriptPath turnCount " +
    "lastPrompt lastResponse currentSkill place fingerprint startedAt lastEventAt";
  const askFields = "id kind agentId tool summary options openedAt answerable";

  test("finds a subagent by its id, with its session", async () => {
    await fixture.postHook({
      ...createPromptEvent("parent-1"),
      hook_event_name: "SubagentStart",
      agent_id: "agent-of-parent-1",
      agent_type: "Explore",
    });
    const response = await fixture.request("/api/sessions/agent-of-parent-1");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      child: { agentId: "agent-of-parent-1", parentSessionId: "parent-1", name: "Explore", state: "running" },
      parent: { sessionId: "parent-1", children: [{ agentId: "agent-of-parent-1" }] },
    });
    expect((await fixture.request("/api/sessions/agent-of-nobody")).status).toBe(404);
  });

  test("lists each session with every promised field", async () => {
    const seen = { pid: process.pid, procStart: "7", tty: "/dev/pts/3", env: { TERM_PROGRAM: "kitty" } };
    await fixture.postHook({ ...createPromptEvent("full-1"), transcript_path: "/nowhere.jsonl" }, seen);
    await fixture.postHook({
      ...createPromptEvent("full-1"),
      hook_event_name: "SubagentStart",
      agent_id: "a1",
      agent_type: "Explore",
    });
    await fixture.postHook(createAskEvent("full-1"));
    const response = await fixture.request("/api/sessions");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const body = (await response.json()) as { sessions: Record<string, unknown>[] };
    expect(Object.keys(body)).toEqual(["sessions"]);
    const session = body.sessions.find(({ sessionId }) => sessionId === "full-1");
    expect(Object.keys(session ?? {})).toEqual(expect.arrayContaining(fields.split(" ")));
    expect(session).toMatchObject({
      provider: "claude",
      state: "active",
      activityPhase: "waiting_permission",
      status: { kind: "attention", detail: "Permission for Bash" },
      asks: [{ kind: "permission", tool: "Bash", summary: "touch x", options: [], answerable: false }],
      children: [{ agentId: "a1", type: "Explore", state: "running", detail: null }],
      cwd: "/home/dev/proj",
      project: "proj",
      lastPrompt: "go",
      place: { pid: process.pid, tty: "/dev/pts/3", env: { TERM_PROGRAM: "kitty" } },
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    const [ask = {}] = (session?.asks ?? []) as object[];
    expect(Object.keys(ask).sort()).toEqual(askFields.split(" ").sort());
  });

  testWith("node")("a script with the token that uses Node's fetch is served", async () => {
    const script = `const [url, authorization] = process.argv.slice(1);
      fetch(url, { headers: { authorization } }).then(async (response) => console.log(response.status));`;
    const argv = ["node", "-e", script, `${fixture.readUrl()}/api/sessions`, fixture.readAuthorization()];
    const node = Bun.spawn(argv, { stdout: "pipe" });
    expect(await new Response(node.stdout).text()).toBe("200\n");
  });

  test("returns one session by id, unique prefix, or agent:id", async () => {
    await fixture.post(createPromptEvent("c0ffee-1"));
    await fixture.post(createPromptEvent("c0ffee-2"));
    await fixture.post(createPromptEvent("d00d-1"));
    const found = async (name: string) => {
      const response = await fixture.request(`/api/sessions/${name}`);
      return response.status === 200
        ? ((await response.json()) as { sessionId: string }).sessionId
        : response.status;
    };
    expect(await found("c0ffee-1")).toBe("c0ffee-1");
    expect(await found("d")).toBe("d00d-1");
    expect(await found("claude:d00d-1")).toBe("d00d-1");
    expect(await found("claude%3Ad00")).toBe("d00d-1");
    expect(await found("c0ffee")).toBe(404);
    expect(await found("codex:d00d-1")).toBe(404);
    expect(await found("%E0%A4%A")).toBe(404);
    expect(await answer(await fixture.request("/api/sessions/zz"))).toEqual(
      json(404, '{"error":"no session zz"}'),
    );
  });

  test("returns the only session of a project, and lists the candidates if there are several", async () => {
    const cwd = "/home/dev/my shop";
    await fixture.post({ ...createPromptEvent("p-1"), cwd });
    const only = await fixture.request("/api/sessions/my%20shop");
    expect(await only.json()).toMatchObject({ sessionId: "p-1", project: "my shop" });
    await fixture.post({ ...createPromptEvent("p-2"), cwd });
    const several = await fixture.request("/api/sessions/my%20shop");
    expect(several.status).toBe(404);
    const candidate = { provider: "claude", project: "my shop", title: null, group: "working" };
    expect(await several.json()).toMatchObject({
      error: "2 sessions match my shop",
      candidates: [
        { ...candidate, sessionId: "p-1" },
        { ...candidate, sessionId: "p-2" },
      ],
    });
  });

  test("refuses any other path and method", async () => {
    expect(await answer(await fixture.request("/api/nothing"))).toEqual(json(404, '{"error":"not found"}'));
    expect((await fixture.request("/api/hook")).status).toBe(405);
    expect((await fixture.post(start, "/api/sessions")).status).toBe(405);
    expect((await fetch(`${fixture.readUrl()}/api/sessions`)).status).toBe(401);
  });
});

describe("POST /api/sessions/:id/…", () => {
  const path = (name: string, action: string) => `/api/sessions/${name}/${action}`;
  beforeAll(() => fixture.post(createAskEvent("actions")));

  test("focus reports how far it got, and why", async () => {
    const response = await fixture.post({}, path("actions", "focus"));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      result: "impossible",
      by: "",
      why: expect.stringMatching(/^no hook of this session has reported where its terminal is\./),
      says: expect.stringMatching(/^beckon cannot take you there\. No hook /),
    });
  });

  test("--next skips sessions that are muted, snoozed or dismissed", async () => {
    const next = () => fixture.post({}, path("--next", "focus"));
    const others = (await fixture.fetchSessions()).filter(({ sessionId }) => sessionId !== "actions");
    for (const { sessionId } of others) await fixture.post({}, path(sessionId, "mute"));
    for (const [action, body, back] of [
      ["mute", {}, { on: false }],
      ["snooze", { minutes: 5 }, { minutes: 0 }],
      ["dismiss", "", null],
    ] as const) {
      expect((await next()).status).toBe(200);
      expect(await answer(await fixture.post(body, path("actions", action)))).toEqual(
        json(200, '{"ok":true}'),
      );
      expect((await next()).status).toBe(404);
      if (back) await fixture.post(back, path("actions", action));
    }
  });

  test.each(["{", "[]", "7"])("%s is not a valid body", async (body) => {
    expect(await answer(await fixture.post(body, path("actions", "snooze")))).toEqual(
      json(400, '{"error":"invalid JSON"}'),
    );
  });

  test.each([
    ["snooze", { minutes: "ten" }, "minutes must be a number; 0 ends the snooze"],
    ["mute", { on: "yes" }, "on must be true or false"],
  ])("%s with %j says what is wrong", async (action, body, error) => {
    expect(await answer(await fixture.post(body, path("actions", action)))).toEqual(
      json(400, JSON.stringify({ error })),
    );
  });

  test("an unknown session or action", async () => {
    expect((await fixture.post({}, path("nobody", "mute"))).status).toBe(404);
    expect((await fixture.post({}, path("actions", "fly"))).status).toBe(404);
  });
});

describe("POST /api/quiet", () => {
  const setQuiet = async (body: unknown) => {
    const response = await fixture.post(body, "/api/quiet");
    return { status: response.status, body: await response.json() };
  };
  const listed = async () =>
    ((await (await fixture.request("/api/sessions")).json()) as { quiet?: unknown }).quiet;

  test("turns alerts off until it is turned off, and on again", async () => {
    const quiet = { by: "you", until: null };
    expect(await setQuiet({ mode: "on" })).toEqual({ status: 200, body: { ok: true, quiet } });
    expect(await listed()).toEqual(quiet);
    expect(await setQuiet({ mode: "off" })).toEqual({ status: 200, body: { ok: true } });
    expect(await listed()).toBeUndefined();
  });

  test("turns alerts off for an hour", async () => {
    const before = Date.now();
    const { body } = await setQuiet({ mode: "hour" });
    const { until } = (body as { quiet: { until: number } }).quiet;
    expect(until - before).toBeWithin(3_600_000, 3_660_000);
    await setQuiet({ mode: "off" });
  });

  test.each([{}, { mode: "loud" }, { mode: true }])("%j is not a mode", async (body) => {
    const error = 'mode must be "hour", "tomorrow", "on" or "off"';
    expect(await setQuiet(body)).toEqual({ status: 400, body: { error } });
    expect(await listed()).toBeUndefined();
  });

  test("a body that is not JSON is an error", async () => {
    expect(await setQuiet("{")).toEqual({ status: 400, body: { error: "invalid JSON" } });
  });
});
