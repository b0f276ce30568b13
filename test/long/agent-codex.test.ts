/** More of the real Codex: its shared server and answers, interruptions, errors, several sessions, and faults of beckon. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { codexDriver, startWithServer, togglePlanMode } from "../agent/other/codex.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import {
  answerInBeckon,
  describeAnswers,
  describeInterruptions,
  leaveSecondSession,
} from "../agent/other/story.ts";
import { letTimePass } from "../wait-until.ts";

const { testScenario } = createOtherCliTests(codexDriver);

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

describeInterruptions(codexDriver, { escapes: 1, isReported: true, hasQuestions: false });

testScenario("/compact, /new and /exit", async (sandbox) => {
  await sandbox.startFirst();
  await sandbox.say("hello");
  await sandbox.typeLine("/compact");
  await sandbox.waitForScreen(/compacted/i);
  await sandbox.waitUntilIdle();
  await sandbox.compareState("compacted");
  await sandbox.typeLine("/new");
  await letTimePass(2_000, "nothing on the screen tells the new session from the old one");
  await sandbox.say("again");
  await leaveSecondSession(sandbox);
});

describeFaults(codexDriver);
