/** CLIs that refuse a settings file for one name they do not know: the installer writes only what they know. */
import { expect } from "bun:test";
import { oldVersions } from "./cli.ts";
import { dialog, scenariosWithCli } from "./scenario.ts";

const { undisturbed, driven } = scenariosWithCli(...oldVersions);
const unknown = { NoSuchEvent: [{ hooks: [{ type: "command", command: "true" }] }] };

for (const cli of oldVersions) {
  undisturbed(
    `CLI ${cli} starts with the installed hooks without a dialog, and its events arrive`,
    async (sandbox) => {
      await sandbox.beckon.start();
      await sandbox.startCli();
      await sandbox.type("DO bash touch x");
      await sandbox.showsState("active", "waiting_permission");
      await sandbox.accepts(dialog.permission);
      await sandbox.showsState("active", "interactable");
      expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ turnCount: 1, asks: [] }]);
    },
    { cli },
  );

  driven(
    `CLI ${cli} would ask what to do about a name that it does not know`,
    async (sandbox) => {
      await sandbox.type("claude");
      await sandbox.shows(/NoSuchEvent/);
      await sandbox.shows(/Enter to confirm/);
    },
    { cli, settings: { hooks: unknown }, isInstalled: false },
  );
}
