/** The Claude Code plugin, in the real CLI. */
import { expect } from "bun:test";
import { cliVersion, oldVersions } from "./cli.ts";
import { installPlugin, pluginFolders, withPlugin } from "./plugin.ts";
import { manual } from "./sandbox.ts";
import { dialog, scenariosWithCli } from "./scenario.ts";

const [oldest] = oldVersions;
const { scenario, undisturbed } = scenariosWithCli(cliVersion, oldest);

scenario(
  "the plugin, installed from the checkout, tells all that the installer's hooks tell",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await installPlugin(sandbox);
    await sandbox.startCli();
    await sandbox.type("DO bash touch x");
    await sandbox.is("waiting");
    await sandbox.linger();
    await sandbox.accepts(dialog.permission);
    await sandbox.is("idle");
    await sandbox.arrives("PermissionRequest");
    await sandbox.arrives("Stop");
  },
  { files: pluginFolders, isInstalled: false },
);

scenario(
  "with plugin and installed hooks both, what comes twice counts once",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli(`${manual} ${withPlugin}`);
    await sandbox.type("DO bash touch x");
    await sandbox.is("waiting");
    await sandbox.linger();
    await sandbox.accepts(dialog.permission);
    await sandbox.is("idle");
    for (const event of ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"])
      await sandbox.arrives(event, 2);
    await sandbox.linger();
    expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ turnCount: 1, asks: [] }]);
  },
  { files: pluginFolders },
);

undisturbed(
  `the plugin without beckon says nothing, not even on CLI ${oldest}, which tells of every hook that fails`,
  async (sandbox) => {
    // The beckon of this sandbox is in its PATH.
    await sandbox.type('claude() { PATH=/usr/bin:/bin ~/bin/claude "$@"; }');
    await sandbox.startCli(`${manual} ${withPlugin}`);
    await sandbox.type("SAY hello");
    await sandbox.hears("Stop");
    await sandbox.shows(/hello$/m);
    expect(sandbox.beckon.heard("Stop")).toBe(0);
  },
  { cli: oldest, files: pluginFolders, isInstalled: false },
);
