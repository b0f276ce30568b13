/** The real Codex with beckon's hooks: does beckon show what is on the screen, and do its answers arrive? */
import { expect } from "bun:test";
import { codexDriver, escalate, question, say, startTrusted } from "./other/codex.ts";
import { createOtherCliTests } from "./other/scenario.ts";

const { testScenario } = createOtherCliTests(codexDriver);

testScenario("permissions approved, denied and dismissed, a question, and kill -9", async (sandbox) => {
  await startTrusted(sandbox);
  await say(sandbox, "hello");
  await sandbox.look("after the first turn");

  await sandbox.prompt(escalate("touch approved"));
  await sandbox.waitForDialog("permission");
  const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(waiting).toMatchObject({
    provider: "codex",
    activityPhase: "waiting_permission",
    asks: [{ kind: "permission", tool: "Bash", summary: "touch approved", answerable: false }],
  });
  await sandbox.look("permission dialog");
  await sandbox.pressKeys("y");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("approved");

  await sandbox.prompt(escalate("touch denied"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("second dialog");
  await sandbox.pressKeys("Down", "Down", "Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("denied");

  await sandbox.prompt(escalate("touch dismissed"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("third dialog");
  await sandbox.pressKeys("Escape");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("dismissed");

  // Plan mode: only there Codex asks questions.
  await sandbox.pressKeys("BTab");
  await Bun.sleep(800);
  await sandbox.prompt(question);
  await sandbox.waitForDialog("question");
  await sandbox.look("question");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("answered");
  await sandbox.pressKeys("BTab");
  await Bun.sleep(800);

  await sandbox.prompt(`DO tool exec_command ${JSON.stringify({ cmd: "sleep 60", yield_time_ms: 30_000 })}`);
  await sandbox.look("working");
  await sandbox.killCli();
  await sandbox.waitForSession(({ state }) => state === "completed", "the end");
  const { stdout } = await sandbox.space.run(["ls", "proj"], {});
  expect(stdout).toBe("approved\n");
});
