/** Asks of the real Claude Code CLI are answered through Discord, and its sessions have threads there. */
import { expect } from "bun:test";
import { testChannelWithCli } from "../agent/channel-scenarios.ts";
import { openChannels } from "../agent/channels.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

testChannelWithCli("discord");

const { testWithoutErrors } = createCliTests();

testWithoutErrors(
  "discord: a session has a thread with its phases, its responses and its end",
  async (sandbox) => {
    const { team } = await openChannels(
      sandbox,
      { team: "discord" },
      {
        projects: { "/home/dev": "100000000000000002" },
        forward: { phases: true, responses: true },
        asks: [],
      },
    );
    await sandbox.beckon.start();
    await sandbox.startCli();
    await team.waitForText("session has started in proj");
    await sandbox.typeLine("SAY I have **finished**.");
    await sandbox.waitForStatus("idle");
    await team.waitForText("Ready for your next prompt");
    await sandbox.typeLine("DO bash touch x");
    await sandbox.waitForScreen(dialog.permission);
    await team.waitForText("Waiting for you: Permission for Bash");
    await sandbox.acceptDialog(dialog.permission);
    await sandbox.waitForStatus("idle");
    await team.waitForText("Ready for your next prompt");
    await sandbox.typeLine("/exit");
    await team.waitForText("The session has ended.");
    const texts = (await team.messages()).map(({ text }) => text);
    expect(texts[0]).toMatch(/session has started in proj/);
    expect(texts).toContain("I have **finished**.");
    expect(texts.filter((text) => text.includes("has started"))).toHaveLength(1);
  },
);
