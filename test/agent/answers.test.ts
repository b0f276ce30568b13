/** The real Claude Code CLI asks, and is answered without going there. */
import { expect } from "bun:test";
import { answers, asks, heardByModel, hooksOf, isOver, isTooLate, posts } from "./answering.ts";
import { testOnDesk } from "./desk.ts";
import { asksBehindExit, endsInLog, isLeft } from "./leaving.ts";
import { dialog, scenariosWithCli } from "./scenario.ts";
import { until } from "./world.ts";

const { scenario } = scenariosWithCli();
const onDesk = testOnDesk();
const limitMs = 60_000;

const command = "timeout 1 tail -f /dev/null || touch allowed";

scenario(
  "allowed, denied with a message, replied, and in the terminal first",
  [
    `permission Bash: ${command}`,
    "permission Bash: touch denied",
    "permission Bash: touch first",
    "question AskUserQuestion: Which colour?",
  ],
  async (world) => {
    await world.startCli();

    const allowed = await asks(world, `DO bash ${command}`, dialog.permission);
    expect(hooksOf(world)).toHaveLength(1);
    expect(await answers(world, allowed, "allow")).toBe(`allowed in proj: ${command}`);
    await world.showsState("active", "busy");
    await world.finds("proj/allowed");
    await isOver(world, dialog.permission);
    await isTooLate(world, allowed);

    const denied = await asks(world, "DO bash touch denied", dialog.permission);
    await answers(world, denied, "deny", "not", "on", "a", "Friday");
    await isOver(world, dialog.permission);
    expect(heardByModel(world)).toContain("not on a Friday");
    expect(world.has("proj/denied")).toBe(false);

    const asked = await asks(world, "DO ask", dialog.question);
    await posts(world, asked, { do: "reply", replies: [["Blue"]] });
    await isOver(world, dialog.question);
    expect(heardByModel(world)).toContain('"Which colour?"="Blue"');

    const first = await asks(world, "DO bash touch first", dialog.permission);
    await world.accepts(dialog.permission);
    await world.finds("proj/first");
    await isOver(world, dialog.permission);
    await isTooLate(world, first);
  },
);

scenario("left by /exit while it asks", ["permission Bash: touch x"], async (world) => {
  const open = await asksBehindExit(world);
  expect(hooksOf(world)).toHaveLength(1);
  await world.key("Enter");
  await isLeft(world, open);
  expect(await endsInLog(world)).toEqual(["the session ended"]);
  expect(world.has("proj/x")).toBe(false);
});

onDesk(
  "a click on Allow in its notification makes the tool run",
  async (world, desk) => {
    await world.startCli();
    await asks(world, "DO bash touch clicked", dialog.permission);
    const note = await desk.note();
    await desk.desktop.screenshot("agent-allow");
    expect(world.has("proj/clicked")).toBe(false);
    await desk.clicks(note, "first of three");
    // A click that comes just as its words change is not taken: a person clicks again.
    await until("clicked", () => world.has("proj/clicked"), 4_000).catch(async () => {
      await desk.clicks(await desk.note(), "first of three");
    });
    await world.finds("proj/clicked");
    await desk.gone();
    await isOver(world, dialog.permission);
  },
  limitMs,
);
