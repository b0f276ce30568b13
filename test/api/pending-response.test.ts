import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { type AnswerFixture, createAnswerFixture, createRequest, parseDecision } from "../answers/fixture.ts";
import { colourQuestion } from "../colour-question.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

let fixture: AnswerFixture;
beforeEach(async () => {
  fixture = createAnswerFixture();
  await fixture.start();
});
afterEach(() => fixture.destroy());

const allow = { do: "allow" };
const size = { ...colourQuestion, question: "Which sizes?", header: "Size", multiSelect: true };
const question = { tool_name: "AskUserQuestion", tool_input: { questions: [colourQuestion, size] } };
const plan = { tool_name: "ExitPlanMode", tool_input: { plan: "1. Rest", planFilePath: "/p/plan.md" } };

/** An agent whose status file says that it waits, and its hook, which waits for an answer. */
async function startWaitingAgent() {
  const { pid } = fixture.startAgent();
  fixture.writeStatus(pid, { sessionId: "s-1", status: "waiting", waitingFor: "permission prompt" });
  await waitUntil(
    async () => (await fixture.fetchSession("s-1"))?.activityPhase === "waiting_permission",
    3_000,
  );
  const hook = fixture.startHook(createRequest("s-1"), { CLAUDE_PID: String(pid) });
  await fixture.waitForAsk("s-1");
  return { pid, hook };
}

describe("an answer", () => {
  test("allow: the hook prints the decision and exits, and the ask is over at once", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    const before = performance.now();
    const { status, body } = await fixture.answer("s-1", { ask: ask.answerId, ...allow });
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, answered: "allowed" } });
    expect(performance.now() - before).toBeLessThan(500);
    expect((await fixture.fetchDetails("s-1")).asks).toEqual([]);
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    expect(await hook.exited).toBe(0);
  });

  test("a marked request is allowed only if the client confirms it", async () => {
    const marked = createRequest("s-1", { tool_input: { command: "git push --force" } });
    const hook = fixture.startHook(marked);
    const ask = await fixture.waitForAsk("s-1");
    expect(ask.dangers).toHaveLength(1);
    const refused = await fixture.answer("s-1", { ask: ask.answerId, ...allow });
    expect(refused).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining(ask.dangers?.[0] ?? "?") },
    });
    const confirmed = await fixture.answer("s-1", { ask: ask.answerId, ...allow, confirmed: true });
    expect(confirmed.status).toBe(200);
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test.each([
    ["page", { whole: false, ms: 5_000 }, true],
    ["page", { whole: true, ms: 999 }, true],
    ["page", { whole: true, ms: 5_000 }, false],
    ["menu", { whole: true, ms: 499 }, true],
    ["list", { whole: true, ms: 5_000 }, false],
    ["notification", { whole: true, ms: 5_000 }, true],
    ["command line", { whole: false, ms: null }, false],
  ])(
    "a marked request is not allowed by what the %s did: shown %j, confirmed %p",
    async (by, shown, confirmed) => {
      const hook = fixture.startHook(createRequest("s-1", { tool_input: { command: "git push --force" } }));
      const ask = await fixture.waitForAsk("s-1");
      const answer = { ask: ask.answerId, by, shown, confirmed };
      expect((await fixture.answer("s-1", { ...answer, ...allow })).status).toBe(403);
      expect(hook.isRunning()).toBe(true);
    },
  );

  test("deny passes its message on", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    await fixture.answer("s-1", { ask: ask.answerId, do: "deny", message: "not on a Friday" });
    const decision = parseDecision(await hook.printed);
    expect(decision.behavior).toBe("deny");
    expect(decision.message).toContain("not on a Friday");
  });

  test("always: exactly the chosen suggestion of the CLI", async () => {
    const payload = createRequest("s-1");
    const hook = fixture.startHook(payload);
    const ask = await fixture.waitForAsk("s-1");
    expect(ask.asked?.always).toHaveLength(1);
    const { status } = await fixture.answer("s-1", { ask: ask.answerId, do: "always", choice: 0 });
    expect(status).toBe(200);
    const decision = parseDecision(await hook.printed);
    expect(decision).toEqual({ behavior: "allow", updatedPermissions: payload.permission_suggestions });
  });

  test("two questions at once, one of them with several choices", async () => {
    const hook = fixture.startHook(createRequest("s-1", question));
    const ask = await fixture.waitForAsk("s-1");
    expect(ask.kind).toBe("question");
    const replies = [["Red"], ["Red", "Blue"]];
    expect((await fixture.answer("s-1", { ask: ask.answerId, do: "reply", replies })).status).toBe(200);
    const { updatedInput } = parseDecision(await hook.printed);
    expect(updatedInput.questions).toEqual([colourQuestion, size]);
    expect(updatedInput.answers["Which colour?"]).toBe("Red");
    expect([updatedInput.answers["Which sizes?"]].flat().join(", ")).toBe("Red, Blue");
  });

  test("a plan is approved", async () => {
    const hook = fixture.startHook(createRequest("s-1", plan));
    const ask = await fixture.waitForAsk("s-1");
    await fixture.answer("s-1", { ask: ask.answerId, ...allow });
    expect(parseDecision(await hook.printed)).toMatchObject({ behavior: "allow", updatedInput: {} });
  });
});

