/** A turn that its person broke off: what the agent said before it is not shown as the answer. */
import { expect, test } from "bun:test";
import { call, type Told, tell } from "./fixture.ts";

const prompted = (prompt: string, told: Told = tell()) =>
  told.hook("UserPromptSubmit", { prompt }).file("busy", null, 50);
const answered = () =>
  prompted("first").hook("Stop", { last_assistant_message: "FINAL: first" }).file("idle", null, 50);
const sees = (told: Told) => {
  const { interrupted, lastPrompt, lastResponse } = told.see();
  return { interrupted, lastPrompt, lastResponse };
};

test("Esc after an older reply; the reply stays for who asks for it", () => {
  const told = prompted("second", answered().wait(5_000)).hook("PreToolUse", call).file("idle");
  expect(sees(told.wait(1_000))).toEqual({
    interrupted: true,
    lastPrompt: "second",
    lastResponse: "FINAL: first",
  });
  expect(sees(prompted("third", told)).interrupted).toBeUndefined();
});

test("Esc in the very first turn", () => {
  expect(sees(prompted("first").file("idle").wait(1_000)).interrupted).toBe(true);
});

test("Esc, where it shows in the transcript alone", () => {
  const told = tell()
    .hook("UserPromptSubmit", { prompt: "first" })
    .hook("Stop", { last_assistant_message: "FINAL: first" })
    .hook("UserPromptSubmit", { prompt: "second" })
    .own({ kind: "interrupted" });
  expect(sees(told).interrupted).toBe(true);
});

test("not while the word that it is done may still be on its way, nor after it", () => {
  const told = prompted("second", answered()).file("idle");
  expect(sees(told.wait(150)).interrupted).toBeUndefined();
  expect(sees(told.hook("Stop", { last_assistant_message: "FINAL: second" }, 0))).toEqual({
    interrupted: undefined,
    lastPrompt: "second",
    lastResponse: "FINAL: second",
  });
  expect(sees(told.wait(5_000)).interrupted).toBeUndefined();
});

test("not where no end was ever heard, and the transcript has a reply: it may be the answer", () => {
  const told = prompted("first")
    .file("idle")
    .own({ kind: "enriched", with: { lastResponse: "Here it is" } });
  expect(sees(told.wait(1_000)).interrupted).toBeUndefined();
});

test("a turn that failed has failed, one that ended has ended", () => {
  const failed = prompted("second", answered())
    .hook("StopFailure", { error: "rate_limit" })
    .file("idle", null, 50);
  expect(failed.wait(1_000).see().error).toBe("rate_limit");
  expect(sees(failed).interrupted).toBeUndefined();
  const gone = prompted("second", answered()).hook("SessionEnd", { reason: "other" });
  expect(sees(gone.wait(1_000)).interrupted).toBeUndefined();
});
