/** More of the real Gemini CLI: interruptions, errors, edits, several sessions, and faults of beckon. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { geminiDriver, question, shell } from "../agent/other/gemini.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";

const { testScenario } = createOtherCliTests(geminiDriver);

testScenario("Esc in a turn and in a question, an API error, and the next prompts", async (sandbox) => {
  await sandbox.startCli();
  await sandbox.prompt("DO slow 30");
  await sandbox.look("working");
  await sandbox.pressKeys("Escape");
  await sandbox.waitUntilIdle();
  await sandbox.look("interrupted");

  await sandbox.prompt(question);
  await sandbox.waitForDialog("question");
  await sandbox.look("question");
  await sandbox.pressKeys("Escape");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("question left");
  await sandbox.waitForSession(({ interrupted }) => interrupted === true, "the interruption");

  // Too quick to be seen at work.
  await sandbox.typeLine("DO error 400");
  await sandbox.waitForScreen(/as scripted/);
  await sandbox.waitUntilIdle();
  await sandbox.look("error");
  await sandbox.waitForSession(({ error }) => error?.includes("as scripted") === true, "the error");
  await sandbox.prompt("SAY next");
  await sandbox.waitUntilIdle();
  await sandbox.look("next");
  await sandbox.waitForSession(({ error, tokens }) => error === null && tokens !== null, "tokens");
});

testScenario("an edit, a long command, /clear, /quit and --resume", async (sandbox) => {
  await sandbox.startCli();
  const edit = { file_path: `${home}/proj/made`, content: "text" };
  await sandbox.prompt(`DO tool write_file ${JSON.stringify(edit)}`);
  await sandbox.waitForDialog("permission");
  const session = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(session.asks).toMatchObject([{ tool: "WriteFile", summary: `${home}/proj/made` }]);
  await sandbox.look("edit");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("edited");

  await sandbox.prompt(shell("sleep 5"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("command");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  // Nothing but its process shows that it was approved.
  await sandbox.waitForSession(
    ({ asks, activityPhase }) => asks.length === 0 && activityPhase === "busy",
    "the approval",
  );
  await sandbox.waitForScreen(/Done, without errors/);
  await sandbox.waitUntilIdle();
  await sandbox.look("run");

  await sandbox.typeLine("/clear");
  await sandbox.waitForSession(({ endReason }) => endReason === "clear", "the session that was cleared");
  await sandbox.waitForSession(
    ({ state, turnCount }) => state === "active" && turnCount === 0,
    "the session after it",
  );
  // It draws its prompt again before it reads keys.
  await Bun.sleep(1_500);
  await sandbox.prompt("SAY two");
  await sandbox.waitUntilIdle();
  await sandbox.look("cleared");
  await sandbox.leaveCli("/quit");
  await sandbox.waitForSession(
    ({ state, endReason }) => state === "completed" && endReason !== "clear",
    "the end",
  );
  await sandbox.look("left");
  await sandbox.startCli("--resume latest");
  await sandbox.prompt("SAY three");
  await sandbox.waitUntilIdle();
  await sandbox.look("resumed");
});

describeFaults(geminiDriver, { createPrompt: shell, exit: "/quit" });
