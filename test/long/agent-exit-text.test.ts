/** Where the real Claude Code CLI asks, "/exit" is text or keys of the dialog: what comes of it, and how one leaves from there. */
import { expect } from "bun:test";
import { answerable, asks, heardByModel, hooksOf, isOver } from "../agent/answering.ts";
import { formIsReady, withForm } from "../agent/form.ts";
import { endsInLog, isLeft, leavable } from "../agent/leaving.ts";
import { type Sandbox, until } from "../agent/sandbox.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";

const { scenario } = scenariosWithCli();

const touch = "permission Bash: touch x";

scenario("at the dialog itself /exit is no command, and its Enter says Yes", [touch], async (sandbox) => {
  await sandbox.startCli(leavable);
  const open = await asks(sandbox, "DO bash touch x", dialog.permission);
  await sandbox.linger();
  for (const key of ["C-c", "C-c", "C-d", "C-d", "/exit"]) await sandbox.key(key);
  await sandbox.linger();
  await sandbox.shows(dialog.permission);
  expect(await answerable(sandbox)).toEqual(open);
  expect(hooksOf(sandbox)).toHaveLength(1);
  expect(sandbox.has("proj/x")).toBe(false);
  await sandbox.key("Enter");
  await isOver(sandbox, dialog.permission);
  expect(await endsInLog(sandbox)).toEqual(["allowed (in the terminal)"]);
  await sandbox.type("/exit");
  await isLeft(sandbox, open);
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
  const typesExit = async (sandbox: Sandbox): Promise<void> => {
    await sandbox.linger();
    for (const key of keys) await sandbox.key(key);
    await sandbox.key("/exit");
    await sandbox.shows(/❯ \d\. .*\/exit$/m);
  };
  scenario(`/exit in the text of ${of} is an answer; Ctrl-C leaves`, [asked, asked], async (sandbox) => {
    await sandbox.startCli(cli);
    await asks(sandbox, prompt, dialog);
    await typesExit(sandbox);
    await sandbox.key("Enter");
    await isOver(sandbox, dialog);
    expect(heardByModel(sandbox)).toContain(heard);

    const open = await asks(sandbox, prompt, dialog);
    await typesExit(sandbox);
    for (const key of ["C-c", "C-c"]) await sandbox.key(key);
    await isOver(sandbox, dialog);
    await sandbox.key("C-c");
    await sandbox.shows(/Press Ctrl-C again to exit/);
    await sandbox.key("C-c");
    await isLeft(sandbox, open);
    expect(await endsInLog(sandbox, 2)).toEqual(
      [ended, "No or Esc"].map((how) => `${how} (in the terminal)`),
    );
    expect(sandbox.has("proj/x")).toBe(false);
  });
}

scenario(
  "/exit in a form of an MCP server is text; Esc and /exit leave",
  ["elicitation null: What is your name?"],
  async (sandbox) => {
    await sandbox.startCli(leavable);
    await formIsReady(sandbox);
    await sandbox.type("DO form");
    await sandbox.shows(dialog.form);
    await sandbox.type("/exit");
    await sandbox.linger();
    await sandbox.shows(dialog.form);
    await sandbox.showsState("active", "waiting_question");
    for (const key of ["Escape", "/exit", "Enter"]) await sandbox.key(key);
    await isLeft(sandbox, null);
    await until("the end of the server", () => !sandbox.processes().some((line) => /form-server/.test(line)));
    expect(await endsInLog(sandbox)).toHaveLength(1);
  },
  withForm,
);
