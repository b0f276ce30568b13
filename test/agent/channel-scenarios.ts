/** What must hold with the real CLI for every service that takes answers. */
import { expect } from "bun:test";
import { waitUntil } from "../wait-until.ts";
import { expectClosed, openAsk, readToolResult } from "./answering.ts";
import { openChannels } from "./channels.ts";
import { readOutcomes } from "./leaving.ts";
import { createCliTests, dialog } from "./scenario.ts";

const maxWithdrawalMs = 2_000;

export function testChannelWithCli(type: string): void {
  const { testWithoutErrors, testDriven } = createCliTests();

  testWithoutErrors(
    `${type}: a permission is allowed and denied with a reason, a question answered`,
    async (sandbox) => {
      const { phone } = await openChannels(sandbox, { phone: type });
      await sandbox.beckon.start();
      await sandbox.startCli();

      await openAsk(sandbox, "DO bash touch allowed", dialog.permission);
      await phone.waitForText("touch allowed");
      await phone.tap("Allow");
      await sandbox.waitForFile("proj/allowed");
      await phone.waitForText("Allowed by phone");
      await expectClosed(sandbox, dialog.permission);

      await openAsk(sandbox, "DO bash touch denied", dialog.permission);
      await phone.waitForText("touch denied");
      await phone.reply("not on a Friday");
      await phone.waitForText("Denied by phone");
      await expectClosed(sandbox, dialog.permission);
      expect(readToolResult(sandbox)).toContain("not on a Friday");
      expect(sandbox.hasFile("proj/denied")).toBe(false);

      await openAsk(sandbox, "DO ask", dialog.question);
      await phone.waitForText("Which colour?");
      await phone.tap("2. Blue");
      await expectClosed(sandbox, dialog.question);
      expect(readToolResult(sandbox)).toContain('"Which colour?"="Blue"');

      const outcomes = await readOutcomes(sandbox, 3);
      expect(outcomes.map((outcome) => outcome.replace(/ \(@.*\)\)$/, ")"))).toEqual([
        "allowed (phone)",
        "denied: not on a Friday (phone)",
        "replied: Blue (phone)",
      ]);
    },
  );

  testWithoutErrors(`${type}: a reply to a finished turn is the next prompt, once`, async (sandbox) => {
    const { phone } = await openChannels(sandbox, { phone: type }, { send: true, asks: ["finished"] });
    await sandbox.beckon.start();
    await sandbox.startCli();
    await sandbox.runTurn("SAY hello");
    await phone.waitForText("Reply with its next prompt.");
    await phone.reply("SAY from afar");
    await sandbox.waitForScreen(/● from afar/);
    await waitUntil(
      async () => (await sandbox.beckon.run("send", "--list")).stdout.includes("delivered"),
      10_000,
    );
    const { stdout } = await sandbox.beckon.run("log", "--json");
    expect(stdout.match(/"what":"prompt"/g)).toHaveLength(1);
  });

  testWithoutErrors(`${type}: a plan is approved`, async (sandbox) => {
    const { phone } = await openChannels(sandbox, { phone: type });
    await sandbox.beckon.start();
    await sandbox.startCli("--permission-mode plan");
    await openAsk(sandbox, "DO plan", dialog.plan);
    await phone.waitForText("Do this");
    await phone.tap("Approve");
    await phone.waitForText("Approved by phone");
    await expectClosed(sandbox, dialog.plan);
  });

  testWithoutErrors(
    `${type}: a request that was answered in the terminal is withdrawn within 2 s`,
    async (sandbox) => {
      const { phone } = await openChannels(sandbox, { phone: type });
      await sandbox.beckon.start();
      await sandbox.startCli();
      await openAsk(sandbox, "DO bash timeout 5 tail -f /dev/null || touch slow", dialog.permission);
      await phone.waitForText("touch slow");
      await sandbox.acceptDialog(dialog.permission);
      // The tool still runs: its end does not tell beckon.
      const tookMs = await waitUntil(
        async () => (await phone.messages())[0]?.buttons.length === 0,
        maxWithdrawalMs,
        "a message without buttons",
      );
      console.log(`${type}: withdrawn after ${tookMs.toFixed(0)} ms`);
      expect(sandbox.hasFile("proj/slow")).toBe(false);
      await sandbox.waitForFile("proj/slow");
      await phone.waitForText("in the terminal");
      await expectClosed(sandbox, dialog.permission);
    },
  );

  testDriven(
    `${type}: beckon is killed and started again between the message and the answer`,
    async (sandbox) => {
      const { phone } = await openChannels(sandbox, { phone: type });
      await sandbox.beckon.start();
      await sandbox.startCli();
      await openAsk(sandbox, "DO bash touch after-kill", dialog.permission);
      await phone.waitForText("touch after-kill");
      await sandbox.beckon.kill();
      await sandbox.beckon.start();
      await sandbox.waitForAnswerable();
      await phone.tap("Allow");
      await sandbox.waitForFile("proj/after-kill");
      await phone.waitForText("Allowed by phone");
      expect(await phone.sentCount()).toBe(1);
      await expectClosed(sandbox, dialog.permission);
    },
  );

  testDriven(`${type}: of two channels that answer at once, one wins`, async (sandbox) => {
    const { phone, tablet } = await openChannels(sandbox, { phone: type, tablet: "ntfy" });
    await sandbox.beckon.start();
    await sandbox.startCli();
    await openAsk(sandbox, "DO bash touch once", dialog.permission);
    await Promise.all([phone.waitForText("touch once"), tablet.waitForText("touch once")]);
    await Promise.all([phone.tap("Allow"), tablet.tap("Deny")]);
    await expectClosed(sandbox, dialog.permission);
    const [outcome, ...others] = await readOutcomes(sandbox);
    expect(others).toEqual([]);
    const isAllowed = outcome?.startsWith("allowed") === true;
    const ending = isAllowed ? "Allowed by phone" : "Denied by tablet";
    await Promise.all([phone.waitForText(ending), tablet.waitForText(ending)]);
    expect(sandbox.hasFile("proj/once")).toBe(isAllowed);
  });
}
