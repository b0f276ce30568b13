/** How long the real CLI takes from an answer (a click, a command, a request) to running the tool. */
import { expect } from "bun:test";
import { answerByApi, answerByCommand, type DialogAsk, expectClosed, openAsk } from "../agent/answering.ts";
import { testOnDesktop } from "../agent/desktop.ts";
import type { Sandbox } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

const times = 8;
const longMs = 150_000;
const maxMs = 1_500;

const { testWithoutErrors } = createCliTests();
const onDesktop = testOnDesktop();

/** `answer` returns the time of the answer. */
async function measure(
  sandbox: Sandbox,
  way: string,
  answer: (open: DialogAsk) => Promise<number>,
): Promise<void> {
  const tookMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const name = `${way.replaceAll(/\W/g, "-")}-${n}`;
    const open = await openAsk(sandbox, `DO bash touch ${name}`, dialog.permission);
    const answeredAt = await answer(open);
    tookMs.push((await sandbox.waitForFile(`proj/${name}`)) - answeredAt);
    await expectClosed(sandbox, dialog.permission);
  }
  tookMs.sort((a, b) => a - b);
  const [median = Number.NaN, max = Number.NaN] = [tookMs[times / 2], tookMs.at(-1)];
  console.log(
    `from ${way} to the tool running: p50 ${median.toFixed(0)} ms, max ${max.toFixed(0)} ms, ${times} asks`,
  );
  expect(max).toBeLessThan(maxMs);
}

testWithoutErrors(
  "a command and a request run the tool at once",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await measure(sandbox, "beckon answer", async (open) => {
      const at = Date.now();
      await answerByCommand(sandbox, open, "allow");
      return at;
    });
    await measure(sandbox, "a request", async (open) => {
      const at = Date.now();
      await answerByApi(sandbox, open, { do: "allow" });
      return at;
    });
  },
  {},
  longMs,
);

onDesktop(
  "a click on Allow in the notification runs the tool at once",
  async (sandbox, desktop) => {
    await sandbox.startCli();
    await measure(sandbox, "a click", async () => {
      const notification = await desktop.waitForNotification();
      await desktop.screen.screenshot("agent-allow");
      const at = await desktop.clickButton(notification, "first of three");
      await desktop.waitUntilWithdrawn();
      return at;
    });
  },
  longMs,
);
