/** Time is an input: idle, stale and order are views of it. */
import { describe, expect, test } from "bun:test";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import { asking, bash, call, tell } from "./fixture.ts";

const minute = 60_000;
const hour = 60 * minute;
const local = { pid: 77, procStart: "1", host: "here" };

describe("idle and stale", () => {
  const done = () =>
    tell(local)
      .hook("SessionStart", { source: "startup" })
      .hook("UserPromptSubmit", { prompt: "go" })
      .hook("Stop");
  test("a turn over for five minutes is idle, and idle has no phase", () => {
    expect(
      done()
        .wait(5 * minute - 1)
        .see(),
    ).toMatchObject({ state: "active", activityPhase: "interactable" });
    expect(
      done()
        .wait(5 * minute)
        .see(),
    ).toMatchObject({ state: "idle", activityPhase: null });
  });
  test("a new prompt makes it active again", () => {
    expect(done().wait(hour).hook("UserPromptSubmit", { prompt: "more" }).see()).toMatchObject({
      state: "active",
      activityPhase: "busy",
    });
  });
  test("nothing for eight hours is stale", () => {
    expect(
      done()
        .wait(8 * hour)
        .see(),
    ).toMatchObject({ state: "stale", activityPhase: null });
  });
  test("busy with a live process is active however long it takes", () => {
    expect(
      tell(local)
        .hook("PreToolUse", call)
        .wait(20 * hour)
        .see(),
    ).toMatchObject({ state: "active", activityPhase: "busy" });
  });
  test("busy with a process nobody can see goes stale", () => {
    expect(
      tell({ pid: 77, host: "elsewhere" })
        .hook("PreToolUse", call)
        .wait(20 * hour)
        .see().state,
    ).toBe("stale");
  });
  test("an ask is active however long it waits", () => {
    expect(
      asking()
        .wait(30 * hour)
        .see(),
    ).toMatchObject({ state: "active", activityPhase: "waiting_permission" });
  });
});

describe("late and twice", () => {
  test("the same event under two ids within a second counts once", () => {
    const told = tell().hook("UserPromptSubmit", { prompt: "go" });
    expect(told.see().turnCount).toBe(1);
  });
  test("the same words after a new prompt are a new event", () => {
    const told = tell().hook("UserPromptSubmit", { prompt: "a" }).hook("Stop", {}, 100);
    const [, stop] = told.events;
    if (!stop) throw new Error("no Stop was told");
    let story = told.events.reduce<EventWindow | undefined>(
      (known, event) => reduce(known, event),
      undefined,
    );
    const again = told.hook("UserPromptSubmit", { prompt: "b" }, 100).events[2];
    for (const event of [again, { ...stop, id: "other", t: stop.t + 200, at: stop.at + 200 }]) {
      if (event) story = reduce(story, event);
    }
    expect(story?.session.turn.running).toBe(false);
  });
  test("a request that comes after its tool's end opens nothing", () => {
    const told = tell()
      .hook("UserPromptSubmit", { prompt: "go" })
      .hook("PreToolUse", call)
      .hook("PostToolUse", call, 200);
    expect(told.late(100).hook("PermissionRequest", bash, 300).see()).toMatchObject({
      activityPhase: "busy",
      asks: [],
    });
  });
  test("a prompt that comes after its turn's end does not start it again", () => {
    const told = tell().hook("SessionStart", { source: "startup" }).hook("Stop");
    expect(told.late(500).hook("UserPromptSubmit", { prompt: "go" }, 100).see()).toMatchObject({
      activityPhase: "interactable",
      lastPrompt: "go",
    });
  });
  test("what is too late to be told anew closes its ask, and starts nothing", () => {
    const told = asking().wait(60_000).hook("CwdChanged").wait(60_000).hook("CwdChanged");
    expect(told.late(100_000).hook("PostToolUse", call).see().asks).toEqual([]);
    const over = tell()
      .hook("SessionStart", { source: "startup" })
      .hook("Stop")
      .wait(60_000)
      .hook("CwdChanged")
      .wait(60_000)
      .hook("CwdChanged");
    expect(over.late(130_000).hook("UserPromptSubmit", { prompt: "old" }).see().activityPhase).toBe(
      "interactable",
    );
  });
});
