/** What every hook event changes: the table in the design, row by row. */
import { describe, expect, test } from "bun:test";
import {
  askColour,
  bash,
  call,
  child,
  createAskingTimeline,
  createTimeline,
  type Timeline,
} from "./fixture.ts";

const running = () =>
  createTimeline().hook("SessionStart", { source: "startup" }).hook("UserPromptSubmit", { prompt: "go" });

describe("SessionStart", () => {
  test("makes the session known, with its turn over", () => {
    const snapshot = createTimeline()
      .hook("SessionStart", { source: "startup", model: "claude-opus-5-5" })
      .snapshot();
    expect(snapshot).toMatchObject({
      state: "active",
      activityPhase: "interactable",
      model: "claude-opus-5-5",
      cwd: "/home/dev/proj",
      project: "proj",
    });
  });
  for (const source of ["startup", "resume", "clear", "fork"]) {
    test(`${source} ends the turn and closes all asks`, () => {
      const snapshot = createAskingTimeline().hook("SessionStart", { source }).snapshot();
      expect(snapshot.activityPhase).toBe("interactable");
      expect(snapshot.asks).toEqual([]);
    });
  }
  test("compact leaves the context unknown", () => {
    const timeline = running().internal({ kind: "enriched", with: { context: { used: 9, window: 10 } } });
    expect(timeline.snapshot().context).toEqual({ used: 9, window: 10 });
    expect(timeline.hook("SessionStart", { source: "compact" }).snapshot().context).toBeNull();
  });
  test("compact does not change the phase", () => {
    expect(createAskingTimeline().hook("SessionStart", { source: "compact" }).snapshot().activityPhase).toBe(
      "waiting_permission",
    );
    expect(running().hook("SessionStart", { source: "compact" }).snapshot().activityPhase).toBe("busy");
  });
});

describe("UserPromptSubmit", () => {
  test("starts the turn and becomes the last prompt", () => {
    const snapshot = running().snapshot();
    expect(snapshot).toMatchObject({
      activityPhase: "busy",
      lastPrompt: "go",
      turnCount: 1,
      status: { kind: "working", detail: "Thinking" },
    });
  });
  test("closes the idle ask and older asks of the main thread, not a subagent's", () => {
    const timeline = createAskingTimeline()
      .hook("PreToolUse", { ...child, ...call, tool_use_id: "toolu_c" })
      .hook("PermissionRequest", { ...child, ...bash });
    const snapshot = timeline.hook("UserPromptSubmit", { prompt: "more" }).snapshot();
    expect(snapshot.asks.map((ask) => ask.agentId)).toEqual(["a1"]);
    const idle = running().hook("Stop").hook("Notification", { notification_type: "idle_prompt" });
    expect(idle.snapshot().asks.map((ask) => ask.kind)).toEqual(["idle"]);
    expect(idle.hook("UserPromptSubmit", { prompt: "more" }).snapshot().asks).toEqual([]);
  });
  describe("stamped after the first ask of its own turn, because its hook started late", () => {
    const start = () => createTimeline().hook("SessionStart", { source: "startup" });
    const question = { ...askColour, prompt_id: "p2" };

    for (const [name, gapMs] of [
      ["a few ms", 9],
      ["seconds", 4_000],
    ] as const) {
      test(`by ${name}, with prompt ids: the question stays, with its text and its id`, () => {
        const asking = start()
          .hook("UserPromptSubmit", { prompt: "first", prompt_id: "p1" })
          .hook("Stop", { prompt_id: "p1" })
          .hook("PreToolUse", { ...question, tool_use_id: "toolu_2" })
          .hook("PermissionRequest", question, 5);
        const before = asking.snapshot().asks;
        const snapshot = asking
          .hook("UserPromptSubmit", { prompt: "second", prompt_id: "p2" }, gapMs)
          .snapshot();
        expect(snapshot.asks).toEqual(before);
        expect(snapshot.asks).toMatchObject([{ kind: "question", summary: "Which colour?" }]);
        expect(snapshot).toMatchObject({ lastPrompt: "second", turnCount: 2 });
      });
    }
    test("without prompt ids: a question of the last second stays, an older one closes", () => {
      const promptAfter = (ms: number) =>
        start()
          .hook("PermissionRequest", askColour)
          .hook("UserPromptSubmit", { prompt: "go" }, ms)
          .snapshot();
      expect(promptAfter(9).asks).toHaveLength(1);
      expect(promptAfter(1_500).asks).toEqual([]);
    });
    test("an idle ask closes however new it is", () => {
      const idle = start().hook("Notification", { notification_type: "idle_prompt" });
      expect(idle.hook("UserPromptSubmit", { prompt: "go", prompt_id: "p1" }, 9).snapshot().asks).toEqual([]);
    });
    test("the tool that the turn already runs stays on display", () => {
      const snapshot = start()
        .hook("PreToolUse", { ...call, prompt_id: "p1" })
        .hook("UserPromptSubmit", { prompt: "go", prompt_id: "p1" }, 9)
        .snapshot();
      expect(snapshot.status).toEqual({ kind: "working", detail: "Bash" });
    });
  });
  test("queued during a turn, with the id of that turn, closes older asks", () => {
    const snapshot = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go", prompt_id: "p1" })
      .hook("PermissionRequest", { ...bash, prompt_id: "p1" })
      .hook("UserPromptSubmit", { prompt: "and then", prompt_id: "p1" })
      .snapshot();
    expect(snapshot.asks).toEqual([]);
  });
  for (const prompt of [
    "<task-notification>\n<task-id>a1</task-id>",
    'Background agent "Explore" was stopped by the user.',
  ]) {
    test(`a machine-made prompt is not the user's last prompt: ${prompt.slice(0, 19)}`, () => {
      const snapshot = running().hook("Stop").hook("UserPromptSubmit", { prompt }).snapshot();
      expect(snapshot).toMatchObject({ activityPhase: "busy", lastPrompt: "go", turnCount: 1 });
    });
  }
});

