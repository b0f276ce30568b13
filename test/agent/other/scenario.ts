/** Tests that drive another agent's real CLI with beckon: what beckon shows must be what is on the screen. */
import { expect } from "bun:test";
import { testWithOtherCli } from "./clis.ts";
import { type CliDriver, type OtherSandbox, type OtherSandboxOptions, openOtherSandbox } from "./sandbox.ts";

type Drive = (sandbox: OtherSandbox) => Promise<void>;

const cliTestTimeoutMs = 180_000;

/**
 * testScenario: every dialog must have its ask in time, no ask may be without a dialog, and every compared state must be right.
 * testDriven: only runs `drive`.
 */
export function createOtherCliTests(driver: CliDriver) {
  const test = testWithOtherCli(driver.cli);
  const { name } = driver.cli;
  return {
    testScenario: (title: string, drive: Drive, options?: OtherSandboxOptions) =>
      test(`${name}: ${title}`, () => runInSandbox(driver, judged(drive), options), cliTestTimeoutMs),
    testDriven: (title: string, drive: Drive, options?: OtherSandboxOptions) =>
      test(`${name}: ${title}`, () => runInSandbox(driver, drive, options), cliTestTimeoutMs),
  };
}

const judged =
  (drive: Drive): Drive =>
  async (sandbox) => {
    await drive(sandbox);
    const { problems, dialogs, opened, closed, compared, right } = sandbox.judge();
    console.log(
      `dialogs ${dialogs}, shown in time ${opened}, gone in time ${closed}, states right ${right} of ${compared}`,
    );
    expect(problems).toEqual([]);
    expect(sandbox.beckon.readWarnings()).toEqual([]);
  };

async function runInSandbox(driver: CliDriver, drive: Drive, options?: OtherSandboxOptions): Promise<void> {
  const sandbox = await openOtherSandbox(driver, options);
  try {
    await drive(sandbox);
  } catch (error) {
    console.log((await sandbox.readScreen().catch(String)).replaceAll(/\n{2,}/g, "\n"));
    throw error;
  } finally {
    await sandbox.close();
  }
}
