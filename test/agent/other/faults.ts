/** Faults of beckon while another agent's CLI runs. None may show on the screen or keep a tool from running. */
import { expect } from "bun:test";
import type { CliDriver, OtherSandbox } from "./sandbox.ts";
import { createOtherCliTests } from "./scenario.ts";

const faults: readonly (readonly [string, (sandbox: OtherSandbox) => Promise<void>])[] = [
  ["beckon is killed", (sandbox) => sandbox.beckon.kill()],
  ["beckon hangs", (sandbox) => sandbox.beckon.suspend()],
  ["the binary is removed", (sandbox) => sandbox.runShell("rm .local/bin/beckon")],
  [
    "the binary is broken",
    (sandbox) =>
      sandbox.runShell("rm .local/bin/beckon; echo nonsense >.local/bin/beckon; chmod +x .local/bin/beckon"),
  ],
];

export function describeFaults(driver: CliDriver): void {
  const { testDriven } = createOtherCliTests(driver);
  for (const [title, inject] of faults) {
    testDriven(`no error and no refused tool if ${title}`, async (sandbox) => {
      await sandbox.startFirst();
      await sandbox.say("hello");
      await sandbox.beckon.stopPolling();
      await inject(sandbox);
      await sandbox.prompt(driver.createCommandPrompt("touch made"));
      await sandbox.waitForDialog("permission");
      await sandbox.pressKeys(driver.approveKey ?? "Enter");
      await sandbox.waitForScreen(/Done, without errors/);
      await sandbox.waitUntilIdle();
      expect(await sandbox.listFiles()).toEqual(["made"]);
      const screen = (await sandbox.readScreen())
        .replaceAll("Done, without errors.", "")
        .replaceAll(driver.harmless ?? /$^/g, "");
      expect(screen).not.toMatch(/beckon|error|ENOENT|failed|hook|plugin/i);
      await sandbox.leaveCli();
    });
  }
}
