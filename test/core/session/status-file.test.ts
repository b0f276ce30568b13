/** What the CLI's own status file does to a session, and when its word stands. */
import { describe, expect, test } from "bun:test";
import { type AgentEvent, createInternalEvent } from "../../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import { asking, bash, call, child, tell } from "./fixture.ts";

const running = () =>
  tell()
    .hook("SessionStart", { source: "startup" })
    .hook("UserPromptSubmit", { prompt: "go" })
    .file("busy", null, 50);

test("a session that was running before beckon is there at once, with what its file says", () => {
  expect(tell().file("busy").see()).toMatchObject({ state: "active", activityPhase: "busy" });
  expect(tell().file("idle").see().activityPhase).toBe("interactable");
  expect(tell().file("waiting", "permission prompt").see().activityPhase).toBe("waiting_permission");
  expect(tell().file("waiting", "input needed").see().activityPhase).toBe("waiting_question");
});

describe("whether somebody sits there", () => {
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
  const seen = (...events: AgentEvent[]) =>
    events.reduce<EventWindow | undefined>((story, event) => reduce(story, event), undefined)?.session
      .attended;

  test("the file says, also for a session sent to the background, whose hooks say no", () => {
    expect(seen(hook(1))).toBe(false);
    expect(seen(hook(1), file(2, true))).toBe(true);
    expect(seen(file(1, true), hook(2))).toBe(true);
    expect(seen(file(1, false), hook(2))).toBe(false);
    expect(seen(hook(1), file(2, null), hook(3, true))).toBe(true);
  });
});

describe("an ask answered in the terminal", () => {
  const dialog = () =>
    running()
      .hook("PreToolUse", call)
      .hook("PermissionRequest", bash, 100)
      .file("waiting", "permission prompt", 20);
  test("with Esc or No (no hook at all): the file says idle, the ask is gone, the turn over", () => {
    expect(dialog().file("idle").see()).toMatchObject({ activityPhase: "interactable", asks: [] });
  });
  test("with yes: the file says busy, the ask is gone before PostToolUse", () => {
    expect(dialog().file("busy").see()).toMatchObject({ activityPhase: "busy", asks: [] });
  });
  test("a second dialog opened meanwhile stays", () => {
    const told = dialog()
      .hook("PermissionRequest", { ...child, tool_name: "Write", tool_input: { file_path: "b" } })
      .file("busy")
      .file("waiting", "permission prompt", 20);
    expect(told.see().asks).toMatchObject([{ tool: "Write" }]);
  });
});

test("on a loaded machine the file tells of a dialog 0.7 s after its hook: the ask does not flicker", () => {
  const told = running().hook("PermissionRequest", bash, 100).wait(700);
  const [asked] = told.see().asks;
  expect(asked).toMatchObject({ tool: "Bash" });
  expect(told.file("waiting", "permission prompt", 0).see().asks).toMatchObject([{ id: asked?.id }]);
});

describe("waiting", () => {
  test("opens an ask without a name that the request names: one ask, one id", () => {
    const told = running().file("waiting", "permission prompt");
    const [unnamed] = told.see().asks;
    expect(unnamed).toMatchObject({ kind: "permission", tool: null });
    expect(told.hook("PermissionRequest", bash, 100).see().asks).toMatchObject([
      { id: unnamed?.id, tool: "Bash" },
    ]);
  });
  test("a few ms from its request, the ask is open since the first of the two, whichever counts first", () => {
    const file = running().file("waiting", "permission prompt", 0).hook("PermissionRequest", bash, 6);
    const hook = running().hook("PermissionRequest", bash, 0).file("waiting", "permission prompt", 6);
    for (const told of [file, hook]) {
      const [asked] = told.see().asks;
      // As after a start, when the clock that orders them was read anew: 10 ms off.
      const last = told.events.slice(0, -2).reduce(reduce, undefined);
      const [first, second] = told.events.slice(-2);
      if (!first || !second) throw new Error("two events were told");
      const turned = reduce(reduce(last, second), { ...first, t: first.t + 10 });
      expect(turned.session.asks).toMatchObject([{ at: asked?.openedAt, tool: "Bash", from: "hook" }]);
    }
  });
  test("once it is known for longer, no request moves its time: its alert is out already", () => {
    const told = running().file("waiting", "permission prompt");
    const [unnamed] = told.see().asks;
    const named = told.hook("PermissionRequest", bash, 700).see().asks;
    expect(named).toMatchObject([{ tool: "Bash", openedAt: unnamed?.openedAt }]);
  });
  test("with no request to come, the one tool call under way gives the name", () => {
    const told = running().hook("PreToolUse", call).file("waiting", "dialog open");
    expect(told.wait(400).see().asks).toMatchObject([{ tool: "Bash", summary: "touch x" }]);
  });
  test("a dialog that the person opened is no ask", () => {
    const told = tell()
      .hook("SessionStart", { source: "startup" })
      .file("idle")
      .file("busy")
      .file("waiting", "dialog open", 50);
    expect(told.wait(2_000).see().asks).toEqual([]);
  });
  test("while it says so, a prompt's hook that trails behind does not close the dialog", () => {
    const told = tell()
      .hook("SessionStart", { source: "startup" })
      .file("busy")
      .file("waiting", "input needed", 100)
      .hook("UserPromptSubmit", { prompt: "go" }, 100);
    expect(told.wait(500).see().activityPhase).toBe("waiting_question");
  });
  test("a dialog that a hook closed is not taken for another while the file lags behind", () => {
    const told = running()
      .hook("PermissionRequest", bash)
      .file("waiting", "permission prompt", 20)
      .hook("PostToolBatch");
    expect(told.wait(400).see().asks).toEqual([]);
    expect(told.file("busy", null, 100).wait(2_000).see()).toMatchObject({ activityPhase: "busy", asks: [] });
  });
  test("what still waits a second later is another dialog", () => {
    const told = running()
      .hook("PermissionRequest", bash)
      .file("waiting", "permission prompt", 20)
      .hook("PostToolBatch");
    expect(told.wait(1_200).see().activityPhase).toBe("waiting_permission");
  });
});