describe("if the ask ends in any other way, the hook exits and prints nothing", () => {
  const call = { tool_name: "Bash", tool_input: { command: "npm test" }, tool_use_id: "toolu_1" };
  const ends: Record<string, Record<string, unknown>> = {
    PostToolUse: { hook_event_name: "PostToolUse", ...call },
    PostToolBatch: { hook_event_name: "PostToolBatch" },
    Stop: { hook_event_name: "Stop" },
    SessionEnd: { hook_event_name: "SessionEnd", reason: "other" },
    "the next prompt": { hook_event_name: "UserPromptSubmit", prompt: "go on", prompt_id: "p-2" },
  };
  for (const [what, event] of Object.entries(ends)) {
    test(what, async () => {
      const turn = { cwd: "/p", prompt_id: "p-1" };
      await fixture.postHook({ session_id: "s-1", hook_event_name: "PreToolUse", ...turn, ...call });
      const hook = fixture.startHook(createRequest("s-1", turn));
      await fixture.waitForAsk("s-1");
      await fixture.postHook({ session_id: "s-1", ...turn, ...event });
      expect(await hook.exited).toBe(0);
      expect(await hook.printed).toBe("");
    });
  }

  testWith("linux")("the agent's status file says that the dialog is gone (Esc)", async () => {
    const { pid, hook } = await startWaitingAgent();
    fixture.writeStatus(pid, { sessionId: "s-1", status: "idle" });
    expect(await hook.exited).toBe(0);
    expect(await hook.printed).toBe("");
  });

  testWith("linux")("the agent's status file never had a dialog: the settled state counts", async () => {
    const { pid } = fixture.startAgent();
    fixture.writeStatus(pid, { sessionId: "s-1", status: "idle", statusUpdatedAt: Date.now() - 60_000 });
    await waitUntil(async () => (await fixture.fetchSession("s-1")) !== undefined, 3_000);
    const hook = fixture.startHook(createRequest("s-1"), { CLAUDE_PID: String(pid) });
    expect(await hook.exited).toBe(0);
    expect(await hook.printed).toBe("");
  });

  testWith("linux")("the agent's process was killed", async () => {
    const agent = fixture.startAgent();
    const hook = fixture.startHook(createRequest("s-1"), { CLAUDE_PID: String(agent.pid) });
    await fixture.waitForAsk("s-1");
    agent.child.kill("SIGKILL");
    expect(await hook.exited).toBe(0);
    expect(await hook.printed).toBe("");
  });

  test("but not if only its alert was dismissed", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    expect((await fixture.post({}, "/api/sessions/s-1/dismiss")).status).toBe(200);
    expect((await fixture.answer("s-1", { ask: ask.answerId, ...allow })).status).toBe(200);
    expect(await hook.printed).toContain('"allow"');
  });
});

