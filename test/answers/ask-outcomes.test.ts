import { describe, expect, test } from "bun:test";
import { createAskOutcomes } from "../../src/answers/ask-outcomes.ts";
import type { AskEnd } from "../../src/core/interfaces/index.ts";
import { createStore } from "../../src/state/store.ts";
import { askColour, bash, call, createAskingTimeline, createTimeline } from "../core/session/fixture.ts";
import { waitUntil } from "../wait-until.ts";

function collectOutcomes(timeline: ReturnType<typeof createTimeline>, waitMs?: number) {
  const known: AskEnd[] = [];
  const store = createStore();
  const outcomes = createAskOutcomes({
    now: () => 7,
    onOutcome: (outcome) => known.push(outcome),
    ...(waitMs === undefined ? {} : { waitMs }),
  });
  store.subscribe((session, event, before) => outcomes.onChange({ session, event, before }));
  for (const event of timeline.events) store.dispatch(event);
  return { outcomes, known };
}

/** The outcomes that are reported at once, and those reported in the end. */
function formatOutcomes(timeline: ReturnType<typeof createTimeline>): [string[], string[]] {
  const { outcomes, known } = collectOutcomes(timeline);
  const format = () => known.map(({ outcome, by }) => (by === null ? `${outcome}, abandoned` : outcome));
  const atOnce = format();
  outcomes.stop();
  return [atOnce, format()];
}

const shown = () => createAskingTimeline().file("waiting", "permission prompt", 10);
const exit = { reason: "prompt_input_exit" };
const ended = "the session ended, abandoned";

describe("certain at once", () => {
  test.each([
    ["a tool that ran", createAskingTimeline().hook("PostToolUse", call), "allowed"],
    ["a tool that failed", createAskingTimeline().hook("PostToolUseFailure", call), "allowed"],
    ["denied by the agent itself", createAskingTimeline().hook("PermissionDenied", call), "denied"],
    ["/exit", createAskingTimeline().hook("SessionEnd", exit), ended],
    [
      "/exit, which the file reports first",
      createAskingTimeline().internal({ kind: "gone", why: "file" }).hook("SessionEnd", exit),
      ended,
    ],
    ["kill -9", createAskingTimeline().internal({ kind: "gone", why: "process" }), ended],
    ["the dialog gone, and a tool that ran", shown().file("busy").hook("PostToolUse", call, 50), "allowed"],
    [
      "the tools done, with the tool's event late",
      shown().hook("PostToolBatch").late(10).hook("PostToolUse", call, 50),
      "allowed",
    ],
    [
      "idle, with the tool's event late",
      shown().file("busy").file("idle", null, 100).late(150).hook("PostToolUse", call, 50),
      "allowed",
    ],
  ])("%s", (_, timeline, outcome) => {
    expect(formatOutcomes(timeline)).toEqual([[outcome], [outcome]]);
  });
});

describe("uncertain at first", () => {
  test.each([
    ["the dialog gone", shown().file("busy"), "answered"],
    ["No or Esc", shown().file("idle"), "denied"],
    ["Esc, and busy for a moment", shown().file("busy").file("idle", null, 150), "denied"],
    ["the same, with a shell in the background", shown().file("busy").file("shell", null, 80), "denied"],
    [
      "Esc and /exit at once",
      shown().file("busy").internal({ kind: "gone", why: "file" }, 80).hook("SessionEnd", exit, 50),
      ended,
    ],
    ["Esc, and then /exit", shown().file("idle").internal({ kind: "gone", why: "file" }, 300), "denied"],
    ["No, with words for the model", shown().hook("PostToolBatch").file("busy", null, 50), "denied"],
    ["the same, the file first", shown().file("busy").hook("PostToolBatch", {}, 50), "denied"],
    [
      "another thread's tools",
      shown().file("busy").hook("PostToolBatch", { agent_id: "a1" }, 50),
      "answered",
    ],
    [
      "another tool's end",
      shown()
        .file("busy")
        .hook("PostToolUse", { ...call, tool_use_id: "toolu_other" }, 50),
      "answered",
    ],
  ])("%s", (_, timeline, outcome) => {
    expect(formatOutcomes(timeline)).toEqual([[], [outcome]]);
  });
});

describe("an elicitation of a tool that goes on", () => {
  const form = { mcp_server_name: "mail", message: "Your email?" };
  const dialog = () =>
    createAskingTimeline()
      .hook("PostToolUse", call)
      .hook("Elicitation", form)
      .file("waiting", "input needed", 10);
  const result = { mcp_server_name: "mail", action: "decline" };
  const tool = { tool_name: "mcp__mail__send", tool_input: {}, tool_use_id: "toolu_2" };
  test.each([
    ["answered", dialog().hook("ElicitationResult", result).hook("PostToolUse", tool, 50)],
    ["the file first", dialog().file("busy").hook("ElicitationResult", result).hook("PostToolUse", tool, 50)],
    ["and its tools done", dialog().file("busy").hook("PostToolBatch", {}, 50)],
  ])("%s", (_, timeline) => {
    expect(formatOutcomes(timeline)[1]).toEqual(["allowed", "answered"]);
  });
});

test("a question is answered, not allowed", () => {
  const question = { ...askColour, tool_use_id: "toolu_2" };
  const timeline = createTimeline()
    .hook("PreToolUse", question)
    .hook("PermissionRequest", askColour)
    .hook("PostToolUse", question);
  expect(formatOutcomes(timeline)[1]).toEqual(["answered"]);
});

test("an ask answered through beckon is not reported again, even if the status file came first", () => {
  const timeline = shown().file("busy");
  const request = timeline.events.find(({ change }) => change.kind === "ask")?.id ?? "";
  expect(formatOutcomes(timeline.internal({ kind: "ask-answered", request }, 20))).toEqual([[], []]);
});

test("of two equal asks, one tool's end closes one", () => {
  const timeline = createTimeline()
    .hook("PermissionRequest", bash)
    .file("waiting", "permission prompt", 10)
    .file("busy")
    .file("waiting", "permission prompt", 100)
    .hook("PermissionRequest", bash, 10)
    .file("busy")
    .hook("PostToolUse", call, 50);
  expect(formatOutcomes(timeline)).toEqual([["allowed"], ["allowed", "answered"]]);
});

test("an outcome without further events is reported after a while, with the time at which it ended", async () => {
  const { known } = collectOutcomes(shown().file("busy"), 10);
  expect(known).toEqual([]);
  await waitUntil(() => known.length > 0, 1_000);
  expect(known).toMatchObject([{ outcome: "answered", by: "in the terminal", at: 7 }]);
});

test.each([
  ["cli", "in the terminal"],
  ["claude-vscode", "in the editor"],
  ["claude-desktop", "in the app"],
  ["sdk-ts", "in the app"],
  ["sdk-cli", "in the terminal"],
])("answered where the agent's own dialog is: with the entrypoint %s, %s", (entrypoint, by) => {
  const meta = { pid: 1, env: { CLAUDE_CODE_ENTRYPOINT: entrypoint } };
  const { known } = collectOutcomes(createAskingTimeline().hook("PostToolUse", { ...call, _meta: meta }));
  expect(known.map((end) => end.by)).toEqual([by]);
});
