/** Every kind of answer through the API and notifications to the real Claude Code CLI, and thirty CLIs that ask at once. */
import { expect } from "bun:test";
import {
  answerByApi,
  expectClosed,
  listAnswerable,
  listHooks,
  listOpenAsks,
  openAsk,
  readToolResult,
} from "../agent/answering.ts";
import { testOnDesktop } from "../agent/desktop.ts";
import { home } from "../agent/namespace.ts";
import { waitFor } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

const { testScenario, testDriven } = createCliTests();
const onDesktop = testOnDesktop();
const longMs = 150_000;

testScenario(
  "asks are allowed once, always allowed, denied and replied to through the API",
  [
    "permission Bash: touch allowed",
    "permission Bash: hostid",
    "permission Bash: touch denied",
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colour?",
    "question AskUserQuestion: Which colours?",
  ],
  async (sandbox) => {
    await sandbox.startCli();
    const permission = async (command: string, answer: object) => {
      await answerByApi(sandbox, await openAsk(sandbox, `DO bash ${command}`, dialog.permission), answer);
      await expectClosed(sandbox, dialog.permission);
    };
    await permission("touch allowed", { do: "allow" });
    expect(sandbox.hasFile("proj/allowed")).toBe(true);
    await permission("touch denied", { do: "deny", message: "not on a Friday" });
    expect(readToolResult(sandbox)).toContain("not on a Friday");
    expect(sandbox.hasFile("proj/denied")).toBe(false);
    await permission("hostid", { do: "always", choice: 0 });
    await sandbox.typeLine("DO bash hostid");
    await sandbox.waitForStatus("idle");
    expect(sandbox.recorder.countHooks("PermissionRequest", 0)).toBe(3);

    for (const [prompt, replies, results] of [
      ["DO ask", [["Blue"]], ['"Which colour?"="Blue"']],
      ["DO ask", [["a warm grey"]], ['"Which colour?"="a warm grey"']],
      ["DO ask two", [["Red"], ["Large"]], ['"Which colour?"="Red"', '"Which size?"="Large"']],
      ["DO ask several", [["Red", "Blue"]], ['"Which colours?"="Red, Blue"']],
    ] as const) {
      await answerByApi(sandbox, await openAsk(sandbox, prompt, dialog.question), { do: "reply", replies });
      await expectClosed(sandbox, dialog.question);
      for (const result of results) expect(readToolResult(sandbox)).toContain(result);
    }
  },
);

testScenario(
  "a plan is rejected with a message and approved through the API",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (sandbox) => {
    await sandbox.startCli("--permission-mode plan");
    await answerByApi(sandbox, await openAsk(sandbox, "DO plan", dialog.plan), {
      do: "deny",
      message: "tests first",
    });
    await expectClosed(sandbox, dialog.plan);
    expect(readToolResult(sandbox)).toContain("tests first");
    await answerByApi(sandbox, await openAsk(sandbox, "DO plan", dialog.plan), { do: "allow" });
    await expectClosed(sandbox, dialog.plan);
    expect(readToolResult(sandbox)).toContain("approved your plan");
  },
);

onDesktop(
  "a click on Deny or on an option of a question in the notification answers",
  async (sandbox, desktop) => {
    await sandbox.startCli();
    await openAsk(sandbox, "DO bash touch denied", dialog.permission);
    await desktop.clickButton(await desktop.waitForNotification(), "second of three");
    await expectClosed(sandbox, dialog.permission);
    await desktop.waitUntilWithdrawn();
    expect(sandbox.hasFile("proj/denied")).toBe(false);

    await openAsk(sandbox, "DO ask", dialog.question);
    await desktop.clickButton(await desktop.waitForNotification(), "second of three");
    await expectClosed(sandbox, dialog.question);
    await desktop.waitUntilWithdrawn();
    expect(readToolResult(sandbox)).toContain('"Which colour?"="Blue"');
  },
  longMs,
);

const thirty = 30;
const startMs = 240_000;

/** A CLI in a terminal of its own. */
const inTerminal = (name: string) => `cd ${home}/proj
  claude="stty rows 40 cols 120; exec claude --permission-mode default 'DO bash touch ${name}'"
  { sleep 600 | setsid script -qfc "$claude" /dev/null; } </dev/null >/dev/null 2>&1 &`;

testDriven(
  "thirty sessions that ask at once each get their own answer",
  async (sandbox) => {
    await sandbox.beckon.start();
    // They start one after the other: two cores would take seconds per hook otherwise.
    for (let n = 1; n <= thirty; n++) {
      await sandbox.runShell(inTerminal(`many-${n}`));
      await waitFor(`ask ${n} of thirty`, () => listAnswerable(sandbox).length === n, startMs);
    }
    await waitFor("the hooks of these asks only", () => listHooks(sandbox).length === thirty);
    const names = Array.from({ length: thirty }, (_, n) => `proj/many-${n + 1}`);
    expect(names.filter(sandbox.hasFile)).toEqual([]);
    const open = listAnswerable(sandbox);
    const denied = open.slice(0, 10);
    const refused = listOpenAsks(sandbox)
      .filter(({ answerId }) => denied.some((ask) => ask.answerId === answerId))
      .map(({ summary }) => `proj/${summary.replace("touch ", "")}`);
    await Promise.all(
      open.map((ask) => answerByApi(sandbox, ask, denied.includes(ask) ? { do: "deny" } : { do: "allow" })),
    );
    const allowed = names.filter((name) => !refused.includes(name));
    await waitFor("every file", () => allowed.every(sandbox.hasFile), 60_000);
    await waitFor("the end of all asks", () => listOpenAsks(sandbox).length === 0);
    await waitFor("the end of all hooks", () => listHooks(sandbox).length === 0);
    expect(allowed).toHaveLength(thirty - 10);
    expect(refused.filter(sandbox.hasFile)).toEqual([]);
  },
  {},
  startMs + 120_000,
);
