/** What the agent's status file changes, at once and after settling. */
import { describe, expect, test } from "bun:test";
import { type AgentEvent, createInternalEvent } from "../../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import { bash, call, child, createAskingTimeline, createTimeline } from "./fixture.ts";

const running = () =>
  createTimeline()
    .hook("SessionStart", { source: "startup" })
    .hook("UserPromptSubmit", { prompt: "go" })
    .file("busy", null, 50);

test("a session that was running before beckon started is shown at once, by its status file", () => {
  expect(createTimeline().file("busy").snapshot()).toMatchObject({ state: "active", activityPhase: "busy" });
  expect(createTimeline().file("idle").snapshot().activityPhase).toBe("interactable");
  expect(createTimeline().file("waiting", "permission prompt").snapshot().activityPhase).toBe(
    "waiting_permission",
  );
  expect(createTimeline().file("waiting", "input needed").snapshot().activityPhase).toBe("waiting_question");
});

describe("whether a session is attended", () => {
  const about = (attended: boolean | null) => ({ agent: "claude", sessionId: "bg", attended });
  const hook = (t: number, attended = false): AgentEvent =>
    createInternalEvent(`h${t}`, { at: t, t }, about(attended), { kind: "no-change" });
  const file = (t: number, attended: boolean | null): AgentEvent =>
    createInternalEvent(`f${t}`, { at: t, t }, about(attended), {
      kind: "status",
      status: "busy",
      waitingFor: null,
      title: null,
    });
  const attendedAfter = (...events: AgentEvent[]) =>
    events.reduce<EventWindow | undefined>((window, event) => reduce(window, event), undefined)?.session
      .attended;

  test("the status file decides, also for a session in the background whose hooks say it is not", () => {
    expect(attendedAfter(hook(1))).toBe(false);
    expect(attendedAfter(hook(1), file(2, true))).toBe(true);
    expect(attendedAfter(file(1, true), hook(2))).toBe(true);
    expect(attendedAfter(file(1, false), hook(2))).toBe(false);
    expect(attendedAfter(hook(1), file(2, null), hook(3, true))).toBe(true);
  });
});

describe("an ask answered in the terminal", () => {
  const dialog = () =>
    running()
      .hook("PreToolUse", call)
      .hook("PermissionRequest", bash, 100)
      .file("waiting", "permission prompt", 20);
  test("with Esc or No sends no hook: the file says idle, which closes the ask and ends the turn", () => {
    expect(dialog().file("idle").snapshot()).toMatchObject({ activityPhase: "interactable", asks: [] });
  });
  test("with yes is closed when the file says busy, before PostToolUse", () => {
    expect(dialog().file("busy").snapshot()).toMatchObject({ activityPhase: "busy", asks: [] });
  });
  test("leaves a second dialog that opened meanwhile", () => {
    const timeline = dialog()
      .hook("PermissionRequest", { ...child, tool_name: "Write", tool_input: { file_path: "b" } })
      .file("busy")
      .file("waiting", "permission prompt", 20);
    expect(timeline.snapshot().asks).toMatchObject([{ tool: "Write" }]);
  });
});

test("an ask does not flicker if the file reports its dialog 0.7 s after the hook (loaded machine)", () => {
  const timeline = running().hook("PermissionRequest", bash, 100).wait(700);
  const [ask] = timeline.snapshot().asks;
  expect(ask).toMatchObject({ tool: "Bash" });
  expect(timeline.file("waiting", "permission prompt", 0).snapshot().asks).toMatchObject([{ id: ask?.id }]);
});

describe("waiting", () => {
  test("opens an unnamed ask that the request names: one ask, one id", () => {
    const timeline = running().file("waiting", "permission prompt");
    const [unnamed] = timeline.snapshot().asks;
    expect(unnamed).toMatchObject({ kind: "permission", tool: null });
    expect(timeline.hook("PermissionRequest", bash, 100).snapshot().asks).toMatchObject([
      { id: unnamed?.id, tool: "Bash" },
    ]);
  });
  test("if file and request are a few ms apart, the ask is open since the earlier, in either order", () => {
    const file = running().file("waiting", "permission prompt", 0).hook("PermissionRequest", bash, 6);
    const hook = running().hook("PermissionRequest", bash, 0).file("waiting", "permission prompt", 6);
    for (const timeline of [file, hook]) {
      const [ask] = timeline.snapshot().asks;
      // After a restart the clock that orders events can be 10 ms off.
      const last = timeline.events.slice(0, -2).reduce(reduce, undefined);
      const [first, second] = timeline.events.slice(-2);
      if (!first || !second) throw new Error("expected two events");
      const reordered = reduce(reduce(last, second), { ...first, t: first.t + 10 });
      expect(reordered.session.asks).toMatchObject([{ at: ask?.openedAt, tool: "Bash", from: "hook" }]);
    }
  });
  test("a request that comes later does not change the time of the ask: its alert is shown already", () => {
    const timeline = running().file("waiting", "permission prompt");
    const [unnamed] = timeline.snapshot().asks;
    const named = timeline.hook("PermissionRequest", bash, 700).snapshot().asks;
    expect(named).toMatchObject([{ tool: "Bash", openedAt: unnamed?.openedAt }]);
  });
  test("without a request, the only running tool call names the ask", () => {
    const timeline = running().hook("PreToolUse", call).file("waiting", "dialog open");
    expect(timeline.wait(400).snapshot().asks).toMatchObject([{ tool: "Bash", summary: "touch x" }]);
  });
  test("a dialog that the user opened is not an ask", () => {
    const timeline = createTimeline()
      .hook("SessionStart", { source: "startup" })
      .file("idle")
      .file("busy")
      .file("waiting", "dialog open", 50);
    expect(timeline.wait(2_000).snapshot().asks).toEqual([]);
  });
  test("a late prompt hook does not close the dialog while the file says waiting", () => {
    const timeline = createTimeline()
      .hook("SessionStart", { source: "startup" })
      .file("busy")
      .file("waiting", "input needed", 100)
      .hook("UserPromptSubmit", { prompt: "go" }, 100);
    expect(timeline.wait(500).snapshot().activityPhase).toBe("waiting_question");
  });
  test("a file that lags behind does not reopen a dialog that a hook closed", () => {
    const timeline = running()
      .hook("PermissionRequest", bash)
      .file("waiting", "permission prompt", 20)
      .hook("PostToolBatch");
    expect(timeline.wait(400).snapshot().asks).toEqual([]);
    expect(timeline.file("busy", null, 100).wait(2_000).snapshot()).toMatchObject({
      activityPhase: "busy",
      asks: [],
    });
  });
  test("if the file still says waiting after a second, it is another dialog", () => {
    const timeline = running()
      .hook("PermissionRequest", bash)
      .file("waiting", "permission prompt", 20)
      .hook("PostToolBatch");
    expect(timeline.wait(1_200).snapshot().activityPhase).toBe("waiting_permission");
  });
});

