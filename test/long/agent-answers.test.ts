/** More answers to the real Claude Code CLI, and other ways in which its dialogs end. */
import { expect } from "bun:test";
import { timing } from "../../src/core/timing.ts";
import {
  answerByCommand,
  expectClosed,
  expectTooLate,
  listHooks,
  listOpenAsks,
  openAsk,
  readToolResult,
  waitForAsk,
  waitForHookEnd,
} from "../agent/answering.ts";
import { testOnDesktop } from "../agent/desktop.ts";
import { type Sandbox, waitFor } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

const { testScenario, testWithoutErrors, testDriven } = createCliTests();
const onDesktop = testOnDesktop();
const longMs = 150_000;
const heartbeatsMs = 2 * timing.pendingHeartbeatMs;

testScenario(
  "after always, the same command is not asked about again",
  ["permission Bash: hostid"],
  async (sandbox) => {
    await sandbox.startCli();
    const first = await openAsk(sandbox, "DO bash hostid", dialog.permission);
    expect(await answerByCommand(sandbox, first, "always")).toContain(
      "From now on: Always allow hostid in this project",
    );
    await expectClosed(sandbox, dialog.permission);
    const result = readToolResult(sandbox);
    expect(result).toMatch(/^[0-9a-f]{8}$/);
    await sandbox.typeLine("DO bash hostid");
    await sandbox.waitForStatus("idle");
    expect(sandbox.readRequests().slice(-1)).toMatchObject([{ results: result }]);
    expect(sandbox.recorder.countHooks("PermissionRequest", 0)).toBe(1);
  },
);

testScenario(
  "two questions at once, several options of one question, and an answer in own words",
  [
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colours?",
  ],
  async (sandbox) => {
    await sandbox.startCli();
    const two = await openAsk(sandbox, "DO ask two", dialog.question);
    await answerByCommand(sandbox, two, "2", "large");
    await expectClosed(sandbox, dialog.question);
    expect(readToolResult(sandbox)).toContain('"Which colour?"="Blue"');
    expect(readToolResult(sandbox)).toContain('"Which size?"="Large"');

    const several = await openAsk(sandbox, "DO ask several", dialog.question);
    await answerByCommand(sandbox, several, "red, blue");
    await expectClosed(sandbox, dialog.question);
    expect(readToolResult(sandbox)).toContain('"Which colours?"="Red, Blue"');

    const own = await openAsk(sandbox, "DO ask", dialog.question);
    await answerByCommand(sandbox, own, "neither,", "but", "a", "warm", "grey");
    await expectClosed(sandbox, dialog.question);
    expect(readToolResult(sandbox)).toContain('"Which colour?"="neither, but a warm grey"');
  },
);

testScenario(
  "a plan is rejected with a message, and one is approved",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (sandbox) => {
    await sandbox.startCli("--permission-mode plan");
    const back = await openAsk(sandbox, "DO plan", dialog.plan);
    await answerByCommand(sandbox, back, "add", "tests", "first");
    await expectClosed(sandbox, dialog.plan);
    expect(readToolResult(sandbox)).toContain("add tests first");

    const good = await openAsk(sandbox, "DO plan", dialog.plan);
    await answerByCommand(sandbox, good, "allow");
    await expectClosed(sandbox, dialog.plan);
    expect(readToolResult(sandbox)).toContain("approved your plan");
  },
);

for (const [name, key] of [
  ["Esc", "Escape"],
  ["No", "4"],
] as const) {
  testScenario(
    `an ask answered first with ${name} in the terminal closes`,
    ["permission Bash: touch x"],
    async (sandbox) => {
      await sandbox.startCli();
      const open = await openAsk(sandbox, "DO bash touch x", dialog.permission);
      await sandbox.dwell();
      await sandbox.pressKeys(key);
      await expectClosed(sandbox, dialog.permission);
      await expectTooLate(sandbox, open);
      expect(sandbox.hasFile("proj/x")).toBe(false);
    },
  );
}

onDesktop(
  "Esc in the terminal withdraws the notification",
  async (sandbox, desktop) => {
    await sandbox.startCli();
    await openAsk(sandbox, "DO bash touch x", dialog.permission);
    await desktop.waitForNotification();
    await sandbox.pressKeys("Escape");
    await desktop.waitUntilWithdrawn();
    await expectClosed(sandbox, dialog.permission);
    expect(sandbox.hasFile("proj/x")).toBe(false);
  },
  longMs,
);

