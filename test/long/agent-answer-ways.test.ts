/** Every answer by every way, to the real Claude Code CLI; and thirty of it that ask at once. */
import { expect } from "bun:test";
import { answerableIn, asks, heardByModel, hooksOf, isOver, openAsks, posts } from "../agent/answering.ts";
import { testOnDesk } from "../agent/desktop.ts";
import { home } from "../agent/namespace.ts";
import { until } from "../agent/sandbox.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";

const { scenario, driven } = scenariosWithCli();
const onDesk = testOnDesk();
const longMs = 150_000;

scenario(
  "allowed, always, denied and replied through the API",
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
      await posts(sandbox, await asks(sandbox, `DO bash ${command}`, dialog.permission), answer);
      await isOver(sandbox, dialog.permission);
    };
    await permission("touch allowed", { do: "allow" });
    expect(sandbox.has("proj/allowed")).toBe(true);
    await permission("touch denied", { do: "deny", message: "not on a Friday" });
    expect(heardByModel(sandbox)).toContain("not on a Friday");
    expect(sandbox.has("proj/denied")).toBe(false);
    await permission("hostid", { do: "always", choice: 0 });
    await sandbox.type("DO bash hostid");
    await sandbox.is("idle");
    expect(sandbox.recorder.heard("PermissionRequest", 0)).toBe(3);

    for (const [prompt, replies, heard] of [
      ["DO ask", [["Blue"]], ['"Which colour?"="Blue"']],
      ["DO ask", [["a warm grey"]], ['"Which colour?"="a warm grey"']],
      ["DO ask two", [["Red"], ["Large"]], ['"Which colour?"="Red"', '"Which size?"="Large"']],
      ["DO ask several", [["Red", "Blue"]], ['"Which colours?"="Red, Blue"']],
    ] as const) {
      await posts(sandbox, await asks(sandbox, prompt, dialog.question), { do: "reply", replies });
      await isOver(sandbox, dialog.question);
      for (const words of heard) expect(heardByModel(sandbox)).toContain(words);
    }
  },
);

scenario(
  "a plan sent back and approved through the API",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (sandbox) => {
    await sandbox.startCli("--permission-mode plan");
    await posts(sandbox, await asks(sandbox, "DO plan", dialog.plan), { do: "deny", message: "tests first" });
    await isOver(sandbox, dialog.plan);
    expect(heardByModel(sandbox)).toContain("tests first");
    await posts(sandbox, await asks(sandbox, "DO plan", dialog.plan), { do: "allow" });
    await isOver(sandbox, dialog.plan);
    expect(heardByModel(sandbox)).toContain("approved your plan");
  },
);

onDesk(
  "Deny, and the option of a question, clicked in a notification",
  async (sandbox, desk) => {
    await sandbox.startCli();
    await asks(sandbox, "DO bash touch denied", dialog.permission);
    await desk.clicks(await desk.note(), "second of three");
    await isOver(sandbox, dialog.permission);
    await desk.gone();
    expect(sandbox.has("proj/denied")).toBe(false);

    await asks(sandbox, "DO ask", dialog.question);
    await desk.clicks(await desk.note(), "second of three");
    await isOver(sandbox, dialog.question);
    await desk.gone();
    expect(heardByModel(sandbox)).toContain('"Which colour?"="Blue"');
  },
  longMs,
);

const thirty = 30;
const startMs = 240_000;

/** Each in a terminal of its own, which nobody looks at. Not all at once: two cores would take seconds to hear a hook. */
const inTerminals = `cd ${home}/proj && for n in $(seq ${thirty}); do
  claude="stty rows 40 cols 120; exec claude --permission-mode default 'DO bash touch many-$n'"
  { sleep 600 | setsid script -qfc "$claude" /dev/null; } </dev/null >/dev/null 2>&1 &
  sleep 2
done`;

driven(
  "thirty ask at once: each is answered, none of another's answer",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.does(inTerminals);
    await until("thirty asks", () => answerableIn(sandbox).length === thirty, startMs);
    await until("no other hooks than these", () => hooksOf(sandbox).length === thirty);
    const names = Array.from({ length: thirty }, (_, n) => `proj/many-${n + 1}`);
    expect(names.filter(sandbox.has)).toEqual([]);
    const open = answerableIn(sandbox);
    const denied = open.slice(0, 10);
    const refused = openAsks(sandbox)
      .filter(({ answerId }) => denied.some((one) => one.answerId === answerId))
      .map(({ summary }) => `proj/${summary.replace("touch ", "")}`);
    await Promise.all(
      open.map((one) => posts(sandbox, one, denied.includes(one) ? { do: "deny" } : { do: "allow" })),
    );
    const allowed = names.filter((name) => !refused.includes(name));
    await until("every file", () => allowed.every(sandbox.has), 60_000);
    await until("the end of all asks", () => openAsks(sandbox).length === 0);
    await until("the end of all hooks", () => hooksOf(sandbox).length === 0);
    expect(allowed).toHaveLength(thirty - 10);
    expect(refused.filter(sandbox.has)).toEqual([]);
  },
  {},
  startMs + 120_000,
);
