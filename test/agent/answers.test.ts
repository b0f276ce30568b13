/** Asks of the real Claude Code CLI are answered from outside its terminal. */
import { expect } from "bun:test";
import {
  answerByApi,
  answerByCommand,
  expectClosed,
  expectTooLate,
  listHooks,
  openAsk,
  readToolResult,
} from "./answering.ts";
import { testOnDesktop } from "./desktop.ts";
import { expectExited, openAskBehindExit, readOutcomes } from "./leaving.ts";
import { waitFor } from "./sandbox.ts";
import { createCliTests, dialog } from "./scenario.ts";

const { testScenario } = createCliTests();
const onDesktop = testOnDesktop();
const limitMs = 60_000;

const command = "timeout 1 tail -f /dev/null || touch allowed";

testScenario(
  "asks are allowed, denied with a message, replied to, or answered first in the terminal",
  [
    `permission Bash: ${command}`,
    "permission Bash: touch denied",
    "permission Bash: touch first",
    "question AskUserQuestion: Which colour?",
  ],
  async (sandbox) => {
    await sandbox.startCli();

    const allowed = await openAsk(sandbox, `DO bash ${command}`, dialog.permission);
    expect(listHooks(sandbox)).toHaveLength(1);
    expect(await answerByCommand(sandbox, allowed, "allow")).toBe(`allowed in proj: ${command}`);
    await sandbox.waitForState("active", "busy");
    await sandbox.waitForFile("proj/allowed");
    await expectClosed(sandbox, dialog.permission);
    await expectTooLate(sandbox, allowed);

    const denied = await openAsk(sandbox, "DO bash touch denied", dialog.permission);
    await answerByCommand(sandbox, denied, "deny", "not", "on", "a", "Friday");
    await expectClosed(sandbox, dialog.permission);
    expect(readToolResult(sandbox)).toContain("not on a Friday");
    expect(sandbox.hasFile("proj/denied")).toBe(false);

    const asked = await openAsk(sandbox, "DO ask", dialog.question);
    await answerByApi(sandbox, asked, { do: "reply", replies: [["Blue"]] });
    await expectClosed(sandbox, dialog.question);
    expect(readToolResult(sandbox)).toContain('"Which colour?"="Blue"');

    const first = await openAsk(sandbox, "DO bash touch first", dialog.permission);
    await sandbox.acceptDialog(dialog.permission);
    await sandbox.waitForFile("proj/first");
    await expectClosed(sandbox, dialog.permission);
    await expectTooLate(sandbox, first);
  },
);

testScenario("/exit while an ask is open closes the ask", ["permission Bash: touch x"], async (sandbox) => {
  const open = await openAskBehindExit(sandbox);
  expect(listHooks(sandbox)).toHaveLength(1);
  await sandbox.pressKeys("Enter");
  await expectExited(sandbox, open);
  expect(await readOutcomes(sandbox)).toEqual(["the session ended"]);
  expect(sandbox.hasFile("proj/x")).toBe(false);
});

onDesktop(
  "a click on Allow in the notification runs the tool",
  async (sandbox, desktop) => {
    await sandbox.startCli();
    await openAsk(sandbox, "DO bash touch clicked", dialog.permission);
    const notification = await desktop.waitForNotification();
    await desktop.screen.screenshot("agent-allow");
    expect(sandbox.hasFile("proj/clicked")).toBe(false);
    await desktop.clickButton(notification, "first of three");
    // beckon ignores a click that arrives just as the notification changes. A user would click again.
    await waitFor("clicked", () => sandbox.hasFile("proj/clicked"), 4_000).catch(async () => {
      await desktop.clickButton(await desktop.waitForNotification(), "first of three");
    });
    await sandbox.waitForFile("proj/clicked");
    await desktop.waitUntilWithdrawn();
    await expectClosed(sandbox, dialog.permission);
  },
  limitMs,
);
