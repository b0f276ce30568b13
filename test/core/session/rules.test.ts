/** Every row of the table that says what moves a session. */
import { describe, expect, test } from "bun:test";
import { askColour, asking, bash, call, child, tell } from "./fixture.ts";

const running = () =>
  tell().hook("SessionStart", { source: "startup" }).hook("UserPromptSubmit", { prompt: "go" });

describe("SessionStart", () => {
  test("makes the session known, with its turn over", () => {
    const seen = tell().hook("SessionStart", { source: "startup", model: "claude-opus-5-5" }).see();
    expect(seen).toMatchObject({
      state: "active",
      activityPhase: "interactable",
      model: "claude-opus-5-5",
      cwd: "/home/dev/proj",
      project: "proj",
    });
  });
  for (const source of ["startup", "resume", "clear", "fork"]) {
    test(`${source} ends the turn and closes what was asked`, () => {
      const seen = asking().hook("SessionStart", { source }).see();
      expect(seen.activityPhase).toBe("interactable");
      expect(seen.asks).toEqual([]);
    });
  }
  test("compact changes no phase", () => {
    expect(asking().hook("SessionStart", { source: "compact" }).see().activityPhase).toBe(
      "waiting_permission",
    );
    expect(running().hook("SessionStart", { source: "compact" }).see().activityPhase).toBe("busy");
  });
});

describe("UserPromptSubmit", () => {
  test("starts the turn and is the last prompt", () => {
    const seen = running().see();
    expect(seen).toMatchObject({
      activityPhase: "busy",
      lastPrompt: "go",
      turnCount: 1,
      status: { kind: "working", detail: "Thinking" },
    });
  });
  test("closes the idle ask and older asks of the main thread, not a subagent's", () => {
    const told = asking()
      .hook("PreToolUse", { ...child, ...call, tool_use_id: "toolu_c" })
      .hook("PermissionRequest", { ...child, ...bash });
    const seen = told.hook("UserPromptSubmit", { prompt: "more" }).see();
    expect(seen.asks.map((ask) => ask.agentId)).toEqual(["a1"]);
    const idle = running().hook("Stop").hook("Notification", { notification_type: "idle_prompt" });
    expect(idle.see().asks.map((ask) => ask.kind)).toEqual(["idle"]);
    expect(idle.hook("UserPromptSubmit", { prompt: "more" }).see().asks).toEqual([]);
  });
  for (const prompt of [
    "<task-notification>\n<task-id>a1</task-id>",
    'Background agent "Explore" was stopped by the user.',
  ]) {
    test(`a prompt of the machine's is not the person's: ${prompt.slice(0, 19)}`, () => {
      const seen = running().hook("Stop").hook("UserPromptSubmit", { prompt }).see();
      expect(seen).toMatchObject({ activityPhase: "busy", lastPrompt: "go", turnCount: 1 });
    });
  }
});

describe("PreToolUse", () => {
  test("runs the turn and says with what", () => {
    expect(tell().hook("PreToolUse", call).see()).toMatchObject({
      activityPhase: "busy",
      status: { kind: "working", detail: "Bash" },
    });
  });
  test("of a subagent says nothing of the main turn", () => {
    const seen = tell()
      .hook("SessionStart", { source: "startup" })
      .hook("PreToolUse", { ...child, ...call })
      .see();
    expect(seen.children).toMatchObject([
      { agentId: "a1", type: "Explore", state: "running", detail: "Bash" },
    ]);
    expect(seen.status).toEqual({ kind: "working", detail: "Explore" });
    expect(
      tell()
        .hook("SessionStart", { source: "startup" })
        .hook("PreToolUse", { ...child, ...call })
        .hook("SubagentStop", child)
        .see().activityPhase,
    ).toBe("interactable");
  });
  test("after its PermissionRequest still binds it, so that PostToolUse closes it", () => {
    const told = running().hook("PermissionRequest", bash).hook("PreToolUse", call, 50);
    expect(told.hook("PostToolUse", { ...call, tool_input: { command: "touch y" } }).see()).toMatchObject({
      activityPhase: "busy",
      asks: [],
    });
  });
  test("of two equal calls, each request binds its own", () => {
    const told = running()
      .hook("PreToolUse", call)
      .hook("PermissionRequest", bash)
      .hook("PreToolUse", { ...call, tool_use_id: "toolu_2" })
      .hook("PermissionRequest", bash, 2_000);
    expect(told.see().asks).toHaveLength(2);
    expect(
      told
        .hook("PostToolUse", { ...call, tool_use_id: "toolu_2" })
        .see()
        .asks.map((ask) => ask.id.slice(-1)),
    ).toEqual(["1"]);
  });
});

