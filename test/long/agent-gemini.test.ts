/** More of the real Gemini CLI: interruptions, errors, edits, several sessions, and faults of beckon. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { geminiDriver } from "../agent/other/gemini.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import {
  describeDialogs,
  describeInterruptions,
  describeStoppedCommand,
  leaveSecondSession,
} from "../agent/other/story.ts";
import { letTimePass } from "../wait-until.ts";

const { testScenario } = createOtherCliTests(geminiDriver);

describeStoppedCommand(geminiDriver, { escapes: 1 });
describeInterruptions(geminiDriver, {
  escapes: 1,
  // Its hook is that of any turn's end.
  isReported: false,
  isLeavingReported: true,
  hasQuestions: true,
});

testScenario("an edit, a long command, /clear, /quit and --resume", async (sandbox) => {
  await sandbox.startFirst();
  const edit = { file_path: `${home}/proj/made`, content: "text" };
  await sandbox.openDialog("permission", callTool("write_file", edit));
  const session = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(session.asks).toMatchObject([{ tool: "WriteFile", summary: `${home}/proj/made` }]);
  await sandbox.pressKeys("Enter");
  await sandbox.settle("edited");

  await sandbox.openDialog("permission", geminiDriver.createCommandPrompt("sleep 5"));
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  // Nothing but its process shows that it was approved.
  await sandbox.waitForSession(
    ({ asks, activityPhase }) => asks.length === 0 && activityPhase === "busy",
    "the approval",
  );
  await sandbox.waitForScreen(/Done, without errors/);
  await sandbox.waitUntilIdle();
  await sandbox.compareState("run");

  await sandbox.typeCommand("/clear", ({ endReason }) => endReason === "clear");
  await sandbox.waitForSession(
    ({ state, turnCount }) => state === "active" && turnCount === 0,
    "the session after it",
  );
  await letTimePass(1_500, "it draws its prompt again before it reads keys");
  await sandbox.say("two");
  await leaveSecondSession(sandbox);
  await sandbox.compareState("left");
  await sandbox.startCli("--resume latest");
  await sandbox.say("three");
  await sandbox.compareState("resumed");
});

describeFaults(geminiDriver);

describeDialogs(geminiDriver, {
  ask: { tool: "Shell" },
  deny: (sandbox) => sandbox.pressKeys("3"),
  atEnd: { model: expect.stringContaining("gemini") },
});