describe("not kept open", () => {
  const quickly = async (hook: { exited: Promise<number>; printed: Promise<string> }) => {
    expect(await hook.exited).toBe(0);
    expect(await hook.printed).toBe("");
  };

  test("a subagent's request", async () => {
    await quickly(fixture.startHook(createRequest("s-1", { agent_id: "a1", agent_type: "Explore" })));
    const [ask] = (await fixture.fetchDetails("s-1")).asks;
    expect(ask).toMatchObject({ agentId: "a1", answerable: false });
    expect(ask?.why).toContain("subagent");
  });

  test("an unattended run", async () => {
    await quickly(fixture.startHook(createRequest("s-1"), { CLAUDE_CODE_SESSION_ATTENDED: "0" }));
    await quickly(
      fixture.startHook(createRequest("s-2"), {
        CLAUDE_CODE_SESSION_ATTENDED: "",
        CLAUDE_CODE_ENTRYPOINT: "sdk-cli",
      }),
    );
    expect((await fixture.fetchDetails("s-1")).asks[0]?.answerable).toBe(false);
  });

  test("anything while answering is turned off; turning it off releases what waits", async () => {
    const held = fixture.startHook(createRequest("s-1"));
    await fixture.waitForAsk("s-1");
    writeFileSync(fixture.paths.config, '{"answering":{"enabled":false}}');
    await quickly(held);
    await quickly(fixture.startHook(createRequest("s-2")));
    expect((await fixture.fetchDetails("s-2")).asks[0]?.why).toContain("turned off in your settings");
  });

  test("an event that beckon refuses", async () => {
    const { tool_name: _, session_id: __, ...nameless } = createRequest("s-1");
    const envelope = { provider: "claude", _meta: { id: "e-1" }, payload: nameless };
    expect((await fixture.post(envelope, "/api/hook?hold")).status).toBe(400);
    expect((await fixture.post("{", "/api/hook?hold")).status).toBe(400);
  });

  test("any other event", async () => {
    const payload = { session_id: "s-1", hook_event_name: "Stop", cwd: "/p" };
    const envelope = { provider: "claude", _meta: { id: "e-1" }, payload };
    const response = await fixture.post(envelope, "/api/hook?hold");
    expect([response.status, await response.text()]).toEqual([200, "{}\n"]);
    expect((await fixture.fetchDetails("s-1")).activityPhase).toBe("interactable");
  });

  const hold = async (body: unknown) => (await fixture.post(body, "/api/hold")).text();

  test.each([
    ["an unknown ask", { provider: "claude", _meta: { id: "x" }, payload: createRequest("s-9") }],
    ["no envelope", createRequest("s-9")],
    ["no JSON", "{"],
    ["a list", []],
    ["an unknown agent", { provider: "unknown", _meta: { id: "x" }, payload: createRequest("s-9") }],
  ])("%s: {} at once", async (_, body) => {
    expect(await hold(body)).toBe("{}\n");
  });

  test("a shortened payload, or one that is not what was asked", async () => {
    const payload = createRequest("s-1");
    await fixture.postHook(payload, { id: "e-1" });
    expect(await hold({ provider: "claude", _meta: { id: "e-1", cut: true }, payload })).toBe("{}\n");
    const other = { ...payload, tool_name: "Read" };
    expect(await hold({ provider: "claude", _meta: { id: "e-1" }, payload: other })).toBe("{}\n");
  });

  test("the same request from a second registration: one of the two waits", async () => {
    const [first, second] = [
      fixture.startHook(createRequest("s-1")),
      fixture.startHook(createRequest("s-1")),
    ];
    // The hook with the earlier stamp is kept, whichever arrives first: until the other exits, the ask's answerId can change.
    await Promise.race([first.exited, second.exited]);
    expect([first, second].filter((hook) => hook.isRunning())).toHaveLength(1);
    const ask = await fixture.waitForAsk("s-1");
    expect(await fixture.answer("s-1", { ask: ask.answerId, ...allow })).toMatchObject({ status: 200 });
    const printed = await Promise.all([first.printed, second.printed]);
    expect(printed.filter((text) => text !== "")).toHaveLength(1);
  });
});

