/** The real Claude Code CLI: many prompts through beckon, prompts around dialogs, and prompts over a killed beckon. */
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import type { Sandbox } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";
import { runRaces } from "../agent/send-races.ts";
import { parseJsonLines } from "../json-lines.ts";
import { waitUntil } from "../wait-until.ts";

const { testWithoutErrors, testDriven } = createCliTests();
const count = 20;
const timeoutMs = 400_000;

const readOutcomes = async ({ beckon }: Sandbox): Promise<readonly string[]> =>
  parseJsonLines<{ what: string; asked: string; outcome: string }>((await beckon.run("log", "--json")).stdout)
    .filter(({ what }) => what === "prompt")
    .map(({ asked, outcome }) => `${asked}: ${outcome}`);

testWithoutErrors(
  `${count} of ${count} prompts are delivered exactly once, and the half-typed line stays`,
  async (sandbox) => {
    const { beckon } = sandbox;
    await beckon.start();
    await sandbox.startCli();
    await sandbox.runTurn("SAY hello");
    await sandbox.pressKeys("h", "a", "l", "f");
    for (let n = 0; n < count; n++) {
      const { stdout, stderr } = await beckon.run("send", "proj", "--when", "idle", `SAY number ${n}.`);
      expect(stdout + stderr).toMatch(/^(Delivered|Queued|Sent)/);
      await sandbox.waitForScreen(new RegExp(`● number ${n}\\.`));
      expect(await sandbox.readScreen()).toMatch(/❯\shalf/);
    }
    await waitUntil(async () => (await readOutcomes(sandbox)).length === count, 20_000, "every outcome", 250);
    expect(await readOutcomes(sandbox)).toEqual(
      Array.from({ length: count }, (_, n) => `SAY number ${n}.: delivered`),
    );
    expect(beckon.countEvents("UserPromptSubmit")).toBe(count + 1);
  },
  {},
  timeoutMs,
);

testWithoutErrors(
  `${count} prompts around the appearance of a dialog approve nothing`,
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await sandbox.runTurn("SAY hello");
    await runRaces(
      {
        beckon: sandbox.beckon,
        async waitUntilReady() {
          const { recorder } = sandbox;
          await waitUntil(
            () => recorder.shown.at(-1)?.sessions.some(({ group }) => group === "ready"),
            20_000,
            "an idle session",
          );
        },
        openDialog: (command) => sandbox.openDialog(`DO bash ${command}`, dialog.permission),
        async dismissDialog() {
          await sandbox.pressKeys("Escape");
          await sandbox.waitUntilHidden(dialog.permission);
        },
        listFiles: async () =>
          readdirSync(sandbox.resolveInHome("proj")).filter((name) => name.startsWith("asked")),
      },
      count,
    );
  },
  {},
  timeoutMs,
);

testDriven(
  "prompts that wait or are on their way when beckon is killed are delivered once",
  async (sandbox) => {
    const { beckon } = sandbox;
    await beckon.start();
    await sandbox.startCli();
    await sandbox.runTurn("SAY hello");
    await sandbox.typeLine("DO slow 6");
    await sandbox.waitForStatus("busy");
    expect((await beckon.run("send", "proj", "SAY waited")).stdout).toStartWith("Queued: it works");
    await beckon.kill();
    await beckon.start();
    await sandbox.waitForScreen(/● waited/);
    // On its way: killed as soon as the command is there.
    const sending = beckon.run("send", "proj", "--when", "idle", "SAY on its way");
    await sandbox.waitForScreen(/Message from @beckon: SAY on its way/);
    await beckon.kill();
    await sending;
    await beckon.start();
    await waitUntil(async () => (await readOutcomes(sandbox)).length === 2, 30_000, "both outcomes", 250);
    expect(await readOutcomes(sandbox)).toEqual(["SAY waited: delivered", "SAY on its way: delivered"]);
    expect(beckon.countEvents("UserPromptSubmit")).toBe(4);
  },
  {},
  timeoutMs,
);
