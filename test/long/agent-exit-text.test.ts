/** Where the real Claude Code CLI asks, "/exit" is text or keys of the dialog: what comes of it, and how one leaves from there. */
import { expect } from "bun:test";
import { answerable, asks, heardByModel, hooksOf, isOver } from "../agent/answering.ts";
import { formIsReady, withForm } from "../agent/form.ts";
import { endsInLog, isLeft, leavable } from "../agent/leaving.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";
import { until, type World } from "../agent/world.ts";

const { scenario } = scenariosWithCli();

const touch = "permission Bash: touch x";

scenario("at the dialog itself /exit is no command, and its Enter says Yes", [touch], async (world) => {
  await world.startCli(leavable);
  const open = await asks(world, "DO bash touch x", dialog.permission);
  await world.linger();
  for (const key of ["C-c", "C-c", "C-d", "C-d", "/exit"]) await world.key(key);
  await world.linger();
  await world.shows(dialog.permission);
  expect(await answerable(world)).toEqual(open);
  expect(hooksOf(world)).toHaveLength(1);
  expect(world.has("proj/x")).toBe(false);
  await world.key("Enter");
  await isOver(world, dialog.permission);
  expect(await endsInLog(world)).toEqual(["allowed (in the terminal)"]);
  await world.type("/exit");
  await isLeft(world, open);
});

interface Field {
  readonly of: string;
  readonly cli: string;
  readonly prompt: string;
  readonly asked: string;
  readonly dialog: RegExp;
  /** The keys that go there. */
  readonly keys: readonly string[];
  /** What the model hears of "/exit" in it. */
  readonly heard: string;
  /** And the log. */
  readonly ended: string;
}

const fields: readonly Field[] = [
  {
    of: "No",
    cli: leavable,
    prompt: "DO bash touch x",
    asked: touch,
    dialog: dialog.permission,
    keys: ["Down", "Down", "Down", "Tab"],
    heard: "the user said:\n/exit",
    ended: "No",
  },
  {
    of: "a question",
    cli: leavable,
    prompt: "DO ask",
    asked: "question AskUserQuestion: Which colour?",
    dialog: dialog.question,
    keys: ["3"],
    heard: '"Which colour?"="/exit"',
    ended: "answered",
  },
  {
    of: "a plan",
    cli: "--permission-mode plan; echo left",
    prompt: "DO plan",
    asked: "plan ExitPlanMode: # A plan 1. Do this 2. Do that",
    dialog: dialog.plan,
    keys: ["3"],
    heard: "the user said:\n/exit",
    ended: "No",
  },
];

for (const { of, cli, prompt, asked, dialog, keys, heard, ended } of fields) {
  const typesExit = async (world: World): Promise<void> => {
    await world.linger();
    for (const key of keys) await world.key(key);
    await world.key("/exit");
    await world.shows(/❯ \d\. .*\/exit$/m);
  };
  scenario(`/exit in the text of ${of} is an answer; Ctrl-C leaves`, [asked, asked], async (world) => {
    await world.startCli(cli);
    await asks(world, prompt, dialog);
    await typesExit(world);
    await world.key("Enter");
    await isOver(world, dialog);
    expect(heardByModel(world)).toContain(heard);

    const open = await asks(world, prompt, dialog);
    await typesExit(world);
    for (const key of ["C-c", "C-c"]) await world.key(key);
    await isOver(world, dialog);
    await world.key("C-c");
    await world.shows(/Press Ctrl-C again to exit/);
    await world.key("C-c");
    await isLeft(world, open);
    expect(await endsInLog(world, 2)).toEqual([ended, "No or Esc"].map((how) => `${how} (in the terminal)`));
    expect(world.has("proj/x")).toBe(false);
  });
}

scenario(
  "/exit in a form of an MCP server is text; Esc and /exit leave",
  ["elicitation null: What is your name?"],
  async (world) => {
    await world.startCli(leavable);
    await formIsReady(world);
    await world.type("DO form");
    await world.shows(dialog.form);
    await world.type("/exit");
    await world.linger();
    await world.shows(dialog.form);
    await world.showsState("active", "waiting_question");
    for (const key of ["Escape", "/exit", "Enter"]) await world.key(key);
    await isLeft(world, null);
    await until("the end of the server", () => !world.processes().some((line) => /form-server/.test(line)));
    expect(await endsInLog(world)).toHaveLength(1);
  },
  withForm,
);
