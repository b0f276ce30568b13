/** More of the real Copilot CLI: interruptions, errors, subagents, Claude Code's hooks, and faults of beckon. */
import { expect } from "bun:test";
import { copilotDriver } from "../agent/other/copilot.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import { describeDialogs, describeInterruptions, describeStoppedCommand } from "../agent/other/story.ts";

const { testScenario } = createOtherCliTests(copilotDriver);

describeStoppedCommand(copilotDriver, { escapes: 2 });
describeInterruptions(copilotDriver, { escapes: 2, isReported: false, hasQuestions: true });

testScenario("a subagent's permission, /exit and --continue", async (sandbox) => {
  await sandbox.startFirst();
  // Before the first prompt there is no hook.
  await sandbox.waitForSession(({ activityPhase }) => activityPhase === "interactable", "the session");
  await sandbox.compareState("started");
  const task = {
    agent_type: "general-purpose",
    description: "Help",
    prompt: copilotDriver.createCommandPrompt("touch made"),
    name: "helper",
    mode: "sync",
  };
  await sandbox.openDialog("permission", callTool("task", task));
  const session = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(session.children).toMatchObject([{ type: "general-purpose", state: "running" }]);
  await sandbox.waitForSession(({ asks: [ask] }) => ask?.agentId === session.children[0]?.agentId, "its ask");
  await sandbox.pressKeys("Enter");
  await sandbox.settle("approved");
  await sandbox.leaveCli();
  await sandbox.waitForSession(({ state }) => state === "completed", "the end");
  await sandbox.compareState("left");
  await sandbox.startCli("--continue");
  await sandbox.waitForSession(({ state }) => state === "active", "the session again");
  await sandbox.compareState("started again");
  await sandbox.say("again");
  await sandbox.compareState("continued");
});

testScenario(
  "a project's Claude Code hooks that call beckon: one session, Copilot CLI's",
  async (sandbox) => {
    await sandbox.runShell("cd proj && beckon --install --no-login --agent claude --scope project");
    await sandbox.startFirst();
    await sandbox.say("hello");
    await sandbox.openDialog("permission", copilotDriver.createCommandPrompt("touch made"));
    await sandbox.pressKeys("Enter");
    await sandbox.settle("approved");
    const { stdout } = await sandbox.beckon.run("status", "--json");
    // Both send each event: it must count once.
    expect(JSON.parse(stdout).sessions).toMatchObject([{ provider: "copilot", turnCount: 2 }]);
  },
);

describeFaults(copilotDriver);

describeDialogs(copilotDriver, {
  ask: { tool: "Bash" },
  // The dialog waits for a reason.
  async deny(sandbox) {
    await sandbox.pressAndSee("3");
    await sandbox.typeLine("SAY not now");
  },
  atEnd: { model: "gpt-4.1" },
});
