/** The Claude Code plugin, in the real CLI. */
import { expect } from "bun:test";
import { cliVersion, oldVersions } from "./cli.ts";
import { installPlugin, pluginFlag, pluginFolders } from "./plugin.ts";
import { defaultMode } from "./sandbox.ts";
import { createCliTests, dialog } from "./scenario.ts";

const [oldest] = oldVersions;
const { testScenario, testWithoutErrors } = createCliTests(cliVersion, oldest);

testScenario(
  "the plugin, installed from the checkout, reports what the installer's hooks report",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await installPlugin(sandbox);
    await sandbox.startCli();
    await sandbox.typeLine("DO bash touch x");
    await sandbox.waitForStatus("waiting");
    await sandbox.dwell();
    await sandbox.acceptDialog(dialog.permission);
    await sandbox.waitForStatus("idle");
    await sandbox.waitForArrival("PermissionRequest");
    await sandbox.waitForArrival("Stop");
  },
  { files: pluginFolders, isInstalled: false },
);

testScenario(
  "with both the plugin and installed hooks, duplicate events are ignored",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli(`${defaultMode} ${pluginFlag}`);
    await sandbox.typeLine("DO bash touch x");
    await sandbox.waitForStatus("waiting");
    await sandbox.dwell();
    await sandbox.acceptDialog(dialog.permission);
    await sandbox.waitForStatus("idle");
    for (const event of ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"])
      await sandbox.waitForArrival(event, 2);
    await sandbox.dwell();
    expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ turnCount: 1, asks: [] }]);
  },
  { files: pluginFolders },
);

testWithoutErrors(
  `the plugin without beckon shows no error, even in CLI ${oldest}, which shows every hook that fails`,
  async (sandbox) => {
    // ~/bin, which has beckon, is not in this PATH.
    await sandbox.typeLine('claude() { PATH=/usr/bin:/bin ~/bin/claude "$@"; }');
    await sandbox.startCli(`${defaultMode} ${pluginFlag}`);
    await sandbox.typeLine("SAY hello");
    await sandbox.waitForHook("Stop");
    await sandbox.waitForScreen(/hello$/m);
    expect(sandbox.beckon.countEvents("Stop")).toBe(0);
  },
  { cli: oldest, files: pluginFolders, isInstalled: false },
);