describe("an answer belongs to one ask", () => {
  const gone = { status: 409, body: { error: expect.stringContaining("this ask is gone") } };

  test("a guessed id, another ask's id and a bare number answer nothing", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    for (const guess of [
      "s-1-1",
      "s-1-1.0000000000000000",
      `${ask.answerId}0`,
      ask.answerId.slice(0, -1),
      "x",
    ]) {
      expect(await fixture.answer("s-1", { ask: guess, ...allow })).toMatchObject(gone);
    }
    expect(hook.isRunning()).toBe(true);
  });

  test("an ask id of one session is refused in another", async () => {
    fixture.startHook(createRequest("s-1"));
    const other = fixture.startHook(createRequest("s-2"));
    const ask = await fixture.waitForAsk("s-1");
    await fixture.waitForAsk("s-2");
    expect(await fixture.answer("s-2", { ask: ask.answerId, ...allow })).toMatchObject(gone);
    expect(other.isRunning()).toBe(true);
  });

  test("an id works once, and the second answer gets the name of the first", async () => {
    fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    await fixture.answer("s-1", { ask: ask.answerId, do: "deny", by: "tray" });
    const second = await fixture.answer("s-1", { ask: ask.answerId, ...allow });
    expect(second.status).toBe(409);
    expect(second.body.error).toBe("this ask is gone: denied (menu)");
  });

  test("of two answers at once one wins, and the hook prints that one", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    const both = await Promise.all([
      fixture.answer("s-1", { ask: ask.answerId, ...allow }),
      fixture.answer("s-1", { ask: ask.answerId, do: "deny" }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = both[0]?.status === 200 ? "allow" : "deny";
    expect(parseDecision(await hook.printed).behavior).toBe(won);
    const lost = both.find(({ status }) => status === 409);
    expect(lost?.body.error).toContain(won === "allow" ? "allowed (API)" : "denied (API)");
  });

  test("an answer after one in the terminal is refused as too late", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    await fixture.postHook({ session_id: "s-1", hook_event_name: "Stop", cwd: "/p" });
    expect(await fixture.answer("s-1", { ask: ask.answerId, ...allow })).toMatchObject(gone);
    expect(await hook.printed).toBe("");
  });

  test("the next ask has another id, even if it asks the same", async () => {
    fixture.startHook(createRequest("s-1"));
    const first = await fixture.waitForAsk("s-1");
    await fixture.postHook({ session_id: "s-1", hook_event_name: "Stop", cwd: "/p" });
    const hook = fixture.startHook(createRequest("s-1"));
    const second = await fixture.waitForAsk("s-1");
    expect(second.answerId).not.toBe(first.answerId);
    expect(await fixture.answer("s-1", { ask: first.answerId, ...allow })).toMatchObject(gone);
    expect(hook.isRunning()).toBe(true);
  });

  test.each([
    [{}, "do must be"],
    [{ do: "yes" }, "do must be"],
    [{ do: "always", choice: 7 }, ""],
    [{ do: "always", choice: -1 }, "choice must be"],
    [{ do: "always", choice: "0" }, "choice must be"],
    [{ do: "deny", message: 7 }, "message must be"],
    [{ do: "reply", replies: [] }, "replies must be"],
    [{ do: "reply", replies: ["Red"] }, "replies must be"],
  ])("%j does not answer it", async (answer, error) => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    const { status, body } = await fixture.answer("s-1", { ask: ask.answerId, ...answer });
    expect(status).toBe(400);
    expect(body.error).toContain(error);
    expect(hook.isRunning()).toBe(true);
  });

  test("what cannot be shown in full can be denied here, but not allowed", async () => {
    const command = Array.from({ length: 5_000 }, (_, n) => `echo ${n}`).join("\n");
    const hook = fixture.startHook(createRequest("s-1", { tool_input: { command } }));
    const ask = await fixture.waitForAsk("s-1");
    expect(ask.asked?.isWhole).toBe(false);
    for (const action of [allow, { do: "always", choice: 0 }]) {
      const { status, body } = await fixture.answer("s-1", { ask: ask.answerId, ...action });
      expect(status).toBe(403);
      expect(body.error).toContain("look at it in the terminal");
    }
    expect((await fixture.answer("s-1", { ask: ask.answerId, do: "deny" })).status).toBe(200);
    expect(parseDecision(await hook.printed).behavior).toBe("deny");
  });

  test("two sessions that ask the same are answered separately", async () => {
    const mine = fixture.startHook(createRequest("s-1", question));
    const ask = await fixture.waitForAsk("s-1");
    const theirs = fixture.startHook(createRequest("s-2", question));
    await fixture.waitForAsk("s-2");
    const replies = [["Red"], ["Blue"]];
    expect(await fixture.answer("s-2", { ask: ask.answerId, do: "reply", replies })).toMatchObject(gone);
    expect((await fixture.answer("s-1", { ask: ask.answerId, do: "reply", replies })).status).toBe(200);
    expect(await mine.printed).toContain("Red");
    expect(theirs.isRunning()).toBe(true);
  });

  test.each([
    ["no token", { authorization: "" }, 401],
    ["a wrong token", { authorization: `Bearer ${"x".repeat(43)}` }, 401],
    ["a page of another origin", { origin: "https://evil.example" }, 403],
    ["a page of another site, by its Sec-Fetch", { "sec-fetch-site": "cross-site" }, 403],
    ["a form", { "content-type": "text/plain" }, 415],
  ])("%s: refused, and the dialog stays", async (_, headers, status) => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    const body = JSON.stringify({ ask: ask.answerId, ...allow });
    for (const path of ["/api/sessions/s-1/answer", "/api/hold", "/api/hold/end"]) {
      expect((await fixture.request(path, { method: "POST", body, headers })).status).toBe(status);
    }
    expect(hook.isRunning()).toBe(true);
  });

  test("a missing ask id, and an unknown session", async () => {
    fixture.startHook(createRequest("s-1"));
    await fixture.waitForAsk("s-1");
    expect((await fixture.answer("s-1", allow)).status).toBe(400);
    expect((await fixture.answer("s-7", { ask: "x", ...allow })).status).toBe(404);
  });
});