describe("PermissionRequest", () => {
  test("opens an ask with its tool and what it wants to do", () => {
    const seen = asking().see();
    expect(seen.activityPhase).toBe("waiting_permission");
    expect(seen.status).toEqual({ kind: "attention", detail: "Permission for Bash" });
    expect(seen.asks).toMatchObject([
      { kind: "permission", tool: "Bash", summary: "touch x", agentId: null, answerable: false },
    ]);
  });
  test("of AskUserQuestion is a question with its options", () => {
    const seen = running().hook("PermissionRequest", askColour).see();
    expect(seen).toMatchObject({
      activityPhase: "waiting_question",
      status: { kind: "attention", detail: "Question: Which colour?" },
    });
    expect(seen.asks).toMatchObject([
      { kind: "question", summary: "Which colour?", options: ["Red", "Blue"] },
    ]);
  });
  test("of ExitPlanMode is a plan", () => {
    const seen = running()
      .hook("PermissionRequest", { tool_name: "ExitPlanMode", tool_input: { plan: "# Plan\n1. Do a" } })
      .see();
    expect(seen).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ kind: "plan", summary: "# Plan 1. Do a" }],
    });
  });
  test("names the ask that a reminder opened, and keeps its id", () => {
    const told = running().hook("Notification", {
      notification_type: "permission_prompt",
      message: "Claude needs your permission",
    });
    const [unnamed] = told.see().asks;
    expect(unnamed).toMatchObject({ kind: "permission", tool: null });
    expect(told.hook("PermissionRequest", bash).see().asks).toMatchObject([
      { id: unnamed?.id, tool: "Bash", summary: "touch x" },
    ]);
  });
  test("the oldest ask names the phase", () => {
    const told = running()
      .hook("PermissionRequest", askColour)
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash });
    expect(told.see().activityPhase).toBe("waiting_question");
  });
});

describe("PostToolUse, PostToolUseFailure, PermissionDenied", () => {
  for (const name of ["PostToolUse", "PostToolUseFailure", "PermissionDenied"]) {
    test(`${name} closes the ask of its tool call and the turn goes on`, () => {
      expect(asking().hook(name, call).see()).toMatchObject({
        activityPhase: "busy",
        asks: [],
        status: { kind: "working", detail: "Thinking" },
      });
    });
  }
  test("another call's end leaves the ask open", () => {
    expect(
      asking()
        .hook("PostToolUse", { ...call, tool_use_id: "toolu_9" })
        .see().activityPhase,
    ).toBe("waiting_permission");
  });
  test("of a subagent never runs the main turn", () => {
    const told = tell()
      .hook("SessionStart", { source: "startup" })
      .hook("PostToolUse", { ...child, ...call })
      .hook("SubagentStop", child);
    expect(told.see().activityPhase).toBe("interactable");
  });
});

test("PostToolBatch closes older asks of the main thread", () => {
  expect(asking().hook("PostToolBatch").see()).toMatchObject({ activityPhase: "busy", asks: [] });
});

test("Elicitation opens and ElicitationResult closes an ask", () => {
  const told = running().hook("Elicitation", { mcp_server_name: "fake", message: "Your name?" });
  expect(told.see()).toMatchObject({
    activityPhase: "waiting_question",
    asks: [{ kind: "elicitation", summary: "Your name?" }],
    status: { kind: "attention", detail: "MCP input: Your name?" },
  });
  expect(told.hook("ElicitationResult", { mcp_server_name: "fake" }).see()).toMatchObject({
    activityPhase: "busy",
    asks: [],
  });
});

test("an elicitation by a subagent's tool outlives the main turn's end", () => {
  const told = running().hook("PreToolUse", {
    ...child,
    tool_name: "mcp__fake__ask",
    tool_input: {},
    tool_use_id: "toolu_m",
  });
  told
    .hook("Elicitation", { mcp_server_name: "fake", message: "Your name?" })
    .hook("Stop", { background_tasks: [{ id: "a1", type: "subagent", status: "running" }] }, 30);
  expect(told.see()).toMatchObject({
    activityPhase: "waiting_question",
    asks: [{ kind: "elicitation", agentId: "a1" }],
  });
});

