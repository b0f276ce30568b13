/** No fault of beckon makes the user's terminal show an error of its hooks. */
import { expect } from "bun:test";
import { cliVersion, oldVersions } from "./cli.ts";
import { faults, surviveFault } from "./faults.ts";
import { createCliTests } from "./scenario.ts";

const [oldest] = oldVersions;
const { testDriven } = createCliTests(cliVersion, oldest);

// The oldest CLI has no async hooks and shows every hook that fails. Rarer faults, and the newest CLI, are in test/long.
for (const fault of faults.slice(0, 2)) {
  const title = `no hook error on the screen of CLI ${oldest}: ${fault.title}`;
  testDriven(title, surviveFault(fault), { cli: oldest, isInstalled: false });
}

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
  testDriven(
    `CLI ${cli} shows hooks that fail or are missing on the screen`,
    async (sandbox) => {
      await sandbox.startCli("--permission-mode default; echo left");
      await sandbox.typeLine("DO bash true");
      await sandbox.waitForScreen(/Stop hook (?:error|failed)/);
      await sandbox.typeLine("/exit");
      await sandbox.waitForScreen(/^left/m);
      const errors = (await sandbox.readHookErrors()).join("\n");
      for (const event of Object.keys(failing))
        expect(errors).toMatch(new RegExp(`^\\W*${event}\\b.*hook`, "m"));
    },
    { cli, settings: { hooks: failing }, isInstalled: false },
  );
}
