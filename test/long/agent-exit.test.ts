/** The ways a person leaves the real Claude Code CLI while it asks something. */
import { expect } from "bun:test";
import { answerable, answers, asks, hookEnds, isOver, isTooLate, openAsks } from "../agent/answering.ts";
import { testOnDesk } from "../agent/desk.ts";
import { asksBehindExit, endsInLog, isLeft, leavable } from "../agent/leaving.ts";
import { home } from "../agent/namespace.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";
import { manual, until } from "../agent/world.ts";

const { scenario, undisturbed } = scenariosWithCli();
const onDesk = testOnDesk();
const longMs = 150_000;

const touch = "permission Bash: touch x";

onDesk(
  "/exit takes the notification back",
  async (world, desk) => {
    const open = await asksBehindExit(world);
    await desk.note();
    await world.key("Enter");
    await desk.gone();
    await isLeft(world, open);
    expect(world.has("proj/x")).toBe(false);
  },
  longMs,
);

scenario("/exit thought better of, and the ask answered", [touch], async (world) => {
  const open = await asksBehindExit(world);
  await world.linger();
  await world.shows(dialog.leaving);
  await world.key("3");
  await world.hides(dialog.leaving);
  await world.shows(dialog.permission);
  await answers(world, open, "allow");
  await world.finds("proj/x");
  await world.hides(dialog.permission);
  await hookEnds(world);
  await world.showsState("active", "interactable");
  expect(openAsks(world)).toEqual([]);
});

scenario("continued after /exit, its old ask is not there again", [touch, touch], async (world) => {
  const open = await asksBehindExit(world);
  await world.key("Enter");
  await isLeft(world, open);
  await world.startCli(`${manual} --continue`);
  await world.showsState("active", "interactable");
  await world.linger();
  expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([{ sessionId: open.session, asks: [] }]);
  await isTooLate(world, open);
  // What the model hears first is that the shell did not finish.
  await world.type("SAY two");
  await world.is("idle");
  const again = await asks(world, "DO bash touch x", dialog.permission);
  expect(again).toMatchObject({ session: open.session, answerId: expect.not.stringMatching(open.answerId) });
  await answers(world, again, "allow");
  await world.finds("proj/x");
  await isOver(world, dialog.permission);
});

scenario("Esc, and /exit at once", [touch], async (world) => {
  await world.startCli(leavable);
  const open = await asks(world, "DO bash touch x", dialog.permission);
  await world.linger();
  for (const key of ["Escape", "/exit", "Enter"]) await world.key(key);
  await isLeft(world, open);
  expect(await endsInLog(world)).toEqual([
    expect.stringMatching(/^(the session ended|No or Esc \(in the terminal\))$/),
  ]);
  expect(world.has("proj/x")).toBe(false);
});

scenario("/exit typed, and its Enter pressed only after the dialog and Esc", [touch], async (world) => {
  await world.startCli(leavable);
  await world.type("DO after going bash touch x");
  await world.finds("going.awaited");
  await world.key("/exit");
  await world.shows(/^❯\s\/exit/m);
  await world.does("touch going");
  await world.shows(dialog.permission);
  const open = await answerable(world);
  await world.linger();
  await world.key("Escape");
  await isOver(world, dialog.permission);
  await world.shows(/^❯\s\/exit/m);
  await world.key("Enter");
  await isLeft(world, open);
  expect(await endsInLog(world)).toEqual(["No or Esc (in the terminal)"]);
  expect(world.has("proj/x")).toBe(false);
});

scenario("/exit while a subagent asks", [touch], async (world) => {
  await world.startCli(leavable);
  await world.type("DO agent DO after going bash touch x");
  await world.hears("Stop");
  await world.finds("going.awaited");
  await world.type("/exit");
  await world.shows(dialog.leaving);
  await world.does("touch going");
  await world.showsState("active", "waiting_permission");
  await world.linger();
  await world.key("Enter");
  await isLeft(world, null);
  expect(await endsInLog(world)).toEqual(["the session ended"]);
  expect(world.has("proj/x")).toBe(false);
});

undisturbed(
  "left by /exit to go on in the background, it is another session, which asks anew",
  async (world) => {
    await world.beckon.start();
    const open = await asksBehindExit(world);
    const of = (id: string) => world.recorder.shown.at(-1)?.sessions.filter((one) => one.sessionId === id);
    await world.key("2");
    await world.shows(/^left/m);
    await hookEnds(world);
    await world.showsState("completed");
    expect(of(open.session)).toMatchObject([{ state: "completed", asks: [] }]);
    await isTooLate(world, open);
    expect(await endsInLog(world)).toEqual(["the session ended"]);
    await until("its ask", () => openAsks(world).some(({ summary }) => summary === "touch x"));
    await world.showsState("active", "waiting_permission");
    expect(openAsks(world)).toHaveLength(1);
    expect(of(open.session)).toMatchObject([{ state: "completed", asks: [] }]);
    expect(world.has("proj/x")).toBe(false);
  },
);

scenario("the window closed while it asks", [touch], async (world) => {
  await world.startCli();
  const open = await asks(world, "DO bash touch x", dialog.permission);
  const tmux = `tmux -S ${home}/tmux.sock`;
  await world.does(`${tmux} new-session -d 'bash --norc -c "echo left; cat"' && ${tmux} kill-session -t 0`);
  await isLeft(world, open);
  expect(await endsInLog(world)).toEqual(["the session ended"]);
  expect(world.has("proj/x")).toBe(false);
});
