/** The ways a person leaves the real Claude Code CLI while it asks something. */
import { expect } from "bun:test";
import { answerable, answers, asks, hookEnds, isOver, isTooLate, openAsks } from "../agent/answering.ts";
import { testOnDesk } from "../agent/desktop.ts";
import { asksBehindExit, endsInLog, isLeft, leavable } from "../agent/leaving.ts";
import { home } from "../agent/namespace.ts";
import { manual, until } from "../agent/sandbox.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";

const { scenario, undisturbed } = scenariosWithCli();
const onDesk = testOnDesk();
const longMs = 150_000;

const touch = "permission Bash: touch x";

onDesk(
  "/exit takes the notification back",
  async (sandbox, desk) => {
    const open = await asksBehindExit(sandbox);
    await desk.note();
    await sandbox.key("Enter");
    await desk.gone();
    await isLeft(sandbox, open);
    expect(sandbox.has("proj/x")).toBe(false);
  },
  longMs,
);

scenario("/exit thought better of, and the ask answered", [touch], async (sandbox) => {
  const open = await asksBehindExit(sandbox);
  await sandbox.linger();
  await sandbox.shows(dialog.leaving);
  await sandbox.key("3");
  await sandbox.hides(dialog.leaving);
  await sandbox.shows(dialog.permission);
  await answers(sandbox, open, "allow");
  await sandbox.finds("proj/x");
  await sandbox.hides(dialog.permission);
  await hookEnds(sandbox);
  await sandbox.showsState("active", "interactable");
  expect(openAsks(sandbox)).toEqual([]);
});

scenario("continued after /exit, its old ask is not there again", [touch, touch], async (sandbox) => {
  const open = await asksBehindExit(sandbox);
  await sandbox.key("Enter");
  await isLeft(sandbox, open);
  await sandbox.startCli(`${manual} --continue`);
  await sandbox.showsState("active", "interactable");
  await sandbox.linger();
  expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ sessionId: open.session, asks: [] }]);
  await isTooLate(sandbox, open);
  // What the model hears first is that the shell did not finish.
  await sandbox.type("SAY two");
  await sandbox.is("idle");
  const again = await asks(sandbox, "DO bash touch x", dialog.permission);
  expect(again).toMatchObject({ session: open.session, answerId: expect.not.stringMatching(open.answerId) });
  await answers(sandbox, again, "allow");
  await sandbox.finds("proj/x");
  await isOver(sandbox, dialog.permission);
});

scenario("Esc, and /exit at once", [touch], async (sandbox) => {
  await sandbox.startCli(leavable);
  const open = await asks(sandbox, "DO bash touch x", dialog.permission);
  await sandbox.linger();
  for (const key of ["Escape", "/exit", "Enter"]) await sandbox.key(key);
  await isLeft(sandbox, open);
  expect(await endsInLog(sandbox)).toEqual([
    expect.stringMatching(/^(the session ended|No or Esc \(in the terminal\))$/),
  ]);
  expect(sandbox.has("proj/x")).toBe(false);
});

scenario("/exit typed, and its Enter pressed only after the dialog and Esc", [touch], async (sandbox) => {
  await sandbox.startCli(leavable);
  await sandbox.type("DO after going bash touch x");
  await sandbox.finds("going.awaited");
  await sandbox.key("/exit");
  await sandbox.shows(/^❯\s\/exit/m);
  await sandbox.does("touch going");
  await sandbox.shows(dialog.permission);
  const open = await answerable(sandbox);
  await sandbox.linger();
  await sandbox.key("Escape");
  await isOver(sandbox, dialog.permission);
  await sandbox.shows(/^❯\s\/exit/m);
  await sandbox.key("Enter");
  await isLeft(sandbox, open);
  expect(await endsInLog(sandbox)).toEqual(["No or Esc (in the terminal)"]);
  expect(sandbox.has("proj/x")).toBe(false);
});

scenario("/exit while a subagent asks", [touch], async (sandbox) => {
  await sandbox.startCli(leavable);
  await sandbox.type("DO agent DO after going bash touch x");
  await sandbox.hears("Stop");
  await sandbox.finds("going.awaited");
  await sandbox.type("/exit");
  await sandbox.shows(dialog.leaving);
  await sandbox.does("touch going");
  await sandbox.showsState("active", "waiting_permission");
  await sandbox.linger();
  await sandbox.key("Enter");
  await isLeft(sandbox, null);
  expect(await endsInLog(sandbox)).toEqual(["the session ended"]);
  expect(sandbox.has("proj/x")).toBe(false);
});

undisturbed(
  "left by /exit to go on in the background, it is another session, which asks anew",
  async (sandbox) => {
    await sandbox.beckon.start();
    const open = await asksBehindExit(sandbox);
    const of = (id: string) => sandbox.recorder.shown.at(-1)?.sessions.filter((one) => one.sessionId === id);
    await sandbox.key("2");
    await sandbox.shows(/^left/m);
    await hookEnds(sandbox);
    await sandbox.showsState("completed");
    expect(of(open.session)).toMatchObject([{ state: "completed", asks: [] }]);
    await isTooLate(sandbox, open);
    expect(await endsInLog(sandbox)).toEqual(["the session ended"]);
    await until("its ask", () => openAsks(sandbox).some(({ summary }) => summary === "touch x"));
    await sandbox.showsState("active", "waiting_permission");
    expect(openAsks(sandbox)).toHaveLength(1);
    expect(of(open.session)).toMatchObject([{ state: "completed", asks: [] }]);
    expect(sandbox.has("proj/x")).toBe(false);
  },
);

scenario("the window closed while it asks", [touch], async (sandbox) => {
  await sandbox.startCli();
  const open = await asks(sandbox, "DO bash touch x", dialog.permission);
  const tmux = `tmux -S ${home}/tmux.sock`;
  await sandbox.does(`${tmux} new-session -d 'bash --norc -c "echo left; cat"' && ${tmux} kill-session -t 0`);
  await isLeft(sandbox, open);
  expect(await endsInLog(sandbox)).toEqual(["the session ended"]);
  expect(sandbox.has("proj/x")).toBe(false);
});
