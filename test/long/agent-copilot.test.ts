/** More of the real Copilot CLI: interruptions, errors, subagents, Claude Code's hooks, and faults of beckon. */
import { expect } from "bun:test";
import { bash, copilotDriver, question } from "../agent/other/copilot.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";

const { testScenario } = createOtherCliTests(copilotDriver);

testScenario("Esc in a turn and in a question, an API error, and the next prompts", async (sandbox) => {
  await sandbox.startCli();
  await sandbox.prompt("SAY hello");
  await sandbox.waitUntilIdle();
  await sandbox.prompt("DO slow 30");
  await sandbox.look("working");
  await sandbox.pressKeys("Escape");
  await Bun.sleep(200);
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

testScenario("a subagent's permission, /exit and --continue", async (sandbox) => {
  await sandbox.startCli();
  const task = {
    agent_type: "general-purpose",
    description: "Help",
    prompt: bash("touch made"),
    name: "helper",
    mode: "sync",
  };
  await sandbox.prompt(`DO tool task ${JSON.stringify(task)}`);
  await sandbox.waitForDialog("permission");
  const session = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(session.children).toMatchObject([{ type: "general-purpose", state: "running" }]);
  await sandbox.look("dialog");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("approved");
  await sandbox.leaveCli("/exit");
  await sandbox.waitForSession(({ state }) => state === "completed", "the end");
  await sandbox.look("left");
  await sandbox.startCli("--continue");
  await sandbox.prompt("SAY again");
  await sandbox.waitUntilIdle();
  await sandbox.look("continued");
});

testScenario(
  "a project's Claude Code hooks that call beckon: one session, Copilot CLI's",
  async (sandbox) => {
    await sandbox.runShell("cd proj && beckon --install --no-login --agent claude --scope project");
    await sandbox.startCli();
    await sandbox.prompt("SAY hello");
    await sandbox.waitUntilIdle();
    await sandbox.prompt(bash("touch made"));
    await sandbox.waitForDialog("permission");
    await sandbox.look("dialog");
    await sandbox.pressKeys("Enter");
    await sandbox.waitUntilNoDialog();
    await sandbox.waitUntilIdle();
    await sandbox.look("approved");
    const { stdout } = await sandbox.beckon.run("status", "--json");
    const { sessions } = JSON.parse(stdout) as { sessions: readonly { readonly provider: string }[] };
    expect(sessions.map(({ provider }) => provider)).toEqual(["copilot"]);
  },
);

describeFaults(copilotDriver, { createPrompt: bash, exit: "/exit" });
