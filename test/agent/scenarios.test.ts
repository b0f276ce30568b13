/** The real Claude Code CLI with its real hooks and status file: does beckon show the right state? */
import { afterAll, expect } from "bun:test";
import { createCliTests, dialog, formatSummary } from "./scenario.ts";

const { testScenario, testWithoutErrors } = createCliTests();

afterAll(() => console.log(formatSummary()));

testScenario(
  "a permission answered with No in the terminal, which no hook reports, and the next prompt",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.openDialog("DO bash touch x", dialog.permission);
    await sandbox.pressKeys("4");
    await sandbox.waitForStatus("idle");
    await sandbox.dwell();
    await sandbox.typeLine("SAY next");
    await sandbox.waitForStatus("idle");
  },
);

testScenario(
  "a question answered, and one dismissed with Esc",
  ["question AskUserQuestion: Which colour?", "question AskUserQuestion: Which colour?"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.openDialog("DO ask", dialog.question);
    await sandbox.pressKeys("Enter");
    await sandbox.waitForStatus("idle");
    await sandbox.dwell();
    await sandbox.openDialog("DO ask", dialog.question);
    await sandbox.pressKeys("Escape");
    await sandbox.waitForStatus("idle");
  },
);

testScenario("a CLI that is killed while it works is shown as completed", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.typeLine("DO slow 30");
  await sandbox.waitForStatus("busy");
  await sandbox.dwell();
  await sandbox.killCli();
  await sandbox.waitForState("completed");
});

testScenario(
  "a subagent's permission is approved after the main turn has ended",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.typeLine("DO agent DO bash touch x");
    await sandbox.waitForHook("Stop");
    await sandbox.waitForStatus("waiting");
    await sandbox.waitForScreen(dialog.permission);
    await sandbox.dwell();
    await sandbox.pressKeys("Enter");
    await sandbox.waitForHook("Stop");
    await sandbox.waitForStatus("idle");
  },
);

testWithoutErrors(
  "a session that was started before beckon, without its hooks, is in the first response",
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.typeLine("DO bash touch x");
    await sandbox.waitForScreen(dialog.permission);
    const sessions = await sandbox.beckon.start();
    expect(sessions).toMatchObject([{ state: "active", activityPhase: "waiting_permission" }]);
    expect(sessions).toHaveLength(1);
  },
  { isInstalled: false },
);

testWithoutErrors(
  "a session that was started before the install is shown, and its hooks arrive after the install",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await sandbox.waitForState("active", "interactable");
    await sandbox.runShell("beckon --install --no-login");
    // The CLI has reloaded its settings.
    await sandbox.waitForHook("ConfigChange");
    await sandbox.typeLine("SAY hello");
    await sandbox.waitForArrival("UserPromptSubmit");
    await sandbox.waitForArrival("Stop");
  },
  { isInstalled: false },
);

testWithoutErrors(
  "beckon shows what happened while it was down, and the same after kill -9",
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.typeLine("SAY hello");
    await sandbox.waitForStatus("idle");
    await sandbox.typeLine("DO bash touch x");
    await sandbox.waitForHook("PermissionRequest");
    await sandbox.waitForScreen(dialog.permission);
    const [first] = await sandbox.beckon.start();
    expect(first).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ kind: "permission", tool: "Bash", summary: "touch x" }],
      turnCount: 2,
      lastPrompt: "DO bash touch x",
      lastResponse: "hello",
    });
    await sandbox.beckon.kill();
    const [second] = await sandbox.beckon.start();
    expect(second?.activityPhase).toBe("waiting_permission");
    expect(second?.asks).toEqual(first?.asks ?? []);
    await sandbox.pressKeys("Enter");
    await sandbox.waitForStatus("idle");
    await sandbox.waitForState("active", "interactable");
  },
);
