/** The real Kimi Code with beckon's hooks beside the user's own. */
import { expect } from "bun:test";
import { describeFaults } from "../agent/other/faults.ts";
import { kimiDriver } from "../agent/other/kimi.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";

const { testScenario } = createOtherCliTests(kimiDriver);

testScenario("a permission, and the user's own hook still runs", async (sandbox) => {
  await sandbox.startFirst();
  await sandbox.say("hello");
  await sandbox.compareState("after the first turn");
  await sandbox.openDialog("permission", kimiDriver.createCommandPrompt("touch approved"));
  const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(waiting.asks).toMatchObject([{ kind: "permission", tool: "Bash", summary: "touch approved" }]);
  await sandbox.pressKeys("Enter");
  await sandbox.settle("approved");
  await sandbox.openDialog("permission", kimiDriver.createCommandPrompt("touch denied"));
  await sandbox.pressKeys("3");
  await sandbox.settle("denied");
  expect(await sandbox.listFiles()).toEqual(["approved"]);
  await sandbox.runShell(`test "$(wc -l <own-hook)" -ge 2 && touch proj/seen`);
  expect(await sandbox.listFiles()).toEqual(["approved", "seen"]);
  await sandbox.leaveCli();
});

describeFaults(kimiDriver);
