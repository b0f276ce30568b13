/** Old CLIs refuse a settings file with one unknown event name, so the installer writes only names they know. */
import { expect } from "bun:test";
import { oldVersions } from "../agent/cli.ts";
import { waitFor } from "../agent/sandbox.ts";
import { createCliTests, dialog } from "../agent/scenario.ts";

const { testWithoutErrors, testDriven } = createCliTests(...oldVersions);
const unknownEvent = { NoSuchEvent: [{ hooks: [{ type: "command", command: "true" }] }] };

for (const cli of oldVersions) {
  testWithoutErrors(
    `CLI ${cli} starts with the installed hooks without a dialog, and its events arrive`,
    async (sandbox) => {
      await sandbox.beckon.start();
      await sandbox.startCli();
      await sandbox.typeLine("DO bash touch x");
      await sandbox.waitForState("active", "waiting_permission");
      await sandbox.acceptDialog(dialog.permission);
      await sandbox.waitForState("active", "interactable");
      expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ turnCount: 1, asks: [] }]);
    },
    { cli },
  );

  testDriven(
    `the last response of CLI ${cli} is that of its last turn`,
    async (sandbox) => {
      await sandbox.beckon.start();
      await sandbox.startCli();
      for (const said of ["First answer", "Second answer"]) {
        await sandbox.typeLine(`SAY ${said}`);
        await waitFor(
          `${said} in beckon status`,
          () => sandbox.recorder.shown.at(-1)?.sessions[0]?.lastResponse === said,
        );
      }
    },
    { cli },
  );

  testDriven(
    `CLI ${cli} asks what to do about an event name it does not know`,
    async (sandbox) => {
      await sandbox.typeLine("claude");
      await sandbox.waitForScreen(/NoSuchEvent/);
      await sandbox.waitForScreen(/Enter to confirm/);
    },
    { cli, settings: { hooks: unknownEvent }, isInstalled: false },
  );
}
