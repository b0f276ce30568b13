/** The real Claude Code CLI asks, and is answered without going there. */
import { expect } from "bun:test";
import { answers, asks, heardByModel, hooksOf, isOver, isTooLate, posts } from "./answering.ts";
import { testOnDesk } from "./desktop.ts";
import { asksBehindExit, endsInLog, isLeft } from "./leaving.ts";
import { until } from "./sandbox.ts";
import { dialog, scenariosWithCli } from "./scenario.ts";

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
  async (sandbox) => {
    await sandbox.startCli();

    const allowed = await asks(sandbox, `DO bash ${command}`, dialog.permission);
    expect(hooksOf(sandbox)).toHaveLength(1);
    expect(await answers(sandbox, allowed, "allow")).toBe(`allowed in proj: ${command}`);
    await sandbox.showsState("active", "busy");
    await sandbox.finds("proj/allowed");
    await isOver(sandbox, dialog.permission);
    await isTooLate(sandbox, allowed);

    const denied = await asks(sandbox, "DO bash touch denied", dialog.permission);
    await answers(sandbox, denied, "deny", "not", "on", "a", "Friday");
    await isOver(sandbox, dialog.permission);
    expect(heardByModel(sandbox)).toContain("not on a Friday");
    expect(sandbox.has("proj/denied")).toBe(false);

    const asked = await asks(sandbox, "DO ask", dialog.question);
    await posts(sandbox, asked, { do: "reply", replies: [["Blue"]] });
    await isOver(sandbox, dialog.question);
    expect(heardByModel(sandbox)).toContain('"Which colour?"="Blue"');

    const first = await asks(sandbox, "DO bash touch first", dialog.permission);
    await sandbox.accepts(dialog.permission);
    await sandbox.finds("proj/first");
    await isOver(sandbox, dialog.permission);
    await isTooLate(sandbox, first);
  },
);

scenario("left by /exit while it asks", ["permission Bash: touch x"], async (sandbox) => {
  const open = await asksBehindExit(sandbox);
  expect(hooksOf(sandbox)).toHaveLength(1);
  await sandbox.key("Enter");
  await isLeft(sandbox, open);
  expect(await endsInLog(sandbox)).toEqual(["the session ended"]);
  expect(sandbox.has("proj/x")).toBe(false);
});

onDesk(
  "a click on Allow in its notification makes the tool run",
  async (sandbox, desk) => {
    await sandbox.startCli();
    await asks(sandbox, "DO bash touch clicked", dialog.permission);
    const note = await desk.note();
    await desk.desktop.screenshot("agent-allow");
    expect(sandbox.has("proj/clicked")).toBe(false);
    await desk.clicks(note, "first of three");
    // A click that comes just as its words change is not taken: a person clicks again.
    await until("clicked", () => sandbox.has("proj/clicked"), 4_000).catch(async () => {
      await desk.clicks(await desk.note(), "first of three");
    });
    await sandbox.finds("proj/clicked");
    await desk.gone();
    await isOver(sandbox, dialog.permission);
  },
  limitMs,
);