describe("settle", () => {
  test("a prompt that another hook blocked: busy for a second, then the file's idle stands", () => {
    const told = tell()
      .hook("SessionStart", { source: "startup" })
      .file("idle")
      .hook("UserPromptSubmit", { prompt: "no" });
    expect(told.wait(999).see().activityPhase).toBe("busy");
    expect(told.wait(1).see().activityPhase).toBe("interactable");
  });
  test("a Stop that another hook blocked: the turn goes on", () => {
    const told = running().hook("Stop");
    expect(told.see().activityPhase).toBe("interactable");
    expect(told.wait(1_000).see().activityPhase).toBe("busy");
  });
  test("a request whose dialog is not on the screen is not shown, until it is", () => {
    const told = running()
      .hook("PreToolUse", { ...child, ...call })
      .hook("PermissionRequest", { ...child, ...bash });
    expect(told.see().activityPhase).toBe("waiting_permission");
    expect(told.wait(1_000).see()).toMatchObject({ activityPhase: "busy", asks: [] });
    expect(told.file("waiting", "permission prompt").see()).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ tool: "Bash", agentId: "a1" }],
    });
  });
  test("a request stamped after its dialog was dismissed is gone when all has come to rest", () => {
    const told = running()
      .file("waiting", "permission prompt")
      .file("idle", null, 80)
      .hook("PermissionRequest", bash, 40);
    expect(told.wait(300).see()).toMatchObject({ activityPhase: "interactable", asks: [] });
  });
  test("idle leaves the idle reminder alone", () => {
    const told = running()
      .hook("Stop")
      .file("idle", null, 50)
      .hook("Notification", { notification_type: "idle_prompt" }, 60_000);
    expect(told.wait(1_000).see()).toMatchObject({
      activityPhase: "waiting_question",
      asks: [{ kind: "idle" }],
    });
  });
  test("subagents that were killed without a word end when the file says idle", () => {
    const told = running()
      .hook("SubagentStart", child)
      .hook("Stop", { background_tasks: [{ id: "a1", type: "subagent", status: "running" }] });
    expect(told.wait(1_000).see().activityPhase).toBe("busy");
    expect(told.file("idle").see()).toMatchObject({
      activityPhase: "interactable",
      children: [{ agentId: "a1", state: "ended" }],
    });
  });
  test("shell is a turn that is over", () => {
    expect(running().file("shell").wait(500).see().activityPhase).toBe("interactable");
  });
});

test("a file that is gone completes the session; a later write revives it", () => {
  const told = running().own({ kind: "gone", why: "file" });
  expect(told.see().state).toBe("completed");
  expect(told.file("idle", null, 20).see()).toMatchObject({ state: "active", activityPhase: "interactable" });
  expect(told.hook("SessionEnd", {}, 30).own({ kind: "gone", why: "file" }, 20).wait(2_000).see().state).toBe(
    "completed",
  );
});

test("the transcript's interruption ends a turn that Esc ended, and closes its ask", () => {
  expect(asking().own({ kind: "interrupted" }).see()).toMatchObject({
    activityPhase: "interactable",
    asks: [],
  });
});

test("an interruption older than the turn says nothing of it", () => {
  const told = tell()
    .hook("UserPromptSubmit", { prompt: "go" })
    .hook("Stop")
    .hook("UserPromptSubmit", { prompt: "again" });
  expect(told.late(1_500).own({ kind: "interrupted" }).see().activityPhase).toBe("busy");
});
