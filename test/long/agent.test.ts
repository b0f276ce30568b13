/** More scenarios with the real Claude Code CLI. */
import { afterAll, expect } from "bun:test";
import { formOptions, waitForFormServer } from "../agent/form.ts";
import { defaultMode } from "../agent/sandbox.ts";
import { createCliTests, dialog, formatSummary } from "../agent/scenario.ts";

const { testScenario } = createCliTests();

afterAll(() => console.log(formatSummary()));

testScenario(
  "a permission is approved after the CLI's reminder",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.typeLine("DO bash touch x");
    await sandbox.waitForScreen(dialog.permission);
    await sandbox.waitForHook("Notification");
    await sandbox.dwell();
    await sandbox.pressKeys("Enter");
    await sandbox.waitForStatus("idle");
  },
);

testScenario("a command is always allowed in the terminal", ["permission Bash: hostid"], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.typeLine("DO bash hostid");
  await sandbox.waitForScreen(/2\. Yes, and don.t ask again/);
  await sandbox.dwell();
  await sandbox.pressKeys("2");
  await sandbox.waitForStatus("idle");
  await sandbox.dwell();
  await sandbox.typeLine("DO bash hostid");
  await sandbox.waitForStatus("idle");
});

testScenario(
  "two subagents ask at once, and each is approved",
  ["permission Bash: touch a", "permission Bash: touch b"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.typeLine("DO agents DO bash touch a ;; DO bash touch b");
    await sandbox.waitForHook("PermissionRequest", 2);
    await sandbox.waitForScreen(dialog.permission);
    await sandbox.dwell();
    await sandbox.pressKeys("Enter");
    await sandbox.waitForHook("SubagentStop");
    await sandbox.waitForScreen(dialog.permission);
    await sandbox.dwell();
    await sandbox.pressKeys("Enter");
    await sandbox.waitForHook("Stop");
    await sandbox.waitForStatus("idle");
  },
);

testScenario("a turn is interrupted with Esc, and the next prompt runs", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.typeLine("DO slow 20");
  await sandbox.waitForStatus("busy");
  await sandbox.dwell();
  await sandbox.pressKeys("Escape");
  await sandbox.waitForStatus("idle");
  await sandbox.dwell();
  // The interrupted prompt is back in the input line.
  await sandbox.pressKeys("C-u");
  await sandbox.typeLine("SAY next");
  await sandbox.waitForStatus("idle");
});

testScenario(
  "a command that needs no permission is interrupted with Esc, and the next prompt runs",
  [],
  async (sandbox) => {
    await sandbox.startCli();
    // The CLI refuses a bare sleep.
    await sandbox.typeLine("DO bash tail -f /dev/null");
    await sandbox.waitForHook("PreToolUse");
    await sandbox.waitForStatus("busy");
    await sandbox.dwell();
    await sandbox.pressKeys("Escape");
    await sandbox.waitForStatus("idle");
    await sandbox.dwell();
    await sandbox.pressKeys("C-u");
    await sandbox.typeLine("SAY next");
    await sandbox.waitForStatus("idle");
  },
  { settings: { permissions: { allow: ["Bash"] } } },
);

testScenario(
  "a plan is dismissed, and one is approved",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (sandbox) => {
    await sandbox.startCli("--permission-mode plan");
    for (const key of ["Escape", "Enter"]) {
      await sandbox.openDialog("DO plan", dialog.plan);
      await sandbox.pressKeys(key);
      await sandbox.waitForStatus("idle");
      await sandbox.dwell();
      await sandbox.pressKeys("C-u");
    }
  },
);

testScenario("/clear ends the session and starts another, which /exit ends", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.runTurn("SAY one");
  await sandbox.typeLine("/clear");
  await sandbox.waitForHook("SessionStart");
  await sandbox.dwell();
  await sandbox.runTurn("SAY two");
  await sandbox.typeLine("/exit");
  await sandbox.waitForStatus("gone");
});

testScenario("a session that is left and continued is one session", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.runTurn("SAY one");
  await sandbox.typeLine("/exit");
  await sandbox.waitForStatus("gone");
  await sandbox.dwell();
  await sandbox.startCli(`${defaultMode} --continue`);
  await sandbox.runTurn("SAY two");
  const last = sandbox.recorder.shown.at(-1)?.sessions;
  expect(last).toMatchObject([{ lastPrompt: "SAY two", turnCount: 2 }]);
  expect(last).toHaveLength(1);
});

testScenario("/compact ends with an idle session", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.runTurn("SAY one");
  await sandbox.typeLine("/compact");
  await sandbox.waitForHook("PostCompact");
  await sandbox.waitForStatus("idle");
  await sandbox.dwell();
  await sandbox.typeLine("SAY two");
  await sandbox.waitForStatus("idle");
});

testScenario("a turn that ends with an API error shows the error", [], async (sandbox) => {
  await sandbox.startCli();
  for (const code of [401, 429, 500]) {
    await sandbox.typeLine(`DO error ${code}`);
    await sandbox.waitForHook("StopFailure");
    await sandbox.waitForStatus("idle");
    await sandbox.dwell();
    const detail = expect.stringContaining(`${code}`);
    expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ status: { kind: "idle", detail } }]);
  }
});

testScenario(
  "an unattended run (-p) with a tool that would need permission shows no dialog",
  [],
  async (sandbox) => {
    await sandbox.typeLine(`claude ${defaultMode} -p 'DO bash touch x'; echo over-1`);
    await sandbox.waitForScreen(/^over-1/m);
    await sandbox.dwell();
    await sandbox.typeLine(`claude ${defaultMode} -p 'DO slow 3'; echo over-2`);
    await sandbox.waitForScreen(/^over-2/m);
  },
);

testScenario("a shell in the background does not keep the session busy", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.typeLine("DO background sleep 5");
  await sandbox.waitForStatus("shell");
  await sandbox.dwell();
  await sandbox.waitForHook("Stop", 2);
  await sandbox.waitForStatus("idle");
});

testScenario("a prompt typed during a turn runs after it", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.typeLine("DO slow 3");
  await sandbox.waitForStatus("busy");
  await sandbox.typeLine("DO slow 3");
  await sandbox.waitForHook("Stop", 2);
  await sandbox.waitForStatus("idle");
});

testScenario(
  "the idle reminder is not a question",
  [],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.typeLine("SAY one");
    await sandbox.waitForHook("Notification");
    await sandbox.dwell();
    expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([
      { activityPhase: "waiting_question", status: { kind: "idle" }, asks: [{ kind: "idle" }] },
    ]);
  },
  { claudeJson: { messageIdleNotifThresholdMs: 2_000 } },
);

testScenario(
  "a form of an MCP server is filled in, and one is dismissed",
  Array(2).fill("elicitation null: What is your name?"),
  async (sandbox) => {
    await sandbox.startCli();
    await waitForFormServer(sandbox);
    await sandbox.openDialog("DO form", dialog.form);
    await sandbox.typeLine("Bob");
    await sandbox.pressKeys("Down");
    await sandbox.pressKeys("Enter");
    await sandbox.waitForStatus("idle");
    await sandbox.dwell();
    await sandbox.typeLine("DO form");
    await sandbox.waitForStatus("waiting");
    await sandbox.dwell();
    await sandbox.pressKeys("Escape");
    await sandbox.waitForStatus("idle");
  },
  formOptions,
);
