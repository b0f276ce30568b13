/** More ways to answer the real Claude Code CLI, and what ends its dialogs otherwise. */
import { expect } from "bun:test";
import { timing } from "../../src/core/timing.ts";
import {
  answerable,
  answers,
  asks,
  heardByModel,
  hookEnds,
  hooksOf,
  isOver,
  isTooLate,
  openAsks,
} from "../agent/answering.ts";
import { testOnDesk } from "../agent/desk.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";
import { until, type World } from "../agent/world.ts";

const { scenario, undisturbed, driven } = scenariosWithCli();
const onDesk = testOnDesk();
const longMs = 150_000;
const beatMs = 2 * timing.holdHeartbeatMs;

scenario("always: the next one is not asked", ["permission Bash: hostid"], async (world) => {
  await world.startCli();
  const first = await asks(world, "DO bash hostid", dialog.permission);
  expect(await answers(world, first, "always")).toContain("from now on");
  await isOver(world, dialog.permission);
  const said = heardByModel(world);
  expect(said).toMatch(/^[0-9a-f]{8}$/);
  await world.type("DO bash hostid");
  await world.is("idle");
  expect(world.requests().slice(-1)).toMatchObject([{ results: said }]);
  expect(world.recorder.heard("PermissionRequest", 0)).toBe(1);
});

scenario(
  "two questions at once, several answers to one, and an answer in own words",
  [
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colours?",
  ],
  async (world) => {
    await world.startCli();
    const two = await asks(world, "DO ask two", dialog.question);
    await answers(world, two, "2", "large");
    await isOver(world, dialog.question);
    expect(heardByModel(world)).toContain('"Which colour?"="Blue"');
    expect(heardByModel(world)).toContain('"Which size?"="Large"');

    const several = await asks(world, "DO ask several", dialog.question);
    await answers(world, several, "red, blue");
    await isOver(world, dialog.question);
    expect(heardByModel(world)).toContain('"Which colours?"="Red, Blue"');

    const own = await asks(world, "DO ask", dialog.question);
    await answers(world, own, "neither,", "but", "a", "warm", "grey");
    await isOver(world, dialog.question);
    expect(heardByModel(world)).toContain('"Which colour?"="neither, but a warm grey"');
  },
);

scenario(
  "a plan sent back with a message, and one approved",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (world) => {
    await world.startCli("--permission-mode plan");
    const back = await asks(world, "DO plan", dialog.plan);
    await answers(world, back, "add", "tests", "first");
    await isOver(world, dialog.plan);
    expect(heardByModel(world)).toContain("add tests first");

    const good = await asks(world, "DO plan", dialog.plan);
    await answers(world, good, "allow");
    await isOver(world, dialog.plan);
    expect(heardByModel(world)).toContain("approved your plan");
  },
);

for (const [name, key] of [
  ["Esc", "Escape"],
  ["No", "4"],
] as const) {
  scenario(`${name} in the terminal first`, ["permission Bash: touch x"], async (world) => {
    await world.startCli();
    const open = await asks(world, "DO bash touch x", dialog.permission);
    await world.linger();
    await world.key(key);
    await isOver(world, dialog.permission);
    await isTooLate(world, open);
    expect(world.has("proj/x")).toBe(false);
  });
}

onDesk(
  "Esc in the terminal takes the notification back",
  async (world, desk) => {
    await world.startCli();
    await asks(world, "DO bash touch x", dialog.permission);
    await desk.note();
    await world.key("Escape");
    await desk.gone();
    await isOver(world, dialog.permission);
    expect(world.has("proj/x")).toBe(false);
  },
  longMs,
);

for (const signal of ["TERM", "KILL"] as const) {
  scenario(`kill -${signal} of a CLI that asks`, ["permission Bash: touch x"], async (world) => {
    await world.startCli();
    const open = await asks(world, "DO bash touch x", dialog.permission);
    await world.killCli(signal);
    await world.showsState("completed");
    await hookEnds(world);
    expect(openAsks(world)).toEqual([]);
    await isTooLate(world, open);
    expect(world.has("proj/x")).toBe(false);
    await until(
      "the end of all that it started",
      () => !world.processes().some((line) => /claude/.test(line)),
    );
  });
}

