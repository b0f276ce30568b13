/** The real opencode with beckon's plugin: does beckon show what is on the screen, and do its answers arrive? */
import { expect } from "bun:test";
import { bash, opencodeDriver, question } from "./other/opencode.ts";
import { createOtherCliTests } from "./other/scenario.ts";

const { testScenario } = createOtherCliTests(opencodeDriver);

testScenario("permissions approved, denied and dismissed, a question, and kill -9", async (sandbox) => {
  await sandbox.startCli();
  await sandbox.prompt("SAY hello");
  await sandbox.waitUntilIdle();
  await sandbox.look("after the first turn");

  await sandbox.prompt(bash("touch approved"));
  await sandbox.waitForDialog("permission");
  const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(waiting).toMatchObject({
    provider: "opencode",
    activityPhase: "waiting_permission",
    asks: [{ kind: "permission", tool: "Bash", summary: "touch approved" }],
  });
  await sandbox.look("permission dialog");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("approved");

  await sandbox.prompt(bash("touch denied"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("second dialog");
  await sandbox.pressKeys("Right", "Right", "Enter");
  await Bun.sleep(400);
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("denied");

  await sandbox.prompt(bash("touch dismissed"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("third dialog");
  await sandbox.pressKeys("Escape");
  await Bun.sleep(400);
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("dismissed");

  await sandbox.prompt(question);
  await sandbox.waitForDialog("question");
  await sandbox.look("question");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("answered");

  await sandbox.prompt("DO slow 30");
  await sandbox.look("working");
  await sandbox.killCli();
  await sandbox.waitForSession(({ state }) => state === "completed", "the end");
  const { stdout } = await sandbox.space.run(["ls", "proj"], {});
  expect(stdout).toBe("approved\n");
});

testScenario("answers given in beckon close the open dialog", async (sandbox) => {
  await sandbox.startCli();
  const answer = async (...args: string[]) => {
    const { sessionId } = await sandbox.waitForSession(
      ({ asks }) => asks.some(({ answerable }) => answerable),
      "an ask that can be answered",
    );
    const { code, stderr } = await sandbox.beckon.run("answer", sessionId, ...args);
    expect([code, stderr]).toEqual([0, ""]);
    await sandbox.waitUntilNoDialog();
    await sandbox.waitUntilIdle();
  };
  await sandbox.prompt(bash("touch allowed"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("dialog");
  await answer("allow", "--yes");
  await sandbox.look("allowed");

  await sandbox.prompt(bash("touch denied"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("dialog");
  await answer("deny", "not now");
  await sandbox.look("denied");
  expect(sandbox.readLastText()).toContain("not now");

  await sandbox.prompt(question);
  await sandbox.waitForDialog("question");
  await sandbox.look("question");
  await answer("Blue");
  await sandbox.look("answered");
  expect(await sandbox.readScreen()).toContain("Blue");
  const { stdout } = await sandbox.space.run(["ls", "proj"], {});
  expect(stdout).toBe("allowed\n");
});
