/** An interrupted turn: an older response is not shown as the answer to it. */
import { expect, test } from "bun:test";
import { call, createTimeline, type Timeline } from "./fixture.ts";

const startTurn = (prompt: string, timeline: Timeline = createTimeline()) =>
  timeline.hook("UserPromptSubmit", { prompt }).file("busy", null, 50);
const finishTurn = () =>
  startTurn("first").hook("Stop", { last_assistant_message: "FINAL: first" }).file("idle", null, 50);
const readTurn = (timeline: Timeline) => {
  const { interrupted, lastPrompt, lastResponse } = timeline.snapshot();
  return { interrupted, lastPrompt, lastResponse };
};

test("Esc after an older response, which stays readable", () => {
  const timeline = startTurn("second", finishTurn().wait(5_000)).hook("PreToolUse", call).file("idle");
  expect(readTurn(timeline.wait(1_000))).toEqual({
    interrupted: true,
    lastPrompt: "second",
    lastResponse: "FINAL: first",
  });
  expect(readTurn(startTurn("third", timeline)).interrupted).toBeUndefined();
});

test("Esc in the very first turn", () => {
  expect(readTurn(startTurn("first").file("idle").wait(1_000)).interrupted).toBe(true);
});

test("Esc that only the transcript shows", () => {
  const timeline = createTimeline()
    .hook("UserPromptSubmit", { prompt: "first" })
    .hook("Stop", { last_assistant_message: "FINAL: first" })
    .hook("UserPromptSubmit", { prompt: "second" })
    .internal({ kind: "interrupted" });
  expect(readTurn(timeline).interrupted).toBe(true);
});

test("not while the Stop hook may still arrive, nor after it", () => {
  const timeline = startTurn("second", finishTurn()).file("idle");
  expect(readTurn(timeline.wait(150)).interrupted).toBeUndefined();
  expect(readTurn(timeline.hook("Stop", { last_assistant_message: "FINAL: second" }, 0))).toEqual({
    interrupted: undefined,
    lastPrompt: "second",
    lastResponse: "FINAL: second",
  });
  expect(readTurn(timeline.wait(5_000)).interrupted).toBeUndefined();
});

test("not if no Stop was ever seen and the transcript has a response, which may be the answer", () => {
  const timeline = startTurn("first")
    .file("idle")
    .internal({ kind: "enriched", with: { lastResponse: "Here it is" } });
  expect(readTurn(timeline.wait(1_000)).interrupted).toBeUndefined();
});

test("a failed turn and an ended session are not interrupted", () => {
  const failed = startTurn("second", finishTurn())
    .hook("StopFailure", { error: "rate_limit" })
    .file("idle", null, 50);
  expect(failed.wait(1_000).snapshot().error).toBe("rate_limit");
  expect(readTurn(failed).interrupted).toBeUndefined();
  const gone = startTurn("second", finishTurn()).hook("SessionEnd", { reason: "other" });
  expect(readTurn(gone.wait(1_000)).interrupted).toBeUndefined();
});
