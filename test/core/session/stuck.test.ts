/** When a session is shown as "may be stuck". */
import { expect, test } from "bun:test";
import { formatStuck } from "../../../src/core/view/work-notes.ts";
import { createTimeline, type Timeline } from "./fixture.ts";

let calls = 0;
function call(
  timeline: Timeline,
  command: string,
  end: "PostToolUse" | "PostToolUseFailure",
  more = {},
): Timeline {
  const fields = { tool_name: "Bash", tool_input: { command }, tool_use_id: `call-${++calls}`, ...more };
  return timeline.hook("PreToolUse", fields).hook(end, { ...fields, error: "exit 1" });
}
const fail = (timeline: Timeline, command: string, more = {}) =>
  call(timeline, command, "PostToolUseFailure", more);
const start = () => createTimeline().hook("UserPromptSubmit", { prompt: "go" });
const describe = (timeline: Timeline): string | null => {
  const { stuck } = timeline.snapshot();
  return stuck ? formatStuck(stuck, () => "16 min") : null;
};

test("the same call that fails three times in a row", () => {
  const timeline = start();
  fail(fail(timeline, "npm test"), "npm test");
  expect(describe(timeline)).toBeNull();
  fail(timeline, "npm test");
  expect(describe(timeline)).toBe("may be stuck: Bash: npm test failed 3 times");
  call(timeline, "ls", "PostToolUse");
  expect(describe(timeline)).toBeNull();
});

test("a test that fails again after an edit is work, not a loop", () => {
  const timeline = start();
  for (let n = 0; n < 5; n++) call(fail(timeline, "npm test"), `sed -i s/${n}// a.ts`, "PostToolUse");
  expect(describe(timeline)).toBeNull();
});

test("other calls that fail, and those of a subagent, are counted apart", () => {
  const timeline = start();
  for (const command of ["a", "b", "a", "b", "a"]) fail(timeline, command);
  expect(describe(timeline)).toBeNull();
  const child = { agent_id: "a1", agent_type: "Explore" };
  timeline.hook("SubagentStart", child);
  for (let n = 0; n < 2; n++) fail(timeline, "c", child);
  fail(timeline, "c");
  expect(describe(timeline)).toBeNull();
});

test("the end of the turn, a dialog and a refusal of the user end it", () => {
  const failed = () => fail(fail(fail(start(), "x"), "x"), "x");
  expect(describe(failed().hook("Stop"))).toBeNull();
  const fields = { tool_name: "Bash", tool_input: { command: "rm x" }, tool_use_id: "asked" };
  expect(describe(failed().hook("PreToolUse", fields).hook("PermissionRequest", fields))).toBeNull();
});

test("silence while it works, with what it did last", () => {
  const fields = { tool_name: "Bash", tool_input: { command: "npm run build" }, tool_use_id: "slow" };
  const timeline = start()
    .hook("PreToolUse", fields)
    .wait(14 * 60_000);
  expect(describe(timeline)).toBeNull();
  timeline.wait(2 * 60_000);
  expect(describe(timeline)).toBe("may be stuck: nothing for 16 min after Bash: npm run build");
  timeline.hook("PostToolUse", fields);
  expect(describe(timeline)).toBeNull();
});

test("a session that is ready, or waits for an answer, may be silent", () => {
  expect(describe(start().hook("Stop").wait(3_600_000))).toBeNull();
  const fields = { tool_name: "Bash", tool_input: { command: "x" }, tool_use_id: "asked" };
  expect(
    describe(start().hook("PreToolUse", fields).hook("PermissionRequest", fields).wait(3_600_000)),
  ).toBeNull();
});
