/** The plugin in a sandbox, as it lies in a checkout. */
import { join } from "node:path";
import { repo } from "../repo.ts";
import type { Sandbox } from "./sandbox.ts";

const checkout = "check out";

/** Place in the home → folder of this side. A path with a space: people have them. */
export const pluginFolders = {
  [`${checkout}/.claude-plugin`]: join(repo, ".claude-plugin"),
  [`${checkout}/hooks/claude-plugin`]: join(repo, "hooks/claude-plugin"),
};

/** For this session only. */
export const withPlugin = `--plugin-dir "$HOME/${checkout}/hooks/claude-plugin"`;

/** As a person does it. */
export async function installPlugin(sandbox: Sandbox): Promise<void> {
  const steps = [
    `claude plugin validate "$HOME/${checkout}/hooks/claude-plugin"`,
    `claude plugin marketplace add "$HOME/${checkout}"`,
    "claude plugin install beckon@beckon",
  ];
  for (const [n, step] of steps.entries()) {
    await sandbox.type(`${step}; echo step ${n} ended with $?`);
    await sandbox.shows(new RegExp(`^step ${n} ended with 0`, "m"));
  }
  await sandbox.type("clear");
}
