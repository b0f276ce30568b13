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
import { testOnDesk } from "../agent/desktop.ts";
import { type Sandbox, until } from "../agent/sandbox.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";

const { scenario, undisturbed, driven } = scenariosWithCli();
const onDesk = testOnDesk();
const longMs = 150_000;
const beatMs = 2 * timing.holdHeartbeatMs;

scenario("always: the next one is not asked", ["permission Bash: hostid"], async (sandbox) => {
  await sandbox.startCli();
  const first = await asks(sandbox, "DO bash hostid", dialog.permission);
  expect(await answers(sandbox, first, "always")).toContain("from now on");
  await isOver(sandbox, dialog.permission);
  const said = heardByModel(sandbox);
  expect(said).toMatch(/^[0-9a-f]{8}$/);
  await sandbox.type("DO bash hostid");
  await sandbox.is("idle");
  expect(sandbox.requests().slice(-1)).toMatchObject([{ results: said }]);
  expect(sandbox.recorder.heard("PermissionRequest", 0)).toBe(1);
});

scenario(
  "two questions at once, several answers to one, and an answer in own words",
  [
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colours?",
  ],
  async (sandbox) => {
    await sandbox.startCli();
    const two = await asks(sandbox, "DO ask two", dialog.question);
    await answers(sandbox, two, "2", "large");
    await isOver(sandbox, dialog.question);
    expect(heardByModel(sandbox)).toContain('"Which colour?"="Blue"');
    expect(heardByModel(sandbox)).toContain('"Which size?"="Large"');

    const several = await asks(sandbox, "DO ask several", dialog.question);
    await answers(sandbox, several, "red, blue");
    await isOver(sandbox, dialog.question);
    expect(heardByModel(sandbox)).toContain('"Which colours?"="Red, Blue"');

    const own = await asks(sandbox, "DO ask", dialog.question);
    await answers(sandbox, own, "neither,", "but", "a", "warm", "grey");
    await isOver(sandbox, dialog.question);
    expect(heardByModel(sandbox)).toContain('"Which colour?"="neither, but a warm grey"');
  },
);

scenario(
  "a plan sent back with a message, and one approved",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (sandbox) => {
    await sandbox.startCli("--permission-mode plan");
    const back = await asks(sandbox, "DO plan", dialog.plan);
    await answers(sandbox, back, "add", "tests", "first");
    await isOver(sandbox, dialog.plan);
    expect(heardByModel(sandbox)).toContain("add tests first");

    const good = await asks(sandbox, "DO plan", dialog.plan);
    await answers(sandbox, good, "allow");
    await isOver(sandbox, dialog.plan);
    expect(heardByModel(sandbox)).toContain("approved your plan");
  },
);

