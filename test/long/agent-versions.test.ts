/** The installed hooks and the plugin in more versions of the real Claude Code CLI. */
import { cliVersion, oldVersions, strictVersion as strict } from "../agent/cli.ts";
import { faults, noFault, surviveFault } from "../agent/faults.ts";
import { pluginFlag, pluginFolders } from "../agent/plugin.ts";
import { defaultMode } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

const { testDriven, testWithoutErrors } = createCliTests(cliVersion, strict, ...oldVersions);

for (const cli of [cliVersion, strict, "2.1.100"]) {
  for (const fault of [noFault, ...faults]) {
    const title = `no hook error on the screen of CLI ${cli}: ${fault.title}`;
    testDriven(title, surviveFault(fault), { cli, isInstalled: false });
  }
}

for (const cli of [...oldVersions, strict]) {
  testWithoutErrors(
    `the plugin's events arrive from CLI ${cli}`,
    async (sandbox) => {
      await sandbox.beckon.start();
      await sandbox.startCli(`${defaultMode} ${pluginFlag}`);
      await sandbox.typeLine("DO bash touch x");
      await sandbox.waitForState("active", "waiting_permission");
      await sandbox.acceptDialog(dialog.permission);
      await sandbox.waitForArrival("Stop");
      await sandbox.waitForState("active", "interactable");
    },
    { cli, files: pluginFolders, isInstalled: false },
  );
}