describe("settle", () => {
  test("a prompt that another hook blocked: busy for a second, then idle as the file says", () => {
    const timeline = createTimeline()
      .hook("SessionStart", { source: "startup" })
      .file("idle")
      .hook("UserPromptSubmit", { prompt: "no" });
    expect(timeline.wait(999).snapshot().activityPhase).toBe("busy");
    expect(timeline.wait(1).snapshot().activityPhase).toBe("interactable");
  });
  test("after a Stop that another hook blocked, the turn goes on", () => {
    const timeline = running().hook("Stop");
    expect(timeline.snapshot().activityPhase).toBe("interactable");
    expect(timeline.wait(1_000).snapshot().activityPhase).toBe("busy");
  });
  test("a request is hidden until its dialog is on the screen", () => {
    const timeline = running()
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash });
    expect(timeline.snapshot().activityPhase).toBe("waiting_permission");
    expect(timeline.wait(1_000).snapshot()).toMatchObject({ activityPhase: "busy", asks: [] });
    expect(timeline.file("waiting", "permission prompt").snapshot()).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ tool: "Bash", agentId: "a1" }],
    });
  });
  test("a request stamped after its dialog was dismissed is dropped after settling", () => {
    const timeline = running()
      .file("waiting", "permission prompt")
      .file("idle", null, 80)
      .hook("PermissionRequest", bash, 40);
    expect(timeline.wait(300).snapshot()).toMatchObject({ activityPhase: "interactable", asks: [] });
  });
  test("idle does not close the idle ask", () => {
    const timeline = running()
      .hook("Stop")
      .file("idle", null, 50)
      .hook("Notification", { notification_type: "idle_prompt" }, 60_000);
    expect(timeline.wait(1_000).snapshot()).toMatchObject({
      activityPhase: "waiting_question",
      asks: [{ kind: "idle" }],
    });
  });
  test("subagents that were killed without a hook end when the file says idle", () => {
    const timeline = running()
      .hook("SubagentStart", child)
      .hook("Stop", { background_tasks: [{ id: "a1", type: "subagent", status: "running" }] });
    expect(timeline.wait(1_000).snapshot().activityPhase).toBe("busy");
    expect(timeline.file("idle").snapshot()).toMatchObject({
      activityPhase: "interactable",
      children: [{ agentId: "a1", state: "ended" }],
    });
  });
  test("shell means that the turn is over", () => {
    expect(running().file("shell").wait(500).snapshot().activityPhase).toBe("interactable");
  });
});

test("a status file that is gone completes the session; a later write revives it", () => {
  const timeline = running().internal({ kind: "gone", why: "file" });
  expect(timeline.snapshot().state).toBe("completed");
  expect(timeline.file("idle", null, 20).snapshot()).toMatchObject({
    state: "active",
    activityPhase: "interactable",
  });
  expect(
    timeline.hook("SessionEnd", {}, 30).internal({ kind: "gone", why: "file" }, 20).wait(2_000).snapshot()
      .state,
  ).toBe("completed");
});

test("an interruption in the transcript ends the turn and closes its ask", () => {
  expect(createAskingTimeline().internal({ kind: "interrupted" }).snapshot()).toMatchObject({
    activityPhase: "interactable",
    asks: [],
  });
});

test("an interruption older than the turn does not end it", () => {
  const timeline = createTimeline()
    .hook("UserPromptSubmit", { prompt: "go" })
    .hook("Stop")
    .hook("UserPromptSubmit", { prompt: "again" });
  expect(timeline.late(1_500).internal({ kind: "interrupted" }).snapshot().activityPhase).toBe("busy");
});
