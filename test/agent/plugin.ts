/** The plugin in a sandbox, at the paths of a checkout. */
import { join } from "node:path";
import { repo } from "../repo.ts";
import type { Sandbox } from "./sandbox.ts";

const checkout = "check out";

/** Path in the home to folder outside. The path has a space, as users' paths can. */
export const pluginFolders = {
  [`${checkout}/.claude-plugin`]: join(repo, ".claude-plugin"),
  [`${checkout}/hooks/claude-plugin`]: join(repo, "hooks/claude-plugin"),
};

/** Loads the plugin for one session. */
export const pluginFlag = `--plugin-dir "$HOME/${checkout}/hooks/claude-plugin"`;

/** Installs the plugin with the commands that a user types. */
export async function installPlugin(sandbox: Sandbox): Promise<void> {
  const steps = [
    `claude plugin validate "$HOME/${checkout}/hooks/claude-plugin"`,
    `claude plugin marketplace add "$HOME/${checkout}"`,
    "claude plugin install beckon@beckon",
  ];
  for (const [n, step] of steps.entries()) {
    await sandbox.typeLine(`${step}; echo step ${n} ended with $?`);
    await sandbox.waitForScreen(new RegExp(`^step ${n} ended with 0`, "m"));
  }
  await sandbox.typeLine("clear");
}
