/** In a dialog of the real Claude Code CLI, "/exit" is the dialog's input: what it does there, and how to leave from there. */
import { expect } from "bun:test";
import { expectClosed, listHooks, openAsk, readToolResult, waitForAsk } from "../agent/answering.ts";
import { formOptions, waitForFormServer } from "../agent/form.ts";
import { exitEcho, expectExited, readOutcomes } from "../agent/leaving.ts";
import { type Sandbox, waitFor } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

const { testScenario } = createCliTests();

const touch = "permission Bash: touch x";

testScenario(
  "/exit at a permission dialog is not a command, and its Enter answers Yes",
  [touch],
  async (sandbox) => {
    await sandbox.startCli(exitEcho);
    const open = await openAsk(sandbox, "DO bash touch x", dialog.permission);
    await sandbox.dwell();
    for (const key of ["C-c", "C-c", "C-d", "C-d", "/exit"]) await sandbox.pressKeys(key);
    await sandbox.dwell();
    await sandbox.waitForScreen(dialog.permission);
    expect(await waitForAsk(sandbox)).toEqual(open);
    expect(listHooks(sandbox)).toHaveLength(1);
    expect(sandbox.hasFile("proj/x")).toBe(false);
    await sandbox.pressKeys("Enter");
    await expectClosed(sandbox, dialog.permission);
    expect(await readOutcomes(sandbox)).toEqual(["allowed (in the terminal)"]);
    await sandbox.typeLine("/exit");
    await expectExited(sandbox, open);
  },
);

interface Field {
  /** The dialog it belongs to. */
  readonly of: string;
  readonly cli: string;
  readonly prompt: string;
  readonly ask: string;
  readonly dialog: RegExp;
  /** The keys that move the cursor into the field. */
  readonly keys: readonly string[];
  /** The tool result after "/exit" in the field. */
  readonly result: string;
  /** The outcome in beckon's log. */
  readonly outcome: string;
}

const fields: readonly Field[] = [
  {
    of: "No",
    cli: exitEcho,
    prompt: "DO bash touch x",
    ask: touch,
    dialog: dialog.permission,
    keys: ["Down", "Down", "Down", "Tab"],
    result: "the user said:\n/exit",
    outcome: "denied",
  },
  {
    of: "a question",
    cli: exitEcho,
    prompt: "DO ask",
    ask: "question AskUserQuestion: Which colour?",
    dialog: dialog.question,
    keys: ["3"],
    result: '"Which colour?"="/exit"',
    outcome: "answered",
  },
  {
    of: "a plan",
    cli: "--permission-mode plan; echo left",
    prompt: "DO plan",
    ask: "plan ExitPlanMode: # A plan 1. Do this 2. Do that",
    dialog: dialog.plan,
    keys: ["3"],
    result: "the user said:\n/exit",
    outcome: "sent back",
  },
];

for (const { of, cli, prompt, ask, dialog, keys, result, outcome } of fields) {
  const typeExit = async (sandbox: Sandbox): Promise<void> => {
    await sandbox.dwell();
    for (const key of keys) await sandbox.pressKeys(key);
    await sandbox.pressKeys("/exit");
    await sandbox.waitForScreen(/❯ \d\. .*\/exit$/m);
  };
  testScenario(
    `/exit in the text field of ${of} is an answer, and Ctrl-C leaves`,
    [ask, ask],
    async (sandbox) => {
      await sandbox.startCli(cli);
      await openAsk(sandbox, prompt, dialog);
      await typeExit(sandbox);
      await sandbox.pressKeys("Enter");
      await expectClosed(sandbox, dialog);
      expect(readToolResult(sandbox)).toContain(result);

      const open = await openAsk(sandbox, prompt, dialog);
      await typeExit(sandbox);
      for (const key of ["C-c", "C-c"]) await sandbox.pressKeys(key);
      await expectClosed(sandbox, dialog);
      await sandbox.pressKeys("C-c");
      await sandbox.waitForScreen(/Press Ctrl-C again to exit/);
      await sandbox.pressKeys("C-c");
      await expectExited(sandbox, open);
      expect(await readOutcomes(sandbox, 2)).toEqual(
        [outcome, of === "a plan" ? "sent back" : of === "a question" ? "declined" : "denied"].map(
          (text) => `${text} (in the terminal)`,
        ),
      );
      expect(sandbox.hasFile("proj/x")).toBe(false);
    },
  );
}

testScenario(
  "/exit in a form of an MCP server is text, and Esc and /exit leave",
  ["elicitation null: What is your name?"],
  async (sandbox) => {
    await sandbox.startCli(exitEcho);
    await waitForFormServer(sandbox);
    await sandbox.typeLine("DO form");
    await sandbox.waitForScreen(dialog.form);
    await sandbox.typeLine("/exit");
    await sandbox.dwell();
    await sandbox.waitForScreen(dialog.form);
    await sandbox.waitForState("active", "waiting_question");
    for (const key of ["Escape", "/exit", "Enter"]) await sandbox.pressKeys(key);
    await expectExited(sandbox, null);
    await waitFor(
      "the exit of the server",
      () => !sandbox.listProcesses().some((line) => /form-server/.test(line)),
    );
    expect(await readOutcomes(sandbox)).toHaveLength(1);
  },
  formOptions,
);
