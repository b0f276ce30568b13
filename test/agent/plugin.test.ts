/** The Claude Code plugin, in the real CLI. */
import { expect } from "bun:test";
import { cliVersion, oldVersions } from "./cli.ts";
import { installPlugin, pluginFolders, withPlugin } from "./plugin.ts";
import { dialog, scenariosWithCli } from "./scenario.ts";
import { manual } from "./world.ts";

const [oldest] = oldVersions;
const { scenario, undisturbed } = scenariosWithCli(cliVersion, oldest);

scenario(
  "the plugin, installed from the checkout, tells all that the installer's hooks tell",
  ["permission Bash: touch x"],
  async (world) => {
    await installPlugin(world);
    await world.startCli();
    await world.type("DO bash touch x");
    await world.is("waiting");
    await world.linger();
    await world.accepts(dialog.permission);
    await world.is("idle");
    await world.arrives("PermissionRequest");
    await world.arrives("Stop");
  },
  { files: pluginFolders, isInstalled: false },
);

scenario(
  "with plugin and installed hooks both, what comes twice counts once",
  ["permission Bash: touch x"],
  async (world) => {
    await world.startCli(`${manual} ${withPlugin}`);
    await world.type("DO bash touch x");
    await world.is("waiting");
    await world.linger();
    await world.accepts(dialog.permission);
    await world.is("idle");
    for (const event of ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"])
      await world.arrives(event, 2);
    await world.linger();
    expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([{ turnCount: 1, asks: [] }]);
  },
  { files: pluginFolders },
);

undisturbed(
  `the plugin without beckon says nothing, not even on CLI ${oldest}, which tells of every hook that fails`,
  async (world) => {
    // The beckon of this world is in its PATH.
    await world.type('claude() { PATH=/usr/bin:/bin ~/bin/claude "$@"; }');
    await world.startCli(`${manual} ${withPlugin}`);
    await world.type("SAY hello");
    await world.hears("Stop");
    await world.shows(/hello$/m);
    expect(world.beckon.heard("Stop")).toBe(0);
  },
  { cli: oldest, files: pluginFolders, isInstalled: false },
);
