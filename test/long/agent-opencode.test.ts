/** More of the real opencode: subagents, interruptions, errors, several sessions in one terminal, and faults of beckon. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { describeFaults } from "../agent/other/faults.ts";
import { bash, opencodeDriver } from "../agent/other/opencode.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";

const { testScenario } = createOtherCliTests(opencodeDriver);

testScenario("a subagent's permission, answered in the terminal and in beckon", async (sandbox) => {
  const task = (command: string) =>
    `DO tool task ${JSON.stringify({ description: "Help", prompt: bash(command), subagent_type: "general" })}`;
  await sandbox.startCli();
  await sandbox.prompt(task("touch one"));
  await sandbox.waitForDialog("permission");
  const session = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
  expect(session.asks[0]?.agentId).not.toBeNull();
  expect(session.children).toMatchObject([{ type: "general", state: "running" }]);
  await sandbox.look("dialog");
  await sandbox.pressKeys("Enter");
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("approved");
  await sandbox.prompt(task("touch two"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("second dialog");
  const { code } = await sandbox.beckon.run("answer", session.sessionId, "allow", "--yes");
  expect(code).toBe(0);
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("answered");
  const { stdout } = await sandbox.space.run(["ls", "proj"], {});
  expect(stdout).toBe("one\ntwo\n");
});

testScenario("a file that it writes is shown with its content, and allowed from beckon", async (sandbox) => {
  const write = (name: string) =>
    `DO tool write ${JSON.stringify({ filePath: `${home}/proj/${name}`, content: "a line\n" })}`;
  await sandbox.startCli();
  await sandbox.prompt(write("a.txt"));
  await sandbox.waitForDialog("permission");
  const { sessionId } = await sandbox.waitForSession(
    ({ asks }) =>
      asks.some(
        ({ tool, summary, answerable }) => answerable && tool === "Edit" && summary.includes("a.txt"),
      ),
    "the ask about a.txt",
  );
  await sandbox.look("dialog");
  const { stdout: shown } = await sandbox.beckon.run("answer", sessionId);
  expect(shown).toContain("a line");
  expect((await sandbox.beckon.run("answer", sessionId, "allow", "--yes")).code).toBe(0);
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  await sandbox.look("written");
  expect(sandbox.hasFile("proj/a.txt")).toBe(true);
});

testScenario("Esc while it works, an API error, and the next prompts", async (sandbox) => {
  await sandbox.startCli();
  await sandbox.prompt("DO slow 30");
  await sandbox.look("working");
  await sandbox.pressKeys("Escape");
  await Bun.sleep(300);
  await sandbox.pressKeys("Escape");
  await sandbox.waitUntilIdle();
  await sandbox.look("interrupted");
  await sandbox.waitForSession(({ interrupted }) => interrupted === true, "the interruption");
  await sandbox.prompt("DO error 400");
  await sandbox.waitUntilIdle();
  await sandbox.look("error");
  await sandbox.waitForSession(({ error }) => error !== null, "the error");
  await sandbox.prompt("SAY next");
  await sandbox.waitUntilIdle();
  await sandbox.look("next");
  await sandbox.waitForSession(({ error, tokens }) => error === null && tokens !== null, "tokens");
});

testScenario("/compact, /new, /exit and --continue", async (sandbox) => {
  await sandbox.startCli();
  await sandbox.prompt("SAY one");
  await sandbox.waitUntilIdle();
  await sandbox.typeLine("/compact");
  await sandbox.waitForScreen(/Compaction|Compacted|summary/i);
  await sandbox.waitUntilIdle();
  await sandbox.look("compacted");
  await sandbox.typeLine("/new");
  await sandbox.waitForScreen(/Ask anything/);
  await sandbox.prompt("SAY two");
  await sandbox.waitUntilIdle();
  await sandbox.waitForSession(({ endReason }) => endReason === "clear", "the session that was left");
  await sandbox.look("in the new session");
  await sandbox.leaveCli("/exit");
  await sandbox.waitForSession(
    ({ state, endReason }) => state === "completed" && endReason !== "clear",
    "the end",
  );
  await sandbox.look("left");
  await sandbox.startCli("--continue");
  await sandbox.prompt("SAY three");
  await sandbox.waitUntilIdle();
  await sandbox.look("continued");
});

describeFaults(opencodeDriver, { createPrompt: bash, exit: "/exit" });