for (const signal of ["TERM", "KILL"] as const) {
  testScenario(
    `kill -${signal} of a CLI that asks ends its session and its hook`,
    ["permission Bash: touch x"],
    async (sandbox) => {
      await sandbox.startCli();
      const open = await openAsk(sandbox, "DO bash touch x", dialog.permission);
      await sandbox.killCli(signal);
      await sandbox.waitForState("completed");
      await waitForHookEnd(sandbox);
      expect(listOpenAsks(sandbox)).toEqual([]);
      await expectTooLate(sandbox, open);
      expect(sandbox.hasFile("proj/x")).toBe(false);
      await waitFor(
        "the exit of all processes of the CLI",
        () => !sandbox.listProcesses().some((line) => /claude/.test(line)),
      );
    },
  );
}

/** The dialog appears 0.1 s after its hook has started, unless the hook waits. */
const maxDialogMs = 1_500;

testScenario(
  "a subagent's dialog appears at once and can be answered only in the terminal",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.typeLine("DO agent DO bash touch x");
    await sandbox.waitForHook("PermissionRequest");
    const hookAt = performance.now();
    await sandbox.waitForScreen(dialog.permission);
    expect(performance.now() - hookAt).toBeLessThan(maxDialogMs);
    await sandbox.waitForState("active", "waiting_permission");
    const [session] = sandbox.recorder.shown.at(-1)?.sessions ?? [];
    expect(session?.asks).toMatchObject([{ answerable: false }]);
    expect(listHooks(sandbox)).toEqual([]);
    const { code, stderr } = await sandbox.beckon.run("answer", session?.sessionId ?? "", "allow");
    expect(code).toBe(1);
    expect(stderr).toContain("a subagent asks");
    expect(sandbox.hasFile("proj/x")).toBe(false);
    await sandbox.acceptDialog(dialog.permission);
    await sandbox.waitForFile("proj/x");
    await sandbox.waitForHook("Stop");
    await sandbox.waitForStatus("idle");
  },
);

/** Checks that the dialog stays open and nothing runs. */
async function expectStillOpen(sandbox: Sandbox): Promise<void> {
  await sandbox.dwell();
  await sandbox.waitForScreen(dialog.permission);
  expect(sandbox.hasFile("proj/x")).toBe(false);
}

async function acceptInTerminal(sandbox: Sandbox): Promise<void> {
  await sandbox.acceptDialog(dialog.permission);
  await sandbox.waitForFile("proj/x");
  await sandbox.waitForStatus("idle");
}

testWithoutErrors("beckon that is killed while a hook waits can answer after a restart", async (sandbox) => {
  await sandbox.beckon.start();
  await sandbox.startCli();
  await openAsk(sandbox, "DO bash touch x", dialog.permission);
  await sandbox.beckon.kill();
  await expectStillOpen(sandbox);
  expect(listHooks(sandbox)).toHaveLength(1);
  await sandbox.beckon.start();
  await answerByCommand(sandbox, await waitForAsk(sandbox), "allow");
  await sandbox.waitForFile("proj/x");
  await expectClosed(sandbox, dialog.permission);
});

testWithoutErrors(
  "an ask that is answered in the terminal while beckon is down is closed after its restart",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    const open = await openAsk(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.kill();
    await expectStillOpen(sandbox);
    await acceptInTerminal(sandbox);
    await sandbox.beckon.start();
    await waitForHookEnd(sandbox);
    await sandbox.waitForState("active", "interactable");
    expect(listOpenAsks(sandbox)).toEqual([]);
    await expectTooLate(sandbox, open);
  },
);

testDriven(
  "after beckon is killed for good, its hook exits and the dialog stays",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await openAsk(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.kill();
    await waitForHookEnd(sandbox, timing.pendingReconnectMs + heartbeatsMs);
    await expectStillOpen(sandbox);
    await acceptInTerminal(sandbox);
    expect(await sandbox.readHookErrors()).toEqual([]);
  },
  {},
  longMs,
);

testDriven(
  "while beckon hangs, its hook exits and the dialog stays",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await openAsk(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.suspend();
    await waitForHookEnd(sandbox, timing.pendingSilenceMs + heartbeatsMs);
    await expectStillOpen(sandbox);
    await acceptInTerminal(sandbox);
    await sandbox.beckon.resume();
    await sandbox.waitForState("active", "interactable");
    expect(listOpenAsks(sandbox)).toEqual([]);
    expect(await sandbox.readHookErrors()).toEqual([]);
  },
  {},
  longMs,
);

testDriven(
  "while beckon hangs, the dialog is answered in the terminal before its hook exits",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    const open = await openAsk(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.suspend();
    await acceptInTerminal(sandbox);
    await waitForHookEnd(sandbox, timing.pendingSilenceMs + heartbeatsMs);
    await sandbox.beckon.resume();
    await sandbox.waitForState("active", "interactable");
    expect(listOpenAsks(sandbox)).toEqual([]);
    await expectTooLate(sandbox, open);
    expect(await sandbox.readHookErrors()).toEqual([]);
  },
  {},
  longMs,
);
