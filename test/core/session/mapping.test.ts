/** Phase and status after each hook event during a turn. */
import { describe, expect, test } from "bun:test";
import { askColour, bash, call, child, createTimeline } from "./fixture.ts";

type Row = readonly [
  name: string,
  fields: Record<string, unknown>,
  phase: string | null,
  status: string,
  detail: string | null,
];

const turn = () =>
  createTimeline().hook("SessionStart", { source: "startup" }).hook("UserPromptSubmit", { prompt: "go" });
const plan = { tool_name: "ExitPlanMode", tool_input: { plan: "do it" } };

const rows: readonly Row[] = [
  ["Stop", {}, "interactable", "idle", null],
  ["UserPromptSubmit", { prompt: "more" }, "busy", "working", "Thinking"],
  ["PreToolUse", call, "busy", "working", "Bash"],
  ["PostToolUse", call, "busy", "working", "Thinking"],
  ["PostToolUseFailure", call, "busy", "working", "Thinking"],
  ["PermissionRequest", bash, "waiting_permission", "attention", "Permission for Bash"],
  ["PermissionRequest", askColour, "waiting_question", "attention", "Question: Which colour?"],
  ["PermissionRequest", plan, "waiting_permission", "attention", "Plan to approve"],
  ["PreToolUse", { tool_name: "EnterPlanMode", tool_input: {} }, "busy", "working", "EnterPlanMode"],
  [
    "Notification",
    { notification_type: "permission_prompt" },
    "waiting_permission",
    "attention",
    "Permission",
  ],
  ["Notification", { notification_type: "idle_prompt" }, "waiting_question", "idle", null],
  ["Notification", { notification_type: "elicitation_dialog" }, "waiting_question", "attention", "MCP input"],
  ["Notification", { notification_type: "auth_success" }, "busy", "working", "Thinking"],
  ["Notification", { notification_type: "unheard of" }, "busy", "working", "Thinking"],
  ["Notification", {}, "busy", "working", "Thinking"],
  ["SubagentStart", child, "busy", "working", "Thinking"],
  ["SubagentStop", child, "busy", "working", "Thinking"],
  ["SessionStart", { source: "startup" }, "interactable", "idle", null],
  ["SessionEnd", { reason: "other" }, null, "idle", null],
  ["PreCompact", { trigger: "auto" }, "busy", "working", "Compacting"],
  ["Setup", { trigger: "init" }, "busy", "working", "Setup"],
];

describe("during a turn", () => {
  for (const [name, fields, phase, status, detail] of rows) {
    const what = String(fields.notification_type ?? fields.tool_name ?? fields.source ?? "");
    test(`${name} ${what}: ${phase}, ${status}${detail ? ` (${detail})` : ""}`, () => {
      const snapshot = turn().hook(name, fields).snapshot();
      expect([snapshot.activityPhase, snapshot.status.kind, snapshot.status.detail]).toEqual([
        phase,
        status,
        detail,
      ] as never);
    });
  }
});

describe("the life of a session", () => {
  test("start, prompt, response, end", () => {
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    expect(timeline.snapshot().state).toBe("active");
    expect(timeline.hook("UserPromptSubmit", { prompt: "hello" }).snapshot()).toMatchObject({
      activityPhase: "busy",
      lastPrompt: "hello",
    });
    expect(timeline.hook("Stop", { last_assistant_message: "hi" }).snapshot()).toMatchObject({
      activityPhase: "interactable",
      lastResponse: "hi",
    });
    const known = {
      model: "m",
      context: { used: 5, window: 200_000 },
      turnCount: 7,
      gitBranch: "main",
      title: "T",
    };
    const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    const usage = { tokens, costMicros: 1_250_000 };
    expect(timeline.internal({ kind: "enriched", with: { ...known, usage } }).snapshot()).toMatchObject({
      ...known,
      tokens: { ...tokens, cached: 3 },
      costUsd: 1.25,
    });
    expect(timeline.hook("SessionEnd").snapshot()).toMatchObject({ state: "completed", activityPhase: null });
  });
  test("no event gives a completed session a phase, except a start or a prompt", () => {
    const timeline = turn().hook("SessionEnd");
    for (const [name, fields] of rows.filter(([n]) => !["SessionStart", "UserPromptSubmit"].includes(n)))
      timeline.hook(name, fields, 1);
    expect(timeline.snapshot()).toMatchObject({ state: "completed", activityPhase: null });
  });
});

test("terminals in one folder have different fingerprints, and a terminal keeps its own", () => {
  const in1 = { pid: 10, procStart: "1", tty: "/dev/pts/1", host: "here" };
  const fingerprintIn = (place: Record<string, unknown>) =>
    createTimeline(place).hook("SessionStart", { source: "startup" }).snapshot().fingerprint;
  expect(fingerprintIn(in1)).toMatch(/^[0-9a-f]{16}$/);
  expect(fingerprintIn(in1)).toBe(fingerprintIn(in1));
  const others = [
    { ...in1, tty: "/dev/pts/2" },
    { ...in1, pid: 11 },
    { ...in1, procStart: "2" },
  ].map(fingerprintIn);
  expect(new Set([fingerprintIn(in1), ...others]).size).toBe(4);
});
