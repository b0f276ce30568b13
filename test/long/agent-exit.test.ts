/** The ways to leave the real Claude Code CLI while an ask is open. */
import { expect } from "bun:test";
import {
  answerByCommand,
  expectClosed,
  expectTooLate,
  listOpenAsks,
  openAsk,
  waitForAsk,
  waitForHookEnd,
} from "../agent/answering.ts";
import { testOnDesktop } from "../agent/desktop.ts";
import { exitEcho, expectExited, openAskBehindExit, readOutcomes } from "../agent/leaving.ts";
import { home } from "../agent/namespace.ts";
import { defaultMode, waitFor } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

const { testScenario, testWithoutErrors } = createCliTests();
const onDesktop = testOnDesktop();
const longMs = 150_000;

const touch = "permission Bash: touch x";

onDesktop(
  "/exit withdraws the notification",
  async (sandbox, desktop) => {
    const open = await openAskBehindExit(sandbox);
    await desktop.waitForNotification();
    await sandbox.pressKeys("Enter");
    await desktop.waitUntilWithdrawn();
    await expectExited(sandbox, open);
    expect(sandbox.hasFile("proj/x")).toBe(false);
  },
  longMs,
);

testScenario("/exit is cancelled, and the ask is answered", [touch], async (sandbox) => {
  const open = await openAskBehindExit(sandbox);
  await sandbox.dwell();
  await sandbox.waitForScreen(dialog.leaving);
  await sandbox.pressKeys("3");
  await sandbox.waitUntilHidden(dialog.leaving);
  await sandbox.waitForScreen(dialog.permission);
  await answerByCommand(sandbox, open, "allow");
  await sandbox.waitForFile("proj/x");
  await sandbox.waitUntilHidden(dialog.permission);
  await waitForHookEnd(sandbox);
  await sandbox.waitForState("active", "interactable");
  expect(listOpenAsks(sandbox)).toEqual([]);
});

testScenario(
  "a session that is continued after /exit does not show its old ask",
  [touch, touch],
  async (sandbox) => {
    const open = await openAskBehindExit(sandbox);
    await sandbox.pressKeys("Enter");
    await expectExited(sandbox, open);
    await sandbox.startCli(`${defaultMode} --continue`);
    await sandbox.waitForState("active", "interactable");
    await sandbox.dwell();
    expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ sessionId: open.session, asks: [] }]);
    await expectTooLate(sandbox, open);
    // The first message to the model is that the shell did not finish.
    await sandbox.typeLine("SAY two");
    await sandbox.waitForStatus("idle");
    const again = await openAsk(sandbox, "DO bash touch x", dialog.permission);
    expect(again).toMatchObject({
      session: open.session,
      answerId: expect.not.stringMatching(open.answerId),
    });
    await answerByCommand(sandbox, again, "allow");
    await sandbox.waitForFile("proj/x");
    await expectClosed(sandbox, dialog.permission);
  },
);

testScenario("Esc and /exit right after it", [touch], async (sandbox) => {
  await sandbox.startCli(exitEcho);
  const open = await openAsk(sandbox, "DO bash touch x", dialog.permission);
  await sandbox.dwell();
  for (const key of ["Escape", "/exit", "Enter"]) await sandbox.pressKeys(key);
  await expectExited(sandbox, open);
  expect(await readOutcomes(sandbox)).toEqual([
    expect.stringMatching(/^(the session ended|denied \(in the terminal\))$/),
  ]);
  expect(sandbox.hasFile("proj/x")).toBe(false);
});

testScenario(
  "/exit is typed before a dialog, and its Enter pressed after the dialog and Esc",
  [touch],
  async (sandbox) => {
    await sandbox.startCli(exitEcho);
    await sandbox.typeLine("DO after going bash touch x");
    await sandbox.waitForFile("going.awaited");
    await sandbox.pressKeys("/exit");
    await sandbox.waitForScreen(/^❯\s\/exit/m);
    await sandbox.runShell("touch going");
    await sandbox.waitForScreen(dialog.permission);
    const open = await waitForAsk(sandbox);
    await sandbox.dwell();
    await sandbox.pressKeys("Escape");
    await expectClosed(sandbox, dialog.permission);
    await sandbox.waitForScreen(/^❯\s\/exit/m);
    await sandbox.pressKeys("Enter");
    await expectExited(sandbox, open);
    expect(await readOutcomes(sandbox)).toEqual(["denied (in the terminal)"]);
    expect(sandbox.hasFile("proj/x")).toBe(false);
  },
);

testScenario("/exit while a subagent asks", [touch], async (sandbox) => {
  await sandbox.startCli(exitEcho);
  await sandbox.typeLine("DO agent DO after going bash touch x");
  await sandbox.waitForHook("Stop");
  await sandbox.waitForFile("going.awaited");
  await sandbox.typeLine("/exit");
  await sandbox.waitForScreen(dialog.leaving);
  await sandbox.runShell("touch going");
  await sandbox.waitForState("active", "waiting_permission");
  await sandbox.dwell();
  await sandbox.pressKeys("Enter");
  await expectExited(sandbox, null);
  expect(await readOutcomes(sandbox)).toEqual(["the session ended"]);
  expect(sandbox.hasFile("proj/x")).toBe(false);
});

testWithoutErrors("after /exit into the background, another session asks again", async (sandbox) => {
  await sandbox.beckon.start();
  const open = await openAskBehindExit(sandbox);
  const findSessions = (id: string) =>
    sandbox.recorder.shown.at(-1)?.sessions.filter(({ sessionId }) => sessionId === id);
  await sandbox.pressKeys("2");
  await sandbox.waitForScreen(/^left/m);
  await waitForHookEnd(sandbox);
  await sandbox.waitForState("completed");
  expect(findSessions(open.session)).toMatchObject([{ state: "completed", asks: [] }]);
  await expectTooLate(sandbox, open);
  expect(await readOutcomes(sandbox)).toEqual(["the session ended"]);
  await waitFor("its ask", () => listOpenAsks(sandbox).some(({ summary }) => summary === "touch x"));
  await sandbox.waitForState("active", "waiting_permission");
  expect(listOpenAsks(sandbox)).toHaveLength(1);
  expect(findSessions(open.session)).toMatchObject([{ state: "completed", asks: [] }]);
  expect(sandbox.hasFile("proj/x")).toBe(false);
});

testScenario("the terminal window is closed while an ask is open", [touch], async (sandbox) => {
  await sandbox.startCli();
  const open = await openAsk(sandbox, "DO bash touch x", dialog.permission);
  const tmux = `tmux -S ${home}/tmux.sock`;
  await sandbox.runShell(
    `${tmux} new-session -d 'bash --norc -c "echo left; cat"' && ${tmux} kill-session -t 0`,
  );
  await expectExited(sandbox, open);
  expect(await readOutcomes(sandbox)).toEqual(["the session ended"]);
  expect(sandbox.hasFile("proj/x")).toBe(false);
});