describe("Notification", () => {
  for (const type of ["permission_prompt", "agent_needs_input"]) {
    test(`${type} opens an ask without a name`, () => {
      expect(running().hook("Notification", { notification_type: type }).see()).toMatchObject({
        activityPhase: "waiting_permission",
        asks: [{ tool: null }],
      });
    });
    test(`${type} adds nothing where an ask is open`, () => {
      expect(asking().hook("Notification", { notification_type: type }).see().asks).toHaveLength(1);
      expect(
        running().hook("PermissionRequest", askColour).hook("Notification", { notification_type: type }).see()
          .asks,
      ).toHaveLength(1);
    });
    test(`${type} is not believed where the status file says otherwise`, () => {
      expect(running().file("busy").hook("Notification", { notification_type: type }).see()).toMatchObject({
        activityPhase: "busy",
        asks: [],
      });
    });
  }
  test("the ask it opens is about the one tool call under way, and ends with the next tool event", () => {
    const told = running()
      .hook("PreToolUse", call)
      .hook("Notification", { notification_type: "permission_prompt" }, 6_000);
    expect(told.see().asks).toMatchObject([{ tool: "Bash", summary: "touch x" }]);
    expect(told.hook("PreToolUse", { ...call, tool_use_id: "toolu_2" }).see().asks).toEqual([]);
  });
  for (const type of ["elicitation_dialog", "elicitation_url_dialog"]) {
    test(`${type} opens an elicitation ask`, () => {
      expect(running().hook("Notification", { notification_type: type }).see().asks).toMatchObject([
        { kind: "elicitation" },
      ]);
    });
  }
  test("idle_prompt: phase waiting_question, status idle", () => {
    const seen = running()
      .hook("Stop")
      .hook("Notification", { notification_type: "idle_prompt" }, 60_000)
      .see();
    expect(seen).toMatchObject({
      activityPhase: "waiting_question",
      status: { kind: "idle" },
      asks: [{ kind: "idle" }],
    });
  });
  test("idle_prompt never outranks an ask that blocks", () => {
    expect(asking().hook("Notification", { notification_type: "idle_prompt" }).see().asks).toMatchObject([
      { kind: "permission" },
    ]);
  });
  for (const type of ["auth_success", "elicitation_response", "something_new", undefined]) {
    test(`${type} changes nothing`, () => {
      expect(running().hook("Notification", { notification_type: type }).see()).toMatchObject({
        activityPhase: "busy",
        asks: [],
      });
    });
  }
});

describe("Stop", () => {
  test("ends the turn, closes the main thread's asks and keeps the last words", () => {
    expect(asking().hook("Stop", { last_assistant_message: "Done." }).see()).toMatchObject({
      activityPhase: "interactable",
      asks: [],
      lastResponse: "Done.",
      status: { kind: "idle", detail: null },
    });
  });
  const task = { id: "a1", type: "subagent", status: "running", description: "look around" };
  test("never closes a subagent's ask", () => {
    const told = running()
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash })
      .hook("Stop", { background_tasks: [task] });
    expect(told.see()).toMatchObject({ activityPhase: "waiting_permission", asks: [{ agentId: "a1" }] });
  });
  test("with a running child the session is busy until it ends", () => {
    const told = running()
      .hook("SubagentStart", child)
      .hook("Stop", { background_tasks: [task] });
    expect(told.see().activityPhase).toBe("busy");
    expect(told.hook("SubagentStop", child).see().activityPhase).toBe("interactable");
  });
  test("background_tasks names a child not known yet, and never revives one that ended", () => {
    expect(
      running()
        .hook("Stop", { background_tasks: [task] })
        .see().children,
    ).toMatchObject([{ agentId: "a1", state: "running" }]);
    const ended = running()
      .hook("SubagentStart", child)
      .hook("SubagentStop", child)
      .hook("Stop", { background_tasks: [task] });
    expect(ended.see()).toMatchObject({ activityPhase: "interactable", children: [{ state: "ended" }] });
  });
  test("a child that it no longer names was killed, and what it asked with it", () => {
    const told = running()
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash })
      .hook("Stop", { background_tasks: [] });
    expect(told.see()).toMatchObject({ activityPhase: "interactable", asks: [] });
  });
  test("a background shell does not make it busy", () => {
    const seen = running()
      .hook("Stop", {
        background_tasks: [{ id: "b1", type: "shell", status: "running", description: "npm run dev" }],
      })
      .see();
    expect(seen).toMatchObject({
      activityPhase: "interactable",
      status: { kind: "idle", detail: "background: npm run dev" },
    });
  });
  test("a tool's end stamped just after it does not start the turn again", () => {
    expect(
      running()
        .hook("PreToolUse", call)
        .hook("Stop")
        .hook("PostToolUse", call, 40)
        .hook("PostToolBatch", {}, 40)
        .see().activityPhase,
    ).toBe("interactable");
  });
});

