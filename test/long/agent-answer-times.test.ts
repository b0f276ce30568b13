/** From an answer to the tool of the real CLI that runs: a click, a command, a request. */
import { expect } from "bun:test";
import { answers, asks, isOver, type Open, posts } from "../agent/answering.ts";
import { testOnDesk } from "../agent/desktop.ts";
import type { Sandbox } from "../agent/sandbox.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";

const times = 8;
const longMs = 150_000;
/** What a person would call at once. */
const atOnceMs = 1_500;

const { undisturbed } = scenariosWithCli();
const onDesk = testOnDesk();

/** `answer` returns when it was given. */
async function measure(
  sandbox: Sandbox,
  way: string,
  answer: (open: Open) => Promise<number>,
): Promise<void> {
  const tookMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const name = `${way.replaceAll(/\W/g, "-")}-${n}`;
    const open = await asks(sandbox, `DO bash touch ${name}`, dialog.permission);
    const answeredAt = await answer(open);
    tookMs.push((await sandbox.finds(`proj/${name}`)) - answeredAt);
    await isOver(sandbox, dialog.permission);
  }
  tookMs.sort((a, b) => a - b);
  const [median = Number.NaN, max = Number.NaN] = [tookMs[times / 2], tookMs.at(-1)];
  console.log(
    `from ${way} to the tool running: p50 ${median.toFixed(0)} ms, max ${max.toFixed(0)} ms, ${times} asks`,
  );
  expect(max).toBeLessThan(atOnceMs);
}

undisturbed(
  "a command and a request make the tool run at once",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await measure(sandbox, "beckon answer", async (open) => {
      const at = Date.now();
      await answers(sandbox, open, "allow");
      return at;
    });
    await measure(sandbox, "a request", async (open) => {
      const at = Date.now();
      await posts(sandbox, open, { do: "allow" });
      return at;
    });
  },
  {},
  longMs,
);

onDesk(
  "a click on Allow in its notification makes the tool run at once",
  async (sandbox, desk) => {
    await sandbox.startCli();
    await measure(sandbox, "a click", async () => {
      const note = await desk.note();
      await desk.desktop.screenshot("agent-allow");
      const at = await desk.clicks(note, "first of three");
      await desk.gone();
      return at;
    });
  },
  longMs,
);
