/** The mappings beckon grew from, row by row: what each hook makes of a session. */
import { describe, expect, test } from "bun:test";
import { askColour, bash, call, child, tell } from "./fixture.ts";

type Row = readonly [
  name: string,
  fields: Record<string, unknown>,
  phase: string | null,
  status: string,
  detail: string | null,
];

const turn = () =>
  tell().hook("SessionStart", { source: "startup" }).hook("UserPromptSubmit", { prompt: "go" });
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
      const seen = turn().hook(name, fields).see();
      expect([seen.activityPhase, seen.status.kind, seen.status.detail]).toEqual([
        phase,
        status,
        detail,
      ] as never);
    });
  }
});

describe("a session's life", () => {
  test("started, a turn with its prompt, its end, ended", () => {
    const told = tell().hook("SessionStart", { source: "startup" });
    expect(told.see().state).toBe("active");
    expect(told.hook("UserPromptSubmit", { prompt: "hello" }).see()).toMatchObject({
      activityPhase: "busy",
      lastPrompt: "hello",
    });
    expect(told.hook("Stop", { last_assistant_message: "hi" }).see()).toMatchObject({
      activityPhase: "interactable",
      lastResponse: "hi",
    });
    const known = {
      model: "m",
      tokens: { input: 1, output: 2, cached: 3 },
      turnCount: 7,
      gitBranch: "main",
      title: "T",
    };
    expect(told.own({ kind: "enriched", with: known }).see()).toMatchObject(known);
    expect(told.hook("SessionEnd").see()).toMatchObject({ state: "completed", activityPhase: null });
  });
  test("whatever comes to a session that is not active leaves its phase null", () => {
    const told = turn().hook("SessionEnd");
    for (const [name, fields] of rows.filter(([n]) => !["SessionStart", "UserPromptSubmit"].includes(n)))
      told.hook(name, fields, 1);
    expect(told.see()).toMatchObject({ state: "completed", activityPhase: null });
  });
});

test("two terminals in one folder have different fingerprints, one terminal always the same", () => {
  const in1 = { pid: 10, procStart: "1", tty: "/dev/pts/1", host: "here" };
  const see = (place: Record<string, unknown>) =>
    tell(place).hook("SessionStart", { source: "startup" }).see().fingerprint;
  expect(see(in1)).toMatch(/^[0-9a-f]{16}$/);
  expect(see(in1)).toBe(see(in1));
  const others = [
    { ...in1, tty: "/dev/pts/2" },
    { ...in1, pid: 11 },
    { ...in1, procStart: "2" },
  ].map(see);
  expect(new Set([see(in1), ...others]).size).toBe(4);
});
