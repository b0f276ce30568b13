import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Row, readRecordings } from "../replay/recording.ts";
import { mappings, notificationHook, type ShownChange, showByMapping } from "./mappings.ts";
import { measureTruth } from "./meter.ts";
import { formatTruth, measureRecordings } from "./table.ts";

const id = "s1";
const file = (ms: number, status: string, waitingFor?: string): Row => ({
  ...{ ms, src: "session-file", file: "7.json", sessionId: id, status },
  ...(waitingFor ? { waitingFor } : {}),
});
const hook = (ms: number, name: string, more: object = {}): Row => ({
  ...{ ms, src: "hook", payload: { session_id: id, hook_event_name: name, ...more } },
});
const recordingOf = (rows: Row[]) => ({ name: "made", rows, startedAt: 0, hasStatus: true });
const shows = (...changes: [ms: number, shown: ShownChange["shown"]][]): ShownChange[] =>
  changes.map(([ms, shown]) => ({ ms, id, shown }));

/** One second each of work and of a dialog, then two of nothing. */
const recording = recordingOf([
  file(1_000, "busy"),
  file(2_000, "waiting", "permission prompt"),
  file(3_000, "idle"),
  { ms: 5_000, src: "driver", mark: "end" },
]);

describe("the truth meter", () => {
  test("counts the time that a tool is right, and how soon it tells of a dialog", () => {
    const changes = shows([1_100, "working"], [2_400, "needs you"], [3_000, "ready"]);
    expect(measureTruth(recording, changes)).toEqual({
      rightMs: 900 + 600 + 2_000,
      allMs: 4_000,
      delaysMs: [400],
      dialogs: 1,
      falseAlerts: 0,
    });
  });
  test("a dialog that is over before the tool told of it counts as missed", () => {
    expect(measureTruth(recording, shows([1_000, "working"], [3_100, "needs you"]))).toMatchObject({
      delaysMs: [],
      dialogs: 1,
      falseAlerts: 0,
    });
  });
  test("a false alarm is one while nothing asks", () => {
    expect(measureTruth(recording, shows([4_000, "needs you"], [4_500, "ready"]))).toMatchObject({
      falseAlerts: 1,
    });
  });
  test("a run without a user does not count", () => {
    const env = { CLAUDE_CODE_SESSION_ATTENDED: "0" };
    const rows = [{ ...hook(900, "SessionStart"), env }, ...recording.rows];
    expect(measureTruth(recordingOf(rows), [])).toMatchObject({ allMs: 0, dialogs: 0 });
  });
});

test("a mapping shows what the last hook says, and a Notification hook nothing else", () => {
  const rows = [
    hook(1_000, "UserPromptSubmit"),
    hook(2_000, "PreToolUse", { tool_name: "AskUserQuestion" }),
    hook(3_000, "Notification", { notification_type: "permission_prompt" }),
    hook(4_000, "Stop"),
  ];
  const list = (mapping = notificationHook) =>
    showByMapping(recordingOf(rows), mapping).map(({ shown }) => shown);
  expect(list(mappings["prompt, stop and notification hooks"])).toEqual(["working", "needs you", "ready"]);
  expect(list(mappings["a state for every hook"])).toEqual(["working", "needs you", "needs you", "ready"]);
  expect(list()).toEqual([null, null, "needs you", null]);
});

test("the table in the README is what the recordings give", () => {
  const recordings = readRecordings().filter(({ hasStatus }) => hasStatus);
  const readme = readFileSync(join(import.meta.dir, "../../README.md"), "utf8");
  expect(readme).toContain(formatTruth(measureRecordings(recordings)));
});
