/** Idle and stale sessions, and events that arrive late or twice. Time is an input. */
import { describe, expect, test } from "bun:test";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import { bash, call, createAskingTimeline, createTimeline } from "./fixture.ts";

const minute = 60_000;
const hour = 60 * minute;
const local = { pid: 77, procStart: "1", host: "here" };

describe("idle and stale", () => {
  const done = () =>
    createTimeline(local)
      .hook("SessionStart", { source: "startup" })
      .hook("UserPromptSubmit", { prompt: "go" })
      .hook("Stop");
  test("a session whose turn has been over for five minutes is idle and has no phase", () => {
    expect(
      done()
        .wait(5 * minute - 1)
        .snapshot(),
    ).toMatchObject({ state: "active", activityPhase: "interactable" });
    expect(
      done()
        .wait(5 * minute)
        .snapshot(),
    ).toMatchObject({ state: "idle", activityPhase: null });
  });
  test("a new prompt makes it active again", () => {
    expect(done().wait(hour).hook("UserPromptSubmit", { prompt: "more" }).snapshot()).toMatchObject({
      state: "active",
      activityPhase: "busy",
    });
  });
  test("a session without an event for eight hours is stale", () => {
    expect(
      done()
        .wait(8 * hour)
        .snapshot(),
    ).toMatchObject({ state: "stale", activityPhase: null });
  });
  test("a busy session with a live process stays active", () => {
    expect(
      createTimeline(local)
        .hook("PreToolUse", call)
        .wait(20 * hour)
        .snapshot(),
    ).toMatchObject({ state: "active", activityPhase: "busy" });
  });
  test("a busy session whose process is not visible becomes stale", () => {
    expect(
      createTimeline({ pid: 77, host: "elsewhere" })
        .hook("PreToolUse", call)
        .wait(20 * hour)
        .snapshot().state,
    ).toBe("stale");
  });
  test("a session with an ask stays active", () => {
    expect(
      createAskingTimeline()
        .wait(30 * hour)
        .snapshot(),
    ).toMatchObject({ state: "active", activityPhase: "waiting_permission" });
  });
});

describe("late and duplicate events", () => {
  test("the same event under two ids within a second counts once", () => {
    const [event] = createTimeline().hook("PreToolUse", call).events;
    if (!event) throw new Error("expected an event");
    const callsAfter = (ms: number) =>
      reduce(reduce(undefined, event), { ...event, id: "other", t: event.t + ms }).session.tools.length;
    expect(callsAfter(1_000)).toBe(1);
    expect(callsAfter(1_001)).toBe(2);
  });
  test("an equal payload after a new prompt is a new event", () => {
    const timeline = createTimeline().hook("UserPromptSubmit", { prompt: "a" }).hook("Stop", {}, 100);
    const [, stop] = timeline.events;
    if (!stop) throw new Error("expected a Stop");
    let window = timeline.events.reduce<EventWindow | undefined>(
      (known, event) => reduce(known, event),
      undefined,
    );
    const again = timeline.hook("UserPromptSubmit", { prompt: "b" }, 100).events[2];
    for (const event of [again, { ...stop, id: "other", t: stop.t + 200, at: stop.at + 200 }]) {
      if (event) window = reduce(window, event);
    }
    expect(window?.session.turn.running).toBe(false);
  });
  test("a request that arrives after the end of its tool opens no ask", () => {
    const timeline = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .hook("PreToolUse", call)
      .hook("PostToolUse", call, 200);
    expect(timeline.late(100).hook("PermissionRequest", bash, 300).snapshot()).toMatchObject({
      activityPhase: "busy",
      asks: [],
    });
  });
  test("a prompt that arrives after the end of its turn does not start it again", () => {
    const timeline = createTimeline().hook("SessionStart", { source: "startup" }).hook("Stop");
    expect(timeline.late(500).hook("UserPromptSubmit", { prompt: "go" }, 100).snapshot()).toMatchObject({
      activityPhase: "interactable",
      lastPrompt: "go",
    });
  });
  test("an event that is too late to be reordered closes its ask, and starts nothing", () => {
    const timeline = createAskingTimeline().wait(60_000).hook("CwdChanged").wait(60_000).hook("CwdChanged");
    expect(timeline.late(100_000).hook("PostToolUse", call).snapshot().asks).toEqual([]);
    const over = createTimeline()
      .hook("SessionStart", { source: "startup" })
      .hook("Stop")
      .wait(60_000)
      .hook("CwdChanged")
      .wait(60_000)
      .hook("CwdChanged");
    expect(over.late(130_000).hook("UserPromptSubmit", { prompt: "old" }).snapshot().activityPhase).toBe(
      "interactable",
    );
  });
});

test("a prompt that is stamped after the end of its short turn does not start it again", () => {
  const timeline = createTimeline()
    .hook("UserPromptSubmit", { prompt: "first", prompt_id: "p1" })
    .hook("Stop", { last_assistant_message: "one", prompt_id: "p1" })
    .file("busy", null, 1_000)
    .hook("Stop", { last_assistant_message: "two", prompt_id: "p2" }, 60)
    .hook("UserPromptSubmit", { prompt: "second", prompt_id: "p2" }, 40);
  expect(timeline.snapshot()).toMatchObject({
    activityPhase: "interactable",
    lastPrompt: "second",
    lastResponse: "two",
    turnCount: 2,
  });
  const next = timeline.hook("UserPromptSubmit", { prompt: "third", prompt_id: "p3" });
  expect(next.snapshot()).toMatchObject({ activityPhase: "busy", lastPrompt: "third" });
});