describe("PreToolUse", () => {
  test("starts the turn and shows the tool", () => {
    expect(createTimeline().hook("PreToolUse", call).snapshot()).toMatchObject({
      activityPhase: "busy",
      status: { kind: "working", detail: "Bash" },
    });
  });
  test("of a subagent does not start the main turn", () => {
    const snapshot = createTimeline()
      .hook("SessionStart", { source: "startup" })
      .hook("PreToolUse", { ...child, ...call })
      .snapshot();
    expect(snapshot.children).toMatchObject([
      { agentId: "a1", type: "Explore", state: "running", detail: "Bash" },
    ]);
    expect(snapshot.status).toEqual({ kind: "working", detail: "Explore" });
    expect(
      createTimeline()
        .hook("SessionStart", { source: "startup" })
        .hook("PreToolUse", { ...child, ...call })
        .hook("SubagentStop", child)
        .snapshot().activityPhase,
    ).toBe("interactable");
  });
  test("that comes after its PermissionRequest is matched, so PostToolUse closes the ask", () => {
    const timeline = running().hook("PermissionRequest", bash).hook("PreToolUse", call, 50);
    expect(
      timeline.hook("PostToolUse", { ...call, tool_input: { command: "touch y" } }).snapshot(),
    ).toMatchObject({
      activityPhase: "busy",
      asks: [],
    });
  });
  test("two equal calls are matched with a request each", () => {
    const timeline = running()
      .hook("PreToolUse", call)
      .hook("PermissionRequest", bash)
      .hook("PreToolUse", { ...call, tool_use_id: "toolu_2" })
      .hook("PermissionRequest", bash, 2_000);
    expect(timeline.snapshot().asks).toHaveLength(2);
    expect(
      timeline
        .hook("PostToolUse", { ...call, tool_use_id: "toolu_2" })
        .snapshot()
        .asks.map((ask) => ask.id.slice(-1)),
    ).toEqual(["1"]);
  });
});