describe("a hook that has ended", () => {
  test("killed: its ask stays open but cannot be answered here any more", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    hook.signal("SIGKILL");
    await hook.exited;
    await waitUntil(async () => (await fixture.fetchDetails("s-1")).asks[0]?.answerable === false, 2_000);
    const { status, body } = await fixture.answer("s-1", { ask: ask.answerId, ...allow });
    expect(status).toBe(409);
    expect(body.error).toContain("cannot be answered from here");
  });

  test("frozen: the answer is reported as unconfirmed, cannot be repeated, and counts when the hook resumes", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    hook.signal("SIGSTOP");
    const { status, body } = await fixture.answer("s-1", { ask: ask.answerId, ...allow });
    expect(status).toBe(409);
    expect(body.error).toContain("has not confirmed it yet");
    expect((await fixture.fetchDetails("s-1")).asks).toHaveLength(1);
    const second = await fixture.answer("s-1", { ask: ask.answerId, do: "deny" });
    expect(second.body.error).toBe("this ask is gone: allowed (API)");
    hook.signal("SIGCONT");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    await waitUntil(async () => (await fixture.fetchDetails("s-1")).asks.length === 0, 2_000);
  }, 10_000);

  test('stopped ("No" in the terminal): without a status file, its ask is closed', async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    await fixture.waitForAsk("s-1");
    hook.signal("SIGTERM");
    expect(await hook.exited).toBe(0);
    expect(await hook.printed).toBe("");
    expect((await fixture.fetchDetails("s-1")).asks).toEqual([]);
  });

  testWith("linux")("stopped while the status file still says waiting: the file decides", async () => {
    const { hook } = await startWaitingAgent();
    hook.signal("SIGTERM");
    await hook.exited;
    const [ask] = (await fixture.fetchDetails("s-1")).asks;
    expect(ask).toMatchObject({ tool: "Bash", answerable: false });
  });
});

test("the list shows which asks can be answered, and only a session's details show everything", async () => {
  fixture.startHook(createRequest("s-1"));
  const ask = await fixture.waitForAsk("s-1");
  const listed = (await fixture.fetchSession("s-1"))?.asks[0];
  expect(listed).toMatchObject({ id: ask.id, answerId: ask.answerId, answerable: true, summary: "npm test" });
  expect(listed?.asked).toBeUndefined();
  expect(ask.asked?.lines.join("\n")).toContain("npm test");
});