for (const [name, key] of [
  ["Esc", "Escape"],
  ["No", "4"],
] as const) {
  scenario(`${name} in the terminal first`, ["permission Bash: touch x"], async (sandbox) => {
    await sandbox.startCli();
    const open = await asks(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.linger();
    await sandbox.key(key);
    await isOver(sandbox, dialog.permission);
    await isTooLate(sandbox, open);
    expect(sandbox.has("proj/x")).toBe(false);
  });
}

onDesk(
  "Esc in the terminal takes the notification back",
  async (sandbox, desk) => {
    await sandbox.startCli();
    await asks(sandbox, "DO bash touch x", dialog.permission);
    await desk.note();
    await sandbox.key("Escape");
    await desk.gone();
    await isOver(sandbox, dialog.permission);
    expect(sandbox.has("proj/x")).toBe(false);
  },
  longMs,
);

for (const signal of ["TERM", "KILL"] as const) {
  scenario(`kill -${signal} of a CLI that asks`, ["permission Bash: touch x"], async (sandbox) => {
    await sandbox.startCli();
    const open = await asks(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.killCli(signal);
    await sandbox.showsState("completed");
    await hookEnds(sandbox);
    expect(openAsks(sandbox)).toEqual([]);
    await isTooLate(sandbox, open);
    expect(sandbox.has("proj/x")).toBe(false);
    await until(
      "the end of all that it started",
      () => !sandbox.processes().some((line) => /claude/.test(line)),
    );
  });
}

/** The dialog comes 0.1 s after its hook has begun. */
const atOnceMs = 1_500;

scenario(
  "a subagent's dialog is there at once, and for the terminal only",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("DO agent DO bash touch x");
    await sandbox.hears("PermissionRequest");
    const heardAt = performance.now();
    await sandbox.shows(dialog.permission);
    expect(performance.now() - heardAt).toBeLessThan(atOnceMs);
    await sandbox.showsState("active", "waiting_permission");
    const [session] = sandbox.recorder.shown.at(-1)?.sessions ?? [];
    expect(session?.asks).toMatchObject([{ answerable: false }]);
    expect(hooksOf(sandbox)).toEqual([]);
    const { code, stderr } = await sandbox.beckon.call("answer", session?.sessionId ?? "", "allow");
    expect(code).toBe(1);
    expect(stderr).toContain("a subagent asks");
    expect(sandbox.has("proj/x")).toBe(false);
    await sandbox.accepts(dialog.permission);
    await sandbox.finds("proj/x");
    await sandbox.hears("Stop");
    await sandbox.is("idle");
  },
);

/** The dialog is as it was, and nothing has run. */
async function staysAsked(sandbox: Sandbox): Promise<void> {
  await sandbox.linger();
  await sandbox.shows(dialog.permission);
  expect(sandbox.has("proj/x")).toBe(false);
}

async function isAcceptedInTerminal(sandbox: Sandbox): Promise<void> {
  await sandbox.accepts(dialog.permission);
  await sandbox.finds("proj/x");
  await sandbox.is("idle");
}

undisturbed("beckon killed while it holds, and started again, can answer", async (sandbox) => {
  await sandbox.beckon.start();
  await sandbox.startCli();
  await asks(sandbox, "DO bash touch x", dialog.permission);
  await sandbox.beckon.kill();
  await staysAsked(sandbox);
  expect(hooksOf(sandbox)).toHaveLength(1);
  await sandbox.beckon.start();
  await answers(sandbox, await answerable(sandbox), "allow");
  await sandbox.finds("proj/x");
  await isOver(sandbox, dialog.permission);
});

undisturbed(
  "beckon killed, the dialog answered in the terminal, and beckon started again",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    const open = await asks(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.kill();
    await staysAsked(sandbox);
    await isAcceptedInTerminal(sandbox);
    await sandbox.beckon.start();
    await hookEnds(sandbox);
    await sandbox.showsState("active", "interactable");
    expect(openAsks(sandbox)).toEqual([]);
    await isTooLate(sandbox, open);
  },
);

driven(
  "beckon killed for good: its hook lets go by itself, and the dialog stays",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await asks(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.kill();
    await hookEnds(sandbox, timing.holdReconnectMs + beatMs);
    await staysAsked(sandbox);
    await isAcceptedInTerminal(sandbox);
    expect(await sandbox.hookErrors()).toEqual([]);
  },
  {},
  longMs,
);

driven(
  "beckon hangs while it holds: its hook lets go by itself, and the dialog stays",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await asks(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.hang();
    await hookEnds(sandbox, timing.holdSilenceMs + beatMs);
    await staysAsked(sandbox);
    await isAcceptedInTerminal(sandbox);
    await sandbox.beckon.wake();
    await sandbox.showsState("active", "interactable");
    expect(openAsks(sandbox)).toEqual([]);
    expect(await sandbox.hookErrors()).toEqual([]);
  },
  {},
  longMs,
);

driven(
  "beckon hangs, and the dialog is answered in the terminal before its hook lets go",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    const open = await asks(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.beckon.hang();
    await isAcceptedInTerminal(sandbox);
    await hookEnds(sandbox, timing.holdSilenceMs + beatMs);
    await sandbox.beckon.wake();
    await sandbox.showsState("active", "interactable");
    expect(openAsks(sandbox)).toEqual([]);
    await isTooLate(sandbox, open);
    expect(await sandbox.hookErrors()).toEqual([]);
  },
  {},
  longMs,
);