describe("PermissionRequest", () => {
  test("opens an ask with its tool and summary", () => {
    const snapshot = createAskingTimeline().snapshot();
    expect(snapshot.activityPhase).toBe("waiting_permission");
    expect(snapshot.status).toEqual({ kind: "attention", detail: "Permission for Bash" });
    expect(snapshot.asks).toMatchObject([
      { kind: "permission", tool: "Bash", summary: "touch x", agentId: null, answerable: false },
    ]);
  });
  test("of AskUserQuestion is a question with its options", () => {
    const snapshot = running().hook("PermissionRequest", askColour).snapshot();
    expect(snapshot).toMatchObject({
      activityPhase: "waiting_question",
      status: { kind: "attention", detail: "Question: Which colour?" },
    });
    expect(snapshot.asks).toMatchObject([
      { kind: "question", summary: "Which colour?", options: ["Red", "Blue"] },
    ]);
  });
  test("of ExitPlanMode is a plan", () => {
    const snapshot = running()
      .hook("PermissionRequest", { tool_name: "ExitPlanMode", tool_input: { plan: "# Plan\n1. Do a" } })
      .snapshot();
    expect(snapshot).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ kind: "plan", summary: "# Plan 1. Do a" }],
    });
  });
  test("names the ask that a reminder opened, and keeps its id", () => {
    const timeline = running().hook("Notification", {
      notification_type: "permission_prompt",
      message: "Claude needs your permission",
    });
    const [unnamed] = timeline.snapshot().asks;
    expect(unnamed).toMatchObject({ kind: "permission", tool: null });
    expect(timeline.hook("PermissionRequest", bash).snapshot().asks).toMatchObject([
      { id: unnamed?.id, tool: "Bash", summary: "touch x" },
    ]);
  });
  test("the oldest ask decides the phase", () => {
    const timeline = running()
      .hook("PermissionRequest", askColour)
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash });
    expect(timeline.snapshot().activityPhase).toBe("waiting_question");
  });
});

describe("PostToolUse, PostToolUseFailure, PermissionDenied", () => {
  for (const name of ["PostToolUse", "PostToolUseFailure", "PermissionDenied"]) {
    test(`${name} closes the ask of its tool call, and the turn goes on`, () => {
      expect(createAskingTimeline().hook(name, call).snapshot()).toMatchObject({
        activityPhase: "busy",
        asks: [],
        status: { kind: "working", detail: "Thinking" },
      });
    });
  }
  test("the end of another call leaves the ask open", () => {
    expect(
      createAskingTimeline()
        .hook("PostToolUse", { ...call, tool_use_id: "toolu_9" })
        .snapshot().activityPhase,
    ).toBe("waiting_permission");
  });
  test("of a subagent never starts the main turn", () => {
    const timeline = createTimeline()
      .hook("SessionStart", { source: "startup" })
      .hook("PostToolUse", { ...child, ...call })
      .hook("SubagentStop", child);
    expect(timeline.snapshot().activityPhase).toBe("interactable");
  });
});

test("PostToolBatch closes older asks of the main thread", () => {
  expect(createAskingTimeline().hook("PostToolBatch").snapshot()).toMatchObject({
    activityPhase: "busy",
    asks: [],
  });
});

test("Elicitation opens and ElicitationResult closes an ask", () => {
  const timeline = running().hook("Elicitation", { mcp_server_name: "fake", message: "Your name?" });
  expect(timeline.snapshot()).toMatchObject({
    activityPhase: "waiting_question",
    asks: [{ kind: "elicitation", summary: "Your name?" }],
    status: { kind: "attention", detail: "MCP input: Your name?" },
  });
  expect(timeline.hook("ElicitationResult", { mcp_server_name: "fake" }).snapshot()).toMatchObject({
    activityPhase: "busy",
    asks: [],
  });
});

