/** Every answer by every way, to the real Claude Code CLI; and thirty of it that ask at once. */
import { expect } from "bun:test";
import { answerableIn, asks, heardByModel, hooksOf, isOver, openAsks, posts } from "../agent/answering.ts";
import { testOnDesk } from "../agent/desk.ts";
import { home } from "../agent/namespace.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";
import { until } from "../agent/world.ts";

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
  async (world) => {
    await world.startCli();
    const permission = async (command: string, answer: object) => {
      await posts(world, await asks(world, `DO bash ${command}`, dialog.permission), answer);
      await isOver(world, dialog.permission);
    };
    await permission("touch allowed", { do: "allow" });
    expect(world.has("proj/allowed")).toBe(true);
    await permission("touch denied", { do: "deny", message: "not on a Friday" });
    expect(heardByModel(world)).toContain("not on a Friday");
    expect(world.has("proj/denied")).toBe(false);
    await permission("hostid", { do: "always", choice: 0 });
    await world.type("DO bash hostid");
    await world.is("idle");
    expect(world.recorder.heard("PermissionRequest", 0)).toBe(3);

    for (const [prompt, replies, heard] of [
      ["DO ask", [["Blue"]], ['"Which colour?"="Blue"']],
      ["DO ask", [["a warm grey"]], ['"Which colour?"="a warm grey"']],
      ["DO ask two", [["Red"], ["Large"]], ['"Which colour?"="Red"', '"Which size?"="Large"']],
      ["DO ask several", [["Red", "Blue"]], ['"Which colours?"="Red, Blue"']],
    ] as const) {
      await posts(world, await asks(world, prompt, dialog.question), { do: "reply", replies });
      await isOver(world, dialog.question);
      for (const words of heard) expect(heardByModel(world)).toContain(words);
    }
  },
);

scenario(
  "a plan sent back and approved through the API",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (world) => {
    await world.startCli("--permission-mode plan");
    await posts(world, await asks(world, "DO plan", dialog.plan), { do: "deny", message: "tests first" });
    await isOver(world, dialog.plan);
    expect(heardByModel(world)).toContain("tests first");
    await posts(world, await asks(world, "DO plan", dialog.plan), { do: "allow" });
    await isOver(world, dialog.plan);
    expect(heardByModel(world)).toContain("approved your plan");
  },
);

onDesk(
  "Deny, and the option of a question, clicked in a notification",
  async (world, desk) => {
    await world.startCli();
    await asks(world, "DO bash touch denied", dialog.permission);
    await desk.clicks(await desk.note(), "second of three");
    await isOver(world, dialog.permission);
    await desk.gone();
    expect(world.has("proj/denied")).toBe(false);

    await asks(world, "DO ask", dialog.question);
    await desk.clicks(await desk.note(), "second of three");
    await isOver(world, dialog.question);
    await desk.gone();
    expect(heardByModel(world)).toContain('"Which colour?"="Blue"');
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
  async (world) => {
    await world.beckon.start();
    await world.does(inTerminals);
    await until("thirty asks", () => answerableIn(world).length === thirty, startMs);
    await until("no other hooks than these", () => hooksOf(world).length === thirty);
    const names = Array.from({ length: thirty }, (_, n) => `proj/many-${n + 1}`);
    expect(names.filter(world.has)).toEqual([]);
    const open = answerableIn(world);
    const denied = open.slice(0, 10);
    const refused = openAsks(world)
      .filter(({ answerId }) => denied.some((one) => one.answerId === answerId))
      .map(({ summary }) => `proj/${summary.replace("touch ", "")}`);
    await Promise.all(
      open.map((one) => posts(world, one, denied.includes(one) ? { do: "deny" } : { do: "allow" })),
    );
    const allowed = names.filter((name) => !refused.includes(name));
    await until("every file", () => allowed.every(world.has), 60_000);
    await until("the end of all asks", () => openAsks(world).length === 0);
    await until("the end of all hooks", () => hooksOf(world).length === 0);
    expect(allowed).toHaveLength(thirty - 10);
    expect(refused.filter(world.has)).toEqual([]);
  },
  {},
  startMs + 120_000,
);
