/** More of the real opencode: subagents, interruptions, errors, several sessions in one terminal, and faults of beckon. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { opencodeDriver } from "../agent/other/opencode.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import {
  answerInBeckon,
  describeAnswers,
  describeInterruptions,
  leaveSecondSession,
} from "../agent/other/story.ts";

describeAnswers(opencodeDriver, { denial: ["not now"] });

const { testScenario } = createOtherCliTests(opencodeDriver);

testScenario("a subagent's permission, answered in the terminal and in beckon", async (sandbox) => {
  const createTask = (command: string) =>
    callTool("task", {
      description: "Help",
      prompt: opencodeDriver.createCommandPrompt(command),
      subagent_type: "general",
    });
  await sandbox.startFirst();
  await sandbox.openDialog("permission", createTask("touch one"));
  const session = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(session.asks[0]?.agentId).not.toBeNull();
  expect(session.children).toMatchObject([{ type: "general", state: "running" }]);
  await sandbox.pressKeys("Enter");
  await sandbox.settle("approved");
  await sandbox.openDialog("permission", createTask("touch two"));
  const { code } = await sandbox.beckon.run("answer", session.sessionId, "allow", "--yes");
  expect(code).toBe(0);
  await sandbox.settle("answered");
  expect(await sandbox.listFiles()).toEqual(["one", "two"]);
});

testScenario("a file that it writes is shown with its content, and allowed from beckon", async (sandbox) => {
  await sandbox.startFirst();
  const write = { filePath: `${home}/proj/a.txt`, content: "a line\n" };
  await sandbox.openDialog("permission", callTool("write", write));
  const { sessionId } = await sandbox.waitForSession(
    ({ asks }) =>
      asks.some(
        ({ tool, summary, answerable }) => answerable && tool === "Edit" && summary.includes("a.txt"),
      ),
    "the ask about a.txt",
  );
  const { stdout: shown } = await sandbox.beckon.run("answer", sessionId);
  expect(shown).toContain("a line");
  expect((await sandbox.beckon.run("answer", sessionId, "allow", "--yes")).code).toBe(0);
  await sandbox.settle("written");
  expect(sandbox.hasFile("proj/a.txt")).toBe(true);
});

testScenario(
  "the folder of a command and the target of a link are shown before they are allowed",
  async (sandbox) => {
    await sandbox.startFirst();
    const evil = `${home}/proj/node_modules/evil`;
    await sandbox.openDialog(
      "permission",
      opencodeDriver.createCommandPrompt(`mkdir -p ${evil}; ln -s ../.bashrc notes.md`),
    );
    await answerInBeckon(sandbox, "allow", "--yes");
    const command = {
      command: "touch here",
      description: "Tests",
      workdir: "node_modules/evil",
      timeout: 9_000,
    };
    await sandbox.openDialog("permission", callTool("bash", command));
    const shown = await answerInBeckon(sandbox, "allow", "--yes");
    expect(shown).toContain('  touch here\n  ⟨workdir⟩ "node_modules/evil"\n');
    expect(shown).toContain("⟨timeout⟩ 9000");
    expect(sandbox.hasFile("proj/node_modules/evil/here")).toBe(true);
    const write = { filePath: `${home}/proj/notes.md`, content: "alias ls=rm\n" };
    await sandbox.openDialog("permission", callTool("write", write));
    const linked = await answerInBeckon(sandbox, "deny");
    expect(linked).toContain("⟨a link to⟩ ~/.bashrc");
    expect(linked).toContain("⚠ changes the settings of your account or system (~/.bashrc)");
  },
);

describeInterruptions(opencodeDriver, { escapes: 2, isReported: true, hasQuestions: false });

testScenario("/compact, /new, /exit and --continue", async (sandbox) => {
  await sandbox.startFirst();
  await sandbox.say("one");
  await sandbox.typeLine("/compact");
  await sandbox.waitForScreen(/Compaction|Compacted|summary/i);
  await sandbox.waitUntilIdle();
  await sandbox.compareState("compacted");
  await sandbox.typeLine("/new");
  await sandbox.waitForScreen(/Ask anything/);
  await sandbox.say("two");
  await leaveSecondSession(sandbox);
  await sandbox.compareState("left");
  await sandbox.startCli("--continue");
  await sandbox.say("three");
  await sandbox.compareState("continued");
});

describeFaults(opencodeDriver);