test("the end of the main turn does not close an elicitation of a subagent", () => {
  const timeline = running().hook("PreToolUse", {
    ...child,
    tool_name: "mcp__fake__ask",
    tool_input: {},
    tool_use_id: "toolu_m",
  });
  timeline
    .hook("Elicitation", { mcp_server_name: "fake", message: "Your name?" })
    .hook("Stop", { background_tasks: [{ id: "a1", type: "subagent", status: "running" }] }, 30);
  expect(timeline.snapshot()).toMatchObject({
    activityPhase: "waiting_question",
    asks: [{ kind: "elicitation", agentId: "a1" }],
  });
});

describe("Notification", () => {
  for (const type of ["permission_prompt", "agent_needs_input"]) {
    test(`${type} opens an unnamed ask`, () => {
      expect(running().hook("Notification", { notification_type: type }).snapshot()).toMatchObject({
        activityPhase: "waiting_permission",
        asks: [{ tool: null }],
      });
    });
    test(`${type} adds nothing if an ask is open`, () => {
      expect(
        createAskingTimeline().hook("Notification", { notification_type: type }).snapshot().asks,
      ).toHaveLength(1);
      expect(
        running()
          .hook("PermissionRequest", askColour)
          .hook("Notification", { notification_type: type })
          .snapshot().asks,
      ).toHaveLength(1);
    });
    test(`${type} is ignored if the status file contradicts it`, () => {
      expect(
        running().file("busy").hook("Notification", { notification_type: type }).snapshot(),
      ).toMatchObject({
        activityPhase: "busy",
        asks: [],
      });
    });
  }
  test("its ask is named after the only running tool call, and ends with the next tool event", () => {
    const timeline = running()
      .hook("PreToolUse", call)
      .hook("Notification", { notification_type: "permission_prompt" }, 6_000);
    expect(timeline.snapshot().asks).toMatchObject([{ tool: "Bash", summary: "touch x" }]);
    expect(timeline.hook("PreToolUse", { ...call, tool_use_id: "toolu_2" }).snapshot().asks).toEqual([]);
  });
  for (const type of ["elicitation_dialog", "elicitation_url_dialog"]) {
    test(`${type} opens an elicitation ask`, () => {
      expect(running().hook("Notification", { notification_type: type }).snapshot().asks).toMatchObject([
        { kind: "elicitation" },
      ]);
    });
  }
  test("idle_prompt opens an idle ask: phase waiting_question, status idle", () => {
    const snapshot = running()
      .hook("Stop")
      .hook("Notification", { notification_type: "idle_prompt" }, 60_000)
      .snapshot();
    expect(snapshot).toMatchObject({
      activityPhase: "waiting_question",
      status: { kind: "idle" },
      asks: [{ kind: "idle" }],
    });
  });
  test("idle_prompt never outranks a blocking ask", () => {
    expect(
      createAskingTimeline().hook("Notification", { notification_type: "idle_prompt" }).snapshot().asks,
    ).toMatchObject([{ kind: "permission" }]);
  });
  for (const type of ["auth_success", "elicitation_response", "something_new", undefined]) {
    test(`${type} changes nothing`, () => {
      expect(running().hook("Notification", { notification_type: type }).snapshot()).toMatchObject({
        activityPhase: "busy",
        asks: [],
      });
    });
  }
});

