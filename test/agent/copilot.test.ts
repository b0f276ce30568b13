/** The real Copilot CLI with beckon's hooks: does beckon show what is on the screen? */
import { expect } from "bun:test";
import { bash, copilotDriver, question } from "./other/copilot.ts";
import { createOtherCliTests } from "./other/scenario.ts";

const { testScenario } = createOtherCliTests(copilotDriver);

testScenario("permissions approved, denied and left with Esc, a question, and kill -9", async (sandbox) => {
  await sandbox.startCli();
  await sandbox.prompt("SAY hello");
  await sandbox.waitUntilIdle();
  await sandbox.look("after the first turn");

  await sandbox.prompt(bash("touch approved"));
  await sandbox.waitForDialog("permission");
  const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(waiting).toMatchObject({
    provider: "copilot",
    activityPhase: "waiting_permission",
    asks: [{ kind: "permission", tool: "Bash", summary: "touch approved", answerable: false }],
  });
  await sandbox.look("permission dialog");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("approved");

  await sandbox.prompt(bash("touch denied"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("second dialog");
  await sandbox.pressKeys("3");
  await Bun.sleep(500);
  await sandbox.typeLine("SAY not now");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("denied");

  await sandbox.prompt(bash("touch dismissed"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("third dialog");
  await sandbox.pressKeys("Escape");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("dismissed");

  await sandbox.prompt(question);
  await sandbox.waitForDialog("question");
  const asking = await sandbox.waitForSession(
    ({ asks }) => asks.some(({ options }) => options.length > 0),
    "a question",
  );
  expect(asking.asks).toMatchObject([
    { kind: "question", summary: "Which colour do you want?", options: ["Red", "Blue"] },
  ]);
  await sandbox.look("question");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("answered");

  await sandbox.prompt("DO slow 30");
  await sandbox.look("working");
  await sandbox.killCli();
  const ended = await sandbox.waitForSession(({ state }) => state === "completed", "the end");
  expect(ended).toMatchObject({ tokens: { output: expect.any(Number) }, model: "gpt-4.1" });
  const { stdout } = await sandbox.space.run(["ls", "proj"], {});
  expect(stdout).toBe("approved\n");
});
