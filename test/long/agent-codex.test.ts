/** More of the real Codex: its shared server and answers, interruptions, errors, several sessions, and faults of beckon. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { codexDriver, togglePlanMode } from "../agent/other/codex.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { callTool } from "../agent/other/prompts.ts";
import type { OtherSandbox } from "../agent/other/sandbox.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import {
  answerInBeckon,
  describeAnswers,
  describeInterruptions,
  leaveSecondSession,
} from "../agent/other/story.ts";

const { testScenario } = createOtherCliTests(codexDriver);

/** With its shared server, Codex can leave the first prompt unsent. */
async function sendFirst(sandbox: OtherSandbox): Promise<void> {
  await sandbox.typeLine("SAY started");
  for (let tries = 0; tries < 20; tries++) {
    await Bun.sleep(1_000);
    if (/^• started/m.test(await sandbox.readScreen())) return;
    if (tries % 4 === 3) await sandbox.pressKeys("Enter");
  }
  throw new Error("the first prompt was not sent");
}

/** Starts Codex with its shared server and one turn. The hooks are trusted first, in a terminal without it. */
async function startWithServer(sandbox: OtherSandbox): Promise<void> {
  await sandbox.startFirst();
  await sandbox.say("hello");
  await sandbox.leaveCli();
  await sandbox.startCli();
  await sendFirst(sandbox);
  await sandbox.waitUntilIdle();
}

describeAnswers(codexDriver, {
  start: startWithServer,
  denial: [],
  toggleQuestions: togglePlanMode,
});

testScenario("a change of files is shown in full, and allowed and denied in beckon", async (sandbox) => {
  await startWithServer(sandbox);
  // Outside of the project, so Codex asks.
  const createPatchPrompt = (name: string) => {
    const lines = ["*** Begin Patch", `*** Add File: ${home}/${name}`, "+a line", "*** End Patch"];
    return callTool("exec_command", { cmd: ["apply_patch <<'EOF'", ...lines, "EOF", ""].join("\n") });
  };
  await sandbox.openDialog("permission", createPatchPrompt("allowed.txt"));
  expect(await answerInBeckon(sandbox, "allow", "--yes")).toMatch(/Change .*allowed\.txt[\s\S]*\+a line/);
  expect(sandbox.hasFile("allowed.txt")).toBe(true);

  await sandbox.openDialog("permission", createPatchPrompt("denied.txt"));
  await answerInBeckon(sandbox, "deny");
  expect(sandbox.hasFile("denied.txt")).toBe(false);
});

describeInterruptions(codexDriver, { escapes: 1, isReported: false, hasQuestions: false });

testScenario("/compact, /new and /exit", async (sandbox) => {
  await sandbox.startFirst();
  await sandbox.say("hello");
  await sandbox.typeLine("/compact");
  await sandbox.waitForScreen(/compacted/i);
  await sandbox.waitUntilIdle();
  await sandbox.look("compacted");
  await sandbox.typeLine("/new");
  await Bun.sleep(2_000);
  await sandbox.say("again");
  await leaveSecondSession(sandbox);
});

describeFaults(codexDriver);
