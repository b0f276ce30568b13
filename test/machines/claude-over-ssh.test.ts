/** The real Claude Code on a machine behind ssh: the user is alerted on the desktop here, and answers here. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { dialog } from "../agent/scenario.ts";
import { hasAll, testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { claudeOverSshNeeds, openClaudeOverSsh } from "./claude-host.ts";

const overSsh = testWith(...claudeOverSshNeeds);
const limitMs = 60_000;
const soonMs = 15_000;
/** How long a request that was answered in its terminal may stay on the laptop. */
const withdrawnMs = 1_000;

describe("Claude Code behind ssh", () => {
  let opened: Awaited<ReturnType<typeof openClaudeOverSsh>>;

  beforeAll(async () => {
    if (!hasAll(claudeOverSshNeeds)) return;
    opened = await openClaudeOverSsh();
    await opened.devbox.startCli();
  }, limitMs);
  afterAll(() => opened?.close());

  async function ask(prompt: string, shown: RegExp) {
    const { terminal } = opened.devbox;
    await terminal.typeLine(prompt);
    await terminal.waitForScreen(shown);
    return opened.laptop.waitForAsk();
  }

  overSsh(
    "its request is a notification here, and Allow in it runs the command there",
    async () => {
      const { devbox, laptop } = opened;
      await ask("DO bash touch clicked", dialog.permission);
      const notification = await laptop.desktop.waitForNotification();
      await laptop.desktop.screen.screenshot("over-ssh-allow");
      expect(devbox.hasFile("proj/clicked")).toBe(false);
      await laptop.desktop.clickButton(notification, "first of three");
      await devbox.waitForFile("proj/clicked");
      await laptop.waitUntilWithdrawn();
      await devbox.terminal.waitUntilHidden(dialog.permission);
    },
    limitMs,
  );

  overSsh(
    "its asks are denied with a reason, replied to and approved from here",
    async () => {
      const { devbox, laptop } = opened;
      const readResult = () => devbox.api.readRequests().at(-1)?.results ?? "";
      const answer = async (given: object, shown: RegExp, result: string) => {
        expect(await laptop.answer(given)).toMatchObject({ status: 200 });
        await devbox.terminal.waitUntilHidden(shown);
        await waitUntil(
          () => readResult().includes(result),
          soonMs,
          () => `${result} in ${readResult()}`,
        );
        await laptop.waitUntilWithdrawn();
      };
      await ask("DO bash touch denied", dialog.permission);
      await answer({ do: "deny", message: "not on a Friday" }, dialog.permission, "not on a Friday");
      expect(devbox.hasFile("proj/denied")).toBe(false);
      await ask("DO ask", dialog.question);
      await answer({ do: "reply", replies: [["Blue"]] }, dialog.question, '"Which colour?"="Blue"');
      await devbox.leaveCli();
      await devbox.startCli("--permission-mode plan");
      await ask("DO plan", dialog.plan);
      await answer({ do: "allow" }, dialog.plan, "approved your plan");
    },
    limitMs,
  );

  overSsh(
    "what is answered there, or left with Esc, is withdrawn here within a second",
    async () => {
      const { devbox, laptop } = opened;
      const { terminal } = devbox;
      await ask("DO bash touch first", dialog.permission);
      await laptop.desktop.waitForNotification();
      await terminal.acceptDialog(dialog.permission);
      await devbox.waitForFile("proj/first");
      const answeredMs = await laptop.waitUntilWithdrawn();
      await ask("DO bash touch left", dialog.permission);
      await laptop.desktop.waitForNotification();
      await terminal.pressKeys("Escape");
      const leftMs = await laptop.waitUntilWithdrawn();
      console.log(
        `withdrawn here ${answeredMs.toFixed(0)} ms after the command ran, ${leftMs.toFixed(0)} ms after Esc`,
      );
      expect(Math.max(answeredMs, leftMs)).toBeLessThan(withdrawnMs);
      expect(devbox.hasFile("proj/left")).toBe(false);
    },
    limitMs,
  );

  overSsh("nothing of beckon is left in its terminal, and no hook still waits", async () => {
    const { devbox } = opened;
    expect(await devbox.terminal.readScreen()).not.toMatch(/beckon|hook\b.*(error|failed)/i);
    const listHooks = () => devbox.space.listProcesses().filter((line) => line.includes("beckon hook"));
    await waitUntil(
      () => listHooks().length === 0,
      soonMs,
      () => listHooks().join("\n"),
    );
  });
});