test("StopFailure ends the turn with its error", () => {
  expect(running().hook("StopFailure", { error: "rate_limit" }).see()).toMatchObject({
    activityPhase: "interactable",
    status: { kind: "idle", detail: "rate_limit" },
    error: "rate_limit",
  });
});

test("a failed turn stays failed until something new happens", () => {
  const told = running()
    .hook("StopFailure", { error: "rate_limit" })
    .wait(60 * 60_000);
  expect(told.see()).toMatchObject({ state: "idle", error: "rate_limit" });
  expect(told.hook("UserPromptSubmit", { prompt: "again" }).see().error).toBeNull();
});

test("a request with several questions says how many", () => {
  const [question] = askColour.tool_input.questions;
  const both = { questions: [question, { question: "Which size?", options: [] }] };
  const told = running().hook("PermissionRequest", { ...askColour, tool_input: both });
  expect(told.see()).toMatchObject({
    status: { kind: "attention", detail: "Question 1 of 2: Which colour?" },
    asks: [{ summary: "Which colour?", options: ["Red", "Blue"], questions: 2 }],
  });
  expect(running().hook("PermissionRequest", askColour).see().asks[0]).not.toHaveProperty("questions");
});

test("a background task is told for as long as it runs", () => {
  const background_tasks = [{ id: "b1", type: "local_bash", status: "running", description: "npm run dev" }];
  const told = running().hook("Stop", { background_tasks });
  const { status } = told.see();
  expect(status.detail).toStartWith("background: ");
  expect(told.wait(10 * 60_000).see()).toMatchObject({ state: "idle", status });
});

describe("SubagentStart, SubagentStop", () => {
  test("a child appears and ends, and its asks with it", () => {
    const told = running().hook("SubagentStart", child);
    expect(told.see().children).toMatchObject([{ agentId: "a1", type: "Explore", state: "running" }]);
    told.hook("PermissionRequest", { ...child, ...bash });
    expect(told.see().activityPhase).toBe("waiting_permission");
    expect(told.hook("SubagentStop", child).see()).toMatchObject({
      activityPhase: "busy",
      asks: [],
      children: [{ state: "ended" }],
    });
  });
  test("the stop of a child that never started (/compact) adds none", () => {
    expect(running().hook("SubagentStop", { agent_id: "x", agent_type: "" }).see().children).toEqual([]);
  });
  test("a request stamped after its child's end opens nothing", () => {
    expect(
      running()
        .hook("SubagentStart", child)
        .hook("SubagentStop", child)
        .hook("PermissionRequest", { ...child, ...bash }, 50)
        .see().asks,
    ).toEqual([]);
  });
});

describe("PreCompact, PostCompact, Setup", () => {
  test("compaction works, then it is as before", () => {
    const told = running().hook("Stop").hook("PreCompact", { trigger: "manual" });
    expect(told.see()).toMatchObject({
      activityPhase: "busy",
      status: { kind: "working", detail: "Compacting" },
    });
    expect(told.hook("PostCompact").see().activityPhase).toBe("interactable");
    const midTurn = running()
      .hook("PreToolUse", call)
      .hook("PreCompact", { trigger: "auto" })
      .hook("PostCompact");
    expect(midTurn.see()).toMatchObject({ activityPhase: "busy", status: { detail: "Bash" } });
  });
  test("Setup is work", () => {
    expect(tell().hook("Setup", { trigger: "init" }).see().status).toEqual({
      kind: "working",
      detail: "Setup",
    });
  });
});

