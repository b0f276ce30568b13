/** `beckon --install` and `beckon --uninstall`. */

import { type Agent, scopes } from "../../agents/agent.ts";
import { formatList } from "../../core/text/words.ts";
import { defineCommand, type OptionTable } from "../command.ts";
import { dryRun } from "./common.ts";

const formatNames = (agents: readonly Agent[]): string => formatList(agents.map(({ name }) => name));

const describeAgents = (agents: readonly Agent[]): string =>
  `only these agents: ${agents.map(({ id }) => id).join(", ")}`;

/** Which agents, and which of their settings. */
export const whose = {
  "--scope": { value: scopes.join("|"), values: scopes, about: "which of the agent's settings files" },
  "--agent": { value: "NAME", values: "agents", isList: true, about: describeAgents },
} as const satisfies OptionTable;

export const installCommand = defineCommand({
  name: "--install",
  suggestFor: { setup: "--install" },
  options: {
    "--dry-run": dryRun,
    "--diff": { about: "with --dry-run: every line that would change" },
    "--login": { isNegatable: true, about: "start beckon at login, or not" },
    "--placed": { isInternal: true, about: "this program was put here for the install" },
    "--statusline": { isNegatable: true, about: "read along in the agent's status line, or not" },
    "--no-start": { isInternal: true, about: "leave login item and app as they are" },
    ...whose,
  },
  page: {
    overview: [
      ["beckon --install", (agents) => `connect ${formatNames(agents)}, start beckon now and at login`],
    ],
    summary: (agents) =>
      `Connects ${formatNames(agents)}, starts beckon, and starts it at every login. Keeps a backup of every settings file that it changes.`,
    examples: [
      ["beckon --install --dry-run", "shows what it would do"],
      ["beckon --install --scope project", "hooks for the project in this folder only"],
    ],
  },
});

export const uninstallCommand = defineCommand({
  name: "--uninstall",
  options: {
    "--purge": { about: "also remove your settings and what beckon stored" },
    "--dry-run": dryRun,
    ...whose,
  },
  page: {
    overview: [["beckon --uninstall", "undo it; --purge also removes beckon's data"]],
    summary: "Removes the hooks, the login item and the binary.",
    examples: [
      ["beckon --uninstall --dry-run", "shows what would be removed"],
      [
        ([first]) => `beckon --uninstall --agent ${first?.id ?? "NAME"}`,
        "removes the hooks of one agent only",
      ],
    ],
  },
});