describe("Stop", () => {
  test("of the turn before, stamped after the first ask of the next one, leaves that ask open", () => {
    const request = { ...bash, prompt_id: "p2" };
    const stopAfter = (ms: number) =>
      running().hook("PermissionRequest", request).hook("Stop", { prompt_id: "p1" }, ms).snapshot();
    expect(stopAfter(9).asks).toHaveLength(1);
    expect(stopAfter(1_500).asks).toEqual([]);
  });
  test("ends the turn, closes the asks of the main thread and keeps the last response", () => {
    expect(createAskingTimeline().hook("Stop", { last_assistant_message: "Done." }).snapshot()).toMatchObject(
      {
        activityPhase: "interactable",
        asks: [],
        lastResponse: "Done.",
        status: { kind: "idle", detail: null },
      },
    );
  });
  const task = { id: "a1", type: "subagent", status: "running", description: "look around" };
  test("never closes the ask of a subagent", () => {
    const timeline = running()
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash })
      .hook("Stop", { background_tasks: [task] });
    expect(timeline.snapshot()).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ agentId: "a1" }],
    });
  });
  test("keeps the session busy until its running child ends", () => {
    const timeline = running()
      .hook("SubagentStart", child)
      .hook("Stop", { background_tasks: [task] });
    expect(timeline.snapshot().activityPhase).toBe("busy");
    expect(timeline.hook("SubagentStop", child).snapshot().activityPhase).toBe("interactable");
  });
  test("background_tasks adds an unknown child, and never revives an ended one", () => {
    expect(
      running()
        .hook("Stop", { background_tasks: [task] })
        .snapshot().children,
    ).toMatchObject([{ agentId: "a1", state: "running" }]);
    const ended = running()
      .hook("SubagentStart", child)
      .hook("SubagentStop", child)
      .hook("Stop", { background_tasks: [task] });
    expect(ended.snapshot()).toMatchObject({ activityPhase: "interactable", children: [{ state: "ended" }] });
  });
  test("ends a child that background_tasks no longer lists, with its asks", () => {
    const timeline = running()
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash })
      .hook("Stop", { background_tasks: [] });
    expect(timeline.snapshot()).toMatchObject({ activityPhase: "interactable", asks: [] });
  });
  test("a background shell does not keep the session busy", () => {
    const snapshot = running()
      .hook("Stop", {
        background_tasks: [{ id: "b1", type: "shell", status: "running", description: "npm run dev" }],
      })
      .snapshot();
    expect(snapshot).toMatchObject({
      activityPhase: "interactable",
      status: { kind: "idle", detail: "background: npm run dev" },
    });
  });
  test("a tool that ends just after it does not start the turn again", () => {
    expect(
      running()
        .hook("PreToolUse", call)
        .hook("Stop")
        .hook("PostToolUse", call, 40)
        .hook("PostToolBatch", {}, 40)
        .snapshot().activityPhase,
    ).toBe("interactable");
  });
});

test("StopFailure ends the turn with its error", () => {
  expect(running().hook("StopFailure", { error: "rate_limit" }).snapshot()).toMatchObject({
    activityPhase: "interactable",
    status: { kind: "idle", detail: "rate_limit" },
    error: "rate_limit",
  });
});

test("a failed turn stays failed until the next prompt", () => {
  const timeline = running()
    .hook("StopFailure", { error: "rate_limit" })
    .wait(60 * 60_000);
  expect(timeline.snapshot()).toMatchObject({ state: "idle", error: "rate_limit" });
  expect(timeline.hook("UserPromptSubmit", { prompt: "again" }).snapshot().error).toBeNull();
});

test("a request with several questions shows how many", () => {
  const [question] = askColour.tool_input.questions;
  const both = { questions: [question, { question: "Which size?", options: [] }] };
  const timeline = running().hook("PermissionRequest", { ...askColour, tool_input: both });
  expect(timeline.snapshot()).toMatchObject({
    status: { kind: "attention", detail: "Question 1 of 2: Which colour?" },
    asks: [{ summary: "Which colour?", options: ["Red", "Blue"], questions: 2 }],
  });
  expect(running().hook("PermissionRequest", askColour).snapshot().asks[0]).not.toHaveProperty("questions");
});

test("a background task is shown as long as it runs", () => {
  const background_tasks = [{ id: "b1", type: "local_bash", status: "running", description: "npm run dev" }];
  const timeline = running().hook("Stop", { background_tasks });
  const { status } = timeline.snapshot();
  expect(status.detail).toStartWith("background: ");
  expect(timeline.wait(10 * 60_000).snapshot()).toMatchObject({ state: "idle", status });
});

