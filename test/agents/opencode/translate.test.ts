/** What opencode's plugin reports becomes sessions, asks and answers. */
import { describe, expect, test } from "bun:test";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { opencode } from "../../../src/agents/opencode/index.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import { viewSession } from "../../core/view/session-view.ts";

const base = { session: "ses_1", cwd: "/home/dev/proj" };
const permission = {
  ...base,
  type: "permission.asked",
  request: "per_1",
  permission: "bash",
  patterns: ["npm test"],
  metadata: { command: "npm test" },
  called: "bash",
  input: { command: "npm test", description: "Runs the tests" },
  always: ["npm *"],
  call: "call_1",
};
const question = {
  ...base,
  type: "question.asked",
  request: "que_1",
  questions: [
    {
      question: "Which colour?",
      header: "Colour",
      options: [
        { label: "Red", description: "the red one" },
        { label: "Blue", description: "" },
      ],
    },
  ],
};

function show(...payloads: readonly JsonRecord[]) {
  let window: EventWindow | undefined;
  let at = 1_790_000_000_000;
  for (const payload of payloads) {
    at += 2_000;
    const hook = openEnvelope({ provider: "opencode", _meta: {}, payload }, "opencode", null);
    const event = hook && opencode.translate(hook, { id: `e-${at}`, key: `k-${at}`, at, t: at });
    if (event) window = reduce(window, event);
  }
  if (!window) throw new Error("no session");
  return viewSession(window.session, { at: at + 100, t: at + 100 });
}

const prompt = { ...base, type: "prompt", prompt: "go" };
const busy = { ...base, type: "session.busy" };
const idle = { ...base, type: "session.idle", response: "Done." };

describe("a session", () => {
  test("works from its prompt to its end, and shows the last response", () => {
    expect(show(prompt, busy).activityPhase).toBe("busy");
    expect(show(prompt, busy, idle)).toMatchObject({ activityPhase: "interactable", lastResponse: "Done." });
  });

  test("fails with the error of its turn, and is interrupted by Esc", () => {
    expect(show(prompt, busy, { ...idle, error: "overloaded" })).toMatchObject({ error: "overloaded" });
    expect(show(prompt, busy, { ...base, type: "session.idle", aborted: true })).toMatchObject({
      activityPhase: "interactable",
      interrupted: true,
      error: null,
    });
  });

  test("shows title, model, tokens and cost of itself and its subagents", () => {
    const tokens = { input: 100, output: 20, reasoning: 3, cache: { read: 50, write: 7 } };
    const sessions = [
      { id: "ses_1", model: "big", tokens, cost: 0.25, context: 150 },
      { id: "ses_2", model: "small", tokens, cost: 0.5 },
    ];
    const updated = { ...base, type: "session.updated", title: "Fix the cart", sessions };
    expect(show(prompt, updated)).toMatchObject({
      title: "Fix the cart",
      model: "big",
      tokens: { input: 200, output: 46, cacheRead: 100, cacheWrite: 14 },
      costUsd: 0.75,
      context: { used: 150, window: null },
    });
    expect(show(prompt, { ...updated, title: "New session - 2026-11-16T18:28:57.186Z" }).title).toBeNull();
  });

  test("that was left for another one counts as cleared, until its next prompt", () => {
    expect(show(prompt, idle, { ...base, type: "session.left" })).toMatchObject({
      state: "completed",
      endReason: "clear",
    });
    expect(show(prompt, idle, { ...base, type: "session.left" }, prompt).state).toBe("active");
  });
});

describe("a request", () => {
  test.each([
    ["once", "permission.replied"],
    ["always", "permission.replied"],
    ["reject", "permission.replied"],
    [undefined, "question.rejected"],
  ])("is open until opencode reports %s", (reply, type) => {
    expect(show(prompt, permission)).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ kind: "permission", tool: "Bash", summary: "npm test" }],
    });
    expect(show(prompt, permission, { ...base, type, request: "per_1", reply }).asks).toEqual([]);
    expect(show(prompt, permission, { ...base, type, request: "per_2", reply }).asks).toHaveLength(1);
  });

  test("of another call stays when a call of the same tool ends", () => {
    const ended = { ...base, type: "tool.ended", tool: "bash", call: "call_2" };
    expect(show(prompt, permission, ended).asks).toHaveLength(1);
  });

  test("of a subagent is the session's, and ends with the subagent", () => {
    const child = { subagent: "ses_2", subagentType: "general" };
    const asked = show(prompt, { ...permission, ...child });
    expect(asked).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ agentId: "ses_2" }],
      children: [{ agentId: "ses_2", type: "general", state: "running" }],
    });
    expect(
      show(prompt, { ...permission, ...child }, { ...base, ...child, type: "session.idle" }).asks,
    ).toEqual([]);
  });

  test("for something that is not a tool is named in words", () => {
    const outside = { ...permission, permission: "external_directory", metadata: { filepath: "/etc" } };
    expect(show(prompt, outside).asks).toMatchObject([
      { tool: "files outside of the project", summary: "/etc" },
    ]);
  });

  test("with questions shows the first one and its options", () => {
    expect(show(prompt, question).asks).toMatchObject([
      { kind: "question", summary: "Which colour?", options: ["Red", "Blue"] },
    ]);
  });
});

describe("an answer", () => {
  const answering = opencode.answering;
  if (!answering) throw new Error("opencode can be answered");
  const where = { cwd: "/home/dev/proj" };

  test("is given to what is shown in full, with its dangers", () => {
    expect(answering.describe(permission, where)).toMatchObject({
      heading: "Run a command",
      lines: ["npm test"],
      isWhole: true,
      dangers: [],
      always: ["Always allow npm * until opencode is restarted"],
    });
    const forced = { ...permission, metadata: { command: "git push --force" } };
    expect(answering.describe(forced, where)?.dangers).not.toEqual([]);
    const edit = {
      ...permission,
      permission: "edit",
      metadata: { filepath: "/home/dev/.bashrc", diff: "--- a\n+++ b\n+alias ls=rm\n" },
    };
    expect(answering.describe(edit, where)).toMatchObject({ heading: "Edit /home/dev/.bashrc" });
    expect(answering.describe(edit, where)?.dangers).not.toEqual([]);
  });

  test("becomes opencode's own reply", () => {
    expect(answering.decide(permission, { do: "allow" })).toEqual({ reply: "once" });
    expect(answering.decide(permission, { do: "always", choice: 0 })).toEqual({ reply: "always" });
    expect(answering.decide(permission, { do: "deny", message: " no " })).toEqual({
      reply: "reject",
      message: "no",
    });
    expect(answering.decide(question, { do: "reply", replies: [["Blue"]] })).toEqual({ answers: [["Blue"]] });
    expect(answering.decide(question, { do: "deny", message: null })).toEqual({ reply: "reject" });
  });

  test.each([
    [question, { do: "allow" } as const],
    [question, { do: "reply", replies: [] } as const],
    [question, { do: "reply", replies: [["Red", "Blue"]] } as const],
    [permission, { do: "always", choice: 1 } as const],
  ])("that does not fit is refused in words", (payload, answer) => {
    expect(typeof answering.decide(payload, answer)).toBe("string");
  });
});