/** The dialog comes 0.1 s after its hook has begun. */
const atOnceMs = 1_500;

scenario(
  "a subagent's dialog is there at once, and for the terminal only",
  ["permission Bash: touch x"],
  async (world) => {
    await world.startCli();
    await world.type("DO agent DO bash touch x");
    await world.hears("PermissionRequest");
    const heardAt = performance.now();
    await world.shows(dialog.permission);
    expect(performance.now() - heardAt).toBeLessThan(atOnceMs);
    await world.showsState("active", "waiting_permission");
    const [session] = world.recorder.shown.at(-1)?.sessions ?? [];
    expect(session?.asks).toMatchObject([{ answerable: false }]);
    expect(hooksOf(world)).toEqual([]);
    const { code, stderr } = await world.beckon.call("answer", session?.sessionId ?? "", "allow");
    expect(code).toBe(1);
    expect(stderr).toContain("a subagent asks");
    expect(world.has("proj/x")).toBe(false);
    await world.accepts(dialog.permission);
    await world.finds("proj/x");
    await world.hears("Stop");
    await world.is("idle");
  },
);

/** The dialog is as it was, and nothing has run. */
async function staysAsked(world: World): Promise<void> {
  await world.linger();
  await world.shows(dialog.permission);
  expect(world.has("proj/x")).toBe(false);
}

async function isAcceptedInTerminal(world: World): Promise<void> {
  await world.accepts(dialog.permission);
  await world.finds("proj/x");
  await world.is("idle");
}

undisturbed("beckon killed while it holds, and started again, can answer", async (world) => {
  await world.beckon.start();
  await world.startCli();
  await asks(world, "DO bash touch x", dialog.permission);
  await world.beckon.kill();
  await staysAsked(world);
  expect(hooksOf(world)).toHaveLength(1);
  await world.beckon.start();
  await answers(world, await answerable(world), "allow");
  await world.finds("proj/x");
  await isOver(world, dialog.permission);
});

undisturbed("beckon killed, the dialog answered in the terminal, and beckon started again", async (world) => {
  await world.beckon.start();
  await world.startCli();
  const open = await asks(world, "DO bash touch x", dialog.permission);
  await world.beckon.kill();
  await staysAsked(world);
  await isAcceptedInTerminal(world);
  await world.beckon.start();
  await hookEnds(world);
  await world.showsState("active", "interactable");
  expect(openAsks(world)).toEqual([]);
  await isTooLate(world, open);
});

driven(
  "beckon killed for good: its hook lets go by itself, and the dialog stays",
  async (world) => {
    await world.beckon.start();
    await world.startCli();
    await asks(world, "DO bash touch x", dialog.permission);
    await world.beckon.kill();
    await hookEnds(world, timing.holdReconnectMs + beatMs);
    await staysAsked(world);
    await isAcceptedInTerminal(world);
    expect(await world.hookErrors()).toEqual([]);
  },
  {},
  longMs,
);

driven(
  "beckon hangs while it holds: its hook lets go by itself, and the dialog stays",
  async (world) => {
    await world.beckon.start();
    await world.startCli();
    await asks(world, "DO bash touch x", dialog.permission);
    await world.beckon.hang();
    await hookEnds(world, timing.holdSilenceMs + beatMs);
    await staysAsked(world);
    await isAcceptedInTerminal(world);
    await world.beckon.wake();
    await world.showsState("active", "interactable");
    expect(openAsks(world)).toEqual([]);
    expect(await world.hookErrors()).toEqual([]);
  },
  {},
  longMs,
);

driven(
  "beckon hangs, and the dialog is answered in the terminal before its hook lets go",
  async (world) => {
    await world.beckon.start();
    await world.startCli();
    const open = await asks(world, "DO bash touch x", dialog.permission);
    await world.beckon.hang();
    await isAcceptedInTerminal(world);
    await hookEnds(world, timing.holdSilenceMs + beatMs);
    await world.beckon.wake();
    await world.showsState("active", "interactable");
    expect(openAsks(world)).toEqual([]);
    await isTooLate(world, open);
    expect(await world.hookErrors()).toEqual([]);
  },
  {},
  longMs,
);
