/** Whatever happens to beckon, the person's own terminal never shows an error of its hooks. */
import { expect } from "bun:test";
import { cliVersion, oldVersions } from "./cli.ts";
import { folderGone, mishaps, surviving } from "./mishap.ts";
import { scenariosWithCli } from "./scenario.ts";

const [oldest] = oldVersions;
const { driven } = scenariosWithCli(cliVersion, oldest);

// The oldest CLI has no async hooks, so it shows every hook that fails. The newest runs most of them without a shell.
for (const cli of [oldest, cliVersion]) {
  for (const mishap of mishaps) {
    const title = `no hook error on the screen of CLI ${cli}: ${mishap.title}`;
    driven(title, surviving(mishap), { cli, isInstalled: false });
  }
}
driven(`no hook error on the screen: ${folderGone.title}`, surviving(folderGone), { isInstalled: false });

const hook = (command: string) => [{ hooks: [{ type: "command", command }] }];
const failing = {
  SessionStart: hook("exit 1"),
  UserPromptSubmit: hook("/no/such/program"),
  PreToolUse: hook("exit 1"),
  PostToolUse: hook("/no/such/program"),
  Stop: hook("exit 1"),
  SessionEnd: hook("/no/such/program"),
};

for (const cli of [cliVersion, oldest]) {
  driven(
    `hooks that fail or are missing would be seen on the screen of CLI ${cli}`,
    async (sandbox) => {
      await sandbox.startCli("--permission-mode default; echo left");
      await sandbox.type("DO bash true");
      await sandbox.shows(/Stop hook error/);
      await sandbox.type("/exit");
      await sandbox.shows(/^left/m);
      const errors = (await sandbox.hookErrors()).join("\n");
      for (const event of Object.keys(failing))
        expect(errors).toMatch(new RegExp(`^\\W*${event}\\b.*hook`, "m"));
    },
    { cli, settings: { hooks: failing }, isInstalled: false },
  );
}
