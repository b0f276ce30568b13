/** The real Grok Build with beckon's hooks. */
import { expect } from "bun:test";
import { describeFaults } from "../agent/other/faults.ts";
import { grokDriver } from "../agent/other/grok.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";

const { testScenario } = createOtherCliTests(grokDriver);

testScenario("permissions approved and denied", async (sandbox) => {
  await sandbox.startFirst();
  await sandbox.say("hello");
  await sandbox.compareState("after the first turn");
  await sandbox.openDialog("permission", grokDriver.createCommandPrompt("touch approved"));
  const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(waiting).toMatchObject({ provider: "grok", asks: [{ kind: "permission", tool: "Bash" }] });
  await sandbox.pressKeys("3");
  await sandbox.settle("approved");
  await sandbox.openDialog("permission", grokDriver.createCommandPrompt("touch denied"));
  await sandbox.pressKeys("4");
  await sandbox.pressKeys("Enter");
  await sandbox.settle("denied");
  expect(await sandbox.listFiles()).toEqual(["approved"]);
});

describeFaults(grokDriver);
