/** The real Claude Code CLI: what a rule of the user's allows runs by itself, and what is only like it is asked. */
import { expect } from "bun:test";
import { parseJsonLines } from "../json-lines.ts";
import { openChannels } from "./channels.ts";
import { home } from "./namespace.ts";
import { createCliTests, dialog } from "./scenario.ts";

const { testWithoutErrors } = createCliTests();

testWithoutErrors(
  "what a rule allows runs without a request to the user or an alert, and what is like it is asked",
  async (sandbox) => {
    const { beckon, recorder } = sandbox;
    const { phone } = await openChannels(sandbox, { phone: "ntfy" });
    const readAnswers = async () =>
      parseJsonLines<{ asked: string; outcome: string; by: string }>(
        (await beckon.run("log", "--json")).stdout,
      ).map(({ asked, outcome, by }) => `${asked}: ${outcome} (${by})`);
    await beckon.start();
    await sandbox.startCli();
    const added = await beckon.run("rules", "add", "Bash(touch *)", "--project", `${home}/proj`);
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining("touch-proj")]);

    await sandbox.runTurn("DO bash touch allowed");
    expect(sandbox.hasFile("proj/allowed")).toBe(true);
    expect(await readAnswers()).toEqual(["Bash: touch allowed: allowed (rule touch-proj)"]);
    const shown = recorder.shown.flatMap(({ sessions }) => sessions).flatMap(({ asks }) => asks);
    expect(shown.filter(({ answerable }) => answerable)).toEqual([]);
    expect(await phone.sentCount()).toBe(0);

    await sandbox.openDialog("DO bash touch -c near", dialog.permission);
    await phone.waitForText("touch -c near");
    expect(await phone.sentCount()).toBe(1);
    const answerable = recorder.shown.at(-1)?.sessions.flatMap(({ asks }) => asks) ?? [];
    expect(answerable).toMatchObject([{ summary: "touch -c near", answerable: true }]);
  },
);
