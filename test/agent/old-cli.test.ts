/** CLIs that refuse a settings file for one name they do not know: the installer writes only what they know. */
import { expect } from "bun:test";
import { oldVersions } from "./cli.ts";
import { dialog, scenariosWithCli } from "./scenario.ts";

const { undisturbed, driven } = scenariosWithCli(...oldVersions);
const unknown = { NoSuchEvent: [{ hooks: [{ type: "command", command: "true" }] }] };

for (const cli of oldVersions) {
  undisturbed(
    `CLI ${cli} starts with the installed hooks without a dialog, and its events arrive`,
    async (world) => {
      await world.beckon.start();
      await world.startCli();
      await world.type("DO bash touch x");
      await world.showsState("active", "waiting_permission");
      await world.accepts(dialog.permission);
      await world.showsState("active", "interactable");
      expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([{ turnCount: 1, asks: [] }]);
    },
    { cli },
  );

  driven(
    `CLI ${cli} would ask what to do about a name that it does not know`,
    async (world) => {
      await world.type("claude");
      await world.shows(/NoSuchEvent/);
      await world.shows(/Enter to confirm/);
    },
    { cli, settings: { hooks: unknown }, isInstalled: false },
  );
}