describe("Skill", () => {
  for (const tool_input of [
    { skill: "spec", args: "docs/x.md" },
    { skill_name: "/spec", skill_args: "docs/x.md" },
  ]) {
    test(`in progress, then completed: ${Object.keys(tool_input)[0]}`, () => {
      const told = running().hook("PreToolUse", { tool_name: "Skill", tool_input, tool_use_id: "toolu_s" });
      expect(told.see().currentSkill).toBe("spec");
      expect(
        told.hook("PostToolUse", { tool_name: "Skill", tool_input, tool_use_id: "toolu_s" }).see()
          .currentSkill,
      ).toBeNull();
    });
  }
});

test("an answer through beckon closes that ask and no other", () => {
  const told = asking().hook("PermissionRequest", { ...child, ...bash });
  const [, other] = told.see().asks;
  expect(
    told
      .own({ kind: "ask-answered", request: "event-4" })
      .see()
      .asks.map((ask) => ask.id),
  ).toEqual([other?.id ?? ""]);
});

test("the file's word about a dialog that was answered through beckon does not close the next one", () => {
  const two = () =>
    asking()
      .hook("PreToolUse", { ...call, tool_use_id: "toolu_2" })
      .hook("PermissionRequest", { ...bash, prompt_id: "p" }, 2_000)
      .file("waiting", "permission prompt", 20);
  const through = two().own({ kind: "ask-answered", request: "event-4" }).file("busy", null, 90);
  expect(through.see().asks).toHaveLength(1);
  expect(two().file("busy", null, 90).see().asks).toHaveLength(1);
});

describe("the end", () => {
  test("SessionEnd: completed, and no phase, no ask, no running child", () => {
    const seen = asking()
      .hook("SubagentStart", child)
      .hook("SessionEnd", { reason: "prompt_input_exit" })
      .see();
    expect(seen).toMatchObject({
      state: "completed",
      activityPhase: null,
      asks: [],
      children: [{ state: "ended" }],
      status: { kind: "idle" },
    });
  });
  test("a process that is gone: completed", () => {
    expect(asking().own({ kind: "gone", why: "process" }).see()).toMatchObject({
      state: "completed",
      activityPhase: null,
    });
  });
  test("something newer revives it; what only trails the end does not", () => {
    expect(running().hook("SessionEnd").hook("Stop", {}, 50).see().state).toBe("completed");
    expect(running().hook("SessionEnd").hook("SessionStart", { source: "resume" }, 50).see()).toMatchObject({
      state: "active",
      activityPhase: "interactable",
    });
    expect(running().hook("SessionEnd").hook("PreToolUse", call, 5_000).see()).toMatchObject({
      state: "active",
      activityPhase: "busy",
    });
  });
  test("after /clear, a status file that still says busy under the old id does not revive it", () => {
    const cleared = running().hook("SessionEnd", { reason: "clear" }).file("busy", null, 20);
    expect(cleared.see()).toMatchObject({ state: "completed", died: false });
    const gone = cleared.own({ kind: "gone", why: "file" });
    expect(gone.see()).toMatchObject({ state: "completed", died: false });
  });
  test("an event older than the end does not revive it", () => {
    expect(
      running().hook("SessionEnd").late(2_500).hook("UserPromptSubmit", { prompt: "late" }, 500).see().state,
    ).toBe("completed");
  });
});

test("an event of an unknown name makes the session known and moves nothing", () => {
  expect(
    tell()
      .hook("SomethingNew", { extra: { deep: [1] } })
      .see(),
  ).toMatchObject({ state: "active", activityPhase: "interactable" });
  expect(asking().hook("SomethingNew").see().activityPhase).toBe("waiting_permission");
});

describe("first seen in the middle", () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ["PreToolUse", call, "busy"],
    ["PostToolUse", call, "busy"],
    ["PermissionRequest", bash, "waiting_permission"],
    ["Notification", { notification_type: "permission_prompt" }, "waiting_permission"],
    ["Stop", {}, "interactable"],
    ["CwdChanged", {}, "interactable"],
    ["SubagentStart", child, "busy"],
  ];
  for (const [name, fields, phase] of cases) {
    test(`${name}: ${phase}`, () =>
      expect(tell().hook(name, fields).see().activityPhase).toBe(phase as "busy"));
  }
});