describe("SubagentStart, SubagentStop", () => {
  test("a child appears and ends, and its asks with it", () => {
    const timeline = running().hook("SubagentStart", child);
    expect(timeline.snapshot().children).toMatchObject([
      { agentId: "a1", type: "Explore", state: "running" },
    ]);
    timeline.hook("PermissionRequest", { ...child, ...bash });
    expect(timeline.snapshot().activityPhase).toBe("waiting_permission");
    expect(timeline.hook("SubagentStop", child).snapshot()).toMatchObject({
      activityPhase: "busy",
      asks: [],
      children: [{ state: "ended" }],
    });
  });
  test("the stop of a child that never started (/compact) adds no child", () => {
    expect(running().hook("SubagentStop", { agent_id: "x", agent_type: "" }).snapshot().children).toEqual([]);
  });
  test("a request stamped after the end of its child opens no ask", () => {
    expect(
      running()
        .hook("SubagentStart", child)
        .hook("SubagentStop", child)
        .hook("PermissionRequest", { ...child, ...bash }, 50)
        .snapshot().asks,
    ).toEqual([]);
  });
});

describe("PreCompact, PostCompact, Setup", () => {
  test("the session works while it compacts, and then is as before", () => {
    const timeline = running().hook("Stop").hook("PreCompact", { trigger: "manual" });
    expect(timeline.snapshot()).toMatchObject({
      activityPhase: "busy",
      status: { kind: "working", detail: "Compacting" },
    });
    expect(timeline.hook("PostCompact").snapshot().activityPhase).toBe("interactable");
    const midTurn = running()
      .hook("PreToolUse", call)
      .hook("PreCompact", { trigger: "auto" })
      .hook("PostCompact");
    expect(midTurn.snapshot()).toMatchObject({ activityPhase: "busy", status: { detail: "Bash" } });
  });
  test("Setup is work", () => {
    expect(createTimeline().hook("Setup", { trigger: "init" }).snapshot().status).toEqual({
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
      const timeline = running().hook("PreToolUse", {
        tool_name: "Skill",
        tool_input,
        tool_use_id: "toolu_s",
      });
      expect(timeline.snapshot().currentSkill).toBe("spec");
      const call = {
        name: "spec",
        triggerCommand: "/spec docs/x.md",
        targetDocPath: "docs/x.md",
        turnSeq: 1,
      };
      expect(timeline.session().skill).toMatchObject({ ...call, phase: "in_progress" });
      expect(
        timeline.hook("PostToolUse", { tool_name: "Skill", tool_input, tool_use_id: "toolu_s" }).snapshot()
          .currentSkill,
      ).toBeNull();
      expect(timeline.session().skill).toMatchObject({ ...call, phase: "completed" });
    });
  }
  test("a failed one is completed too", () => {
    const skill = { tool_name: "Skill", tool_input: { skill: "spec" }, tool_use_id: "toolu_s" };
    const timeline = running().hook("PreToolUse", skill).hook("PostToolUseFailure", skill);
    expect(timeline.snapshot().currentSkill).toBeNull();
    expect(timeline.session().skill).toMatchObject({ name: "spec", phase: "completed", turnSeq: 1 });
  });
});

describe("tasks", () => {
  const create = (n: number) => ({ tool_name: "TaskCreate", tool_input: {}, tool_use_id: `toolu_c${n}` });
  const update = (taskId: string, status: string) => ({
    tool_name: "TaskUpdate",
    tool_input: { taskId, status },
    tool_use_id: `toolu_${taskId}${status}`,
  });
  const run = (timeline: Timeline, fields: Record<string, unknown>, end = "PostToolUse") =>
    timeline.hook("PreToolUse", fields).hook(end, fields);

  test("none are known until one is created", () => {
    expect(running().snapshot().tasks).toBeNull();
  });
  test("created and completed ones are counted once, with the events of the tasks", () => {
    const timeline = running();
    for (const task_id of ["1", "2", "3"]) {
      timeline.hook("PreToolUse", create(Number(task_id)));
      timeline.hook("TaskCreated", { task_id }).hook("PostToolUse", create(Number(task_id)));
    }
    expect(timeline.snapshot().tasks).toMatchObject({ done: 0, total: 3 });
    run(timeline, update("1", "in_progress"));
    run(timeline.hook("TaskCompleted", { task_id: "1" }), update("1", "completed"));
    expect(timeline.snapshot().tasks).toMatchObject({ done: 1, total: 3 });
    expect(run(timeline, update("2", "deleted")).snapshot().tasks).toMatchObject({ done: 1, total: 2 });
  });
  test("the calls alone are enough", () => {
    const timeline = run(run(running(), create(1)), create(2));
    expect(timeline.snapshot().tasks).toMatchObject({ done: 0, total: 2 });
    run(run(timeline, update("2", "completed")), update("1", "completed"));
    expect(timeline.snapshot().tasks).toMatchObject({ done: 2, total: 2 });
  });
  test("the events alone are enough", () => {
    const timeline = running().hook("TaskCreated", { task_id: "1" }).hook("TaskCreated", { task_id: "2" });
    expect(timeline.hook("TaskCompleted", { task_id: "2" }).snapshot().tasks).toMatchObject({
      done: 1,
      total: 2,
    });
  });
  test("each has its subject and state, although only the event names its id", () => {
    const named = (subject: string) => ({ ...create(subject.length), tool_input: { subject } });
    const timeline = run(run(running(), named("Write it")), named("Read it again"));
    timeline
      .hook("TaskCreated", { task_id: "2", task_subject: "Read it again" })
      .hook("TaskCreated", { task_id: "1", task_subject: "Write it" });
    run(run(timeline, update("1", "completed")), update("2", "in_progress"));
    expect(timeline.snapshot().tasks?.list).toEqual([
      { subject: "Write it", status: "completed" },
      { subject: "Read it again", status: "in_progress" },
    ]);
  });
  test("a call that failed has created none", () => {
    expect(run(running(), create(1), "PostToolUseFailure").snapshot().tasks).toBeNull();
  });
});

describe("evidence", () => {
  test("the agent's report that a turn is over proves it; a running turn could have been interrupted", () => {
    expect(createTimeline().hook("SessionStart").snapshot().evidence).toBe("proven");
    expect(running().snapshot().evidence).toBe("inferred");
    expect(running().hook("Stop").snapshot().evidence).toBe("proven");
    expect(createAskingTimeline().snapshot().evidence).toBe("inferred");
    expect(createAskingTimeline().hook("SessionEnd").snapshot().evidence).toBe("proven");
  });
  test("a status file that agrees proves a turn and an ask", () => {
    expect(running().file("busy").snapshot().evidence).toBe("proven");
    expect(createAskingTimeline().file("waiting", "permission prompt").snapshot().evidence).toBe("proven");
    expect(createAskingTimeline().file("busy", null, 0).snapshot().evidence).toBe("inferred");
  });
});

describe("what hooks say besides", () => {
  test("how it started, its permission mode and why it ended", () => {
    const timeline = createTimeline().hook("SessionStart", { source: "resume", permission_mode: "plan" });
    expect(timeline.snapshot()).toMatchObject({
      startSource: "resume",
      permissionMode: "plan",
      endReason: null,
    });
    timeline.hook("UserPromptSubmit", { prompt: "x", permission_mode: "acceptEdits" });
    timeline.hook("PreToolUse", { ...child, ...call, permission_mode: "default" });
    expect(timeline.snapshot().permissionMode).toBe("acceptEdits");
    timeline.hook("SessionStart", { source: "compact" });
    expect(timeline.hook("SessionEnd", { reason: "clear" }).snapshot()).toMatchObject({
      startSource: "resume",
      endReason: "clear",
    });
  });
  test("a subagent's name and transcript", () => {
    const timeline = running().hook("SubagentStart", { ...child, agent_name: "scout" });
    expect(timeline.snapshot().children).toMatchObject([
      { agentId: "a1", name: "scout", type: "Explore", state: "running", endedAt: null },
    ]);
    timeline.hook("SubagentStop", { ...child, agent_transcript_path: "/t/agent-a1.jsonl" });
    const [ended] = timeline.snapshot().children;
    expect(ended).toMatchObject({ name: "scout", state: "ended", transcriptPath: "/t/agent-a1.jsonl" });
    expect(ended?.endedAt).toBeGreaterThan(ended?.startedAt ?? 0);
  });
});

test("an answer through beckon closes only that ask", () => {
  const timeline = createAskingTimeline().hook("PermissionRequest", { ...child, ...bash });
  const [, other] = timeline.snapshot().asks;
  expect(
    timeline
      .internal({ kind: "ask-answered", request: "event-4" })
      .snapshot()
      .asks.map((ask) => ask.id),
  ).toEqual([other?.id ?? ""]);
});

test("a status file change about a dialog answered through beckon does not close the next ask", () => {
  const withTwoAsks = () =>
    createAskingTimeline()
      .hook("PreToolUse", { ...call, tool_use_id: "toolu_2" })
      .hook("PermissionRequest", { ...bash, prompt_id: "p" }, 2_000)
      .file("waiting", "permission prompt", 20);
  const answered = withTwoAsks()
    .internal({ kind: "ask-answered", request: "event-4" })
    .file("busy", null, 90);
  expect(answered.snapshot().asks).toHaveLength(1);
  expect(withTwoAsks().file("busy", null, 90).snapshot().asks).toHaveLength(1);
});

test("a status file that says waiting just after an answer opens no ask, unless it stays so", () => {
  const answered = () =>
    createAskingTimeline()
      .internal({ kind: "ask-answered", request: "event-4" })
      .file("waiting", "permission prompt", 500);
  expect(answered().wait(900).snapshot().asks).toEqual([]);
  expect(answered().file("busy", null, 950).wait(2_000).snapshot().asks).toEqual([]);
  expect(answered().wait(1_500).snapshot().asks).toHaveLength(1);
});

describe("the end of a session", () => {
  test("SessionEnd completes the session: no phase, no asks, no running children", () => {
    const snapshot = createAskingTimeline()
      .hook("SubagentStart", child)
      .hook("SessionEnd", { reason: "prompt_input_exit" })
      .snapshot();
    expect(snapshot).toMatchObject({
      state: "completed",
      activityPhase: null,
      asks: [],
      children: [{ state: "ended" }],
      status: { kind: "idle" },
    });
  });
  test("a process that is gone completes the session", () => {
    expect(createAskingTimeline().internal({ kind: "gone", why: "process" }).snapshot()).toMatchObject({
      state: "completed",
      activityPhase: null,
    });
  });
  test("a later event revives it; one that only trails the end does not", () => {
    expect(running().hook("SessionEnd").hook("Stop", {}, 50).snapshot().state).toBe("completed");
    expect(
      running().hook("SessionEnd").hook("SessionStart", { source: "resume" }, 50).snapshot(),
    ).toMatchObject({
      state: "active",
      activityPhase: "interactable",
    });
    expect(running().hook("SessionEnd").hook("PreToolUse", call, 5_000).snapshot()).toMatchObject({
      state: "active",
      activityPhase: "busy",
    });
  });
  test("after /clear, a status file that still says busy under the old id does not revive it", () => {
    const cleared = running().hook("SessionEnd", { reason: "clear" }).file("busy", null, 20);
    expect(cleared.snapshot()).toMatchObject({ state: "completed", died: false });
    const gone = cleared.internal({ kind: "gone", why: "file" });
    expect(gone.snapshot()).toMatchObject({ state: "completed", died: false });
  });
  test("an event older than the end does not revive it", () => {
    expect(
      running().hook("SessionEnd").late(2_500).hook("UserPromptSubmit", { prompt: "late" }, 500).snapshot()
        .state,
    ).toBe("completed");
  });
});

test("an unknown event makes the session known and changes nothing else", () => {
  expect(
    createTimeline()
      .hook("SomethingNew", { extra: { deep: [1] } })
      .snapshot(),
  ).toMatchObject({ state: "active", activityPhase: "interactable" });
  expect(createAskingTimeline().hook("SomethingNew").snapshot().activityPhase).toBe("waiting_permission");
});

describe("the first event that beckon sees of a session", () => {
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
      expect(createTimeline().hook(name, fields).snapshot().activityPhase).toBe(phase as "busy"));
  }
});
