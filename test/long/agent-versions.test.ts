/** The installed hooks and the plugin, in more versions of the real Claude Code CLI. */
import { cliVersion, oldVersions, strictVersion as strict } from "../agent/cli.ts";
import { allWell, mishaps, surviving } from "../agent/mishap.ts";
import { pluginFolders, withPlugin } from "../agent/plugin.ts";
import { manual } from "../agent/sandbox.ts";
import { dialog, scenariosWithCli } from "../agent/scenario.ts";

const { driven, undisturbed } = scenariosWithCli(cliVersion, strict, ...oldVersions);

for (const cli of [cliVersion, strict, "2.1.100"]) {
  for (const mishap of [allWell, ...mishaps]) {
    const title = `no hook error on the screen of CLI ${cli}: ${mishap.title}`;
    driven(title, surviving(mishap), { cli, isInstalled: false });
  }
}

for (const cli of [...oldVersions, strict]) {
  undisturbed(
    `the plugin's events arrive from CLI ${cli}`,
    async (sandbox) => {
      await sandbox.beckon.start();
      await sandbox.startCli(`${manual} ${withPlugin}`);
      await sandbox.type("DO bash touch x");
      await sandbox.showsState("active", "waiting_permission");
      await sandbox.accepts(dialog.permission);
      await sandbox.arrives("Stop");
      await sandbox.showsState("active", "interactable");
    },
    { cli, files: pluginFolders, isInstalled: false },
  );
}
