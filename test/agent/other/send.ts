/** Prompts that are sent through beckon to another agent's real CLI: when it is idle, and after a dialog. */
import { expect } from "bun:test";
import { parseJsonLines } from "../../json-lines.ts";
import { waitUntil } from "../../wait-until.ts";
import { runRaces } from "../send-races.ts";
import type { CliDriver, OtherSandbox } from "./sandbox.ts";
import { createOtherCliTests } from "./scenario.ts";

export interface SendingStory {
  readonly count: number;
  /** Starts it, up to the end of a turn. */
  readonly start: (sandbox: OtherSandbox) => Promise<void>;
}

export function describeSending(driver: CliDriver, { count, start }: SendingStory): void {
  createOtherCliTests(driver).testDriven(
    `${count} prompts that are sent to it are delivered once each, the half-typed line stays, and none answers a dialog`,
    async (sandbox) => {
      const { beckon } = sandbox;
      const send = async (...args: string[]) => {
        const { stdout, stderr } = await beckon.run("send", "proj", ...args);
        return stdout + stderr;
      };
      await start(sandbox);
      await sandbox.pressKeys(..."half");
      await sandbox.waitForScreen(/half/);
      for (let n = 0; n < count; n++) {
        await sandbox.waitForSession(({ group }) => group === "ready", "an idle session");
        expect(await send("--when", "idle", `SAY number ${n}`)).toMatch(/^(Delivered|Queued|Sent)/);
        await sandbox.waitForScreen(new RegExp(`(?<!SAY )number ${n}`));
        expect(await sandbox.readScreen()).toMatch(/half/);
      }
      await sandbox.pressKeys(...Array<string>("half".length).fill("BSpace"));
      await sandbox.openDialog("permission", driver.createCommandPrompt("touch asked"));
      expect(await send("SAY now")).toContain("it asks you something");
      expect(await send("--when", "idle", "SAY after it")).toContain("answer that first");
      expect(await sandbox.listFiles()).toEqual([]);
      await sandbox.pressKeys("Escape");
      await sandbox.waitUntilNoDialog();
      await sandbox.waitForScreen(/(?<!SAY )after it/);
      expect(await sandbox.listFiles()).toEqual([]);
      const readOutcomes = async () =>
        parseJsonLines<{ what: string; outcome: string }>((await beckon.run("log", "--json")).stdout)
          .filter(({ what }) => what === "prompt")
          .map(({ outcome }) => outcome);
      await waitUntil(async () => (await readOutcomes()).length === count + 1, 20_000, "every outcome", 250);
      expect(await readOutcomes()).toEqual(Array(count + 1).fill("delivered"));
    },
  );

  // In two halves, because a test has three minutes.
  for (const half of ["first", "second"])
    createOtherCliTests(driver).testDriven(
      `prompts around the appearance of a dialog approve nothing: ${half} ${count / 2}`,
      async (sandbox) => {
        await start(sandbox);
        await runRaces(
          {
            beckon: sandbox.beckon,
            async waitUntilReady() {
              await sandbox.waitForSession(({ group }) => group === "ready", "an idle session");
            },
            async openDialog(command) {
              await sandbox.prompt(driver.createCommandPrompt(command));
              await sandbox.waitForDialog("permission");
            },
            async dismissDialog() {
              await sandbox.pressKeys("Escape");
              await sandbox.waitUntilNoDialog();
            },
            listFiles: sandbox.listFiles,
          },
          count / 2,
        );
      },
    );
}
