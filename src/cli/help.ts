/** `beckon --help` and `beckon --version`. */
import { version as currentVersion } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { defaultAgent } from "../agents/index.ts";
import { parseArguments } from "./args.ts";
import { print } from "./output.ts";

const createText = (
  table: readonly Agent[],
): string => `beckon alerts you the moment a coding agent needs you.

  beckon --install            connect ${joinNames(table)}, start beckon now and at login
      [--dry-run] [--scope user|project|local] [--agent NAME]
      [--login | --no-login]
  beckon --uninstall          undo it; --purge also removes beckon's data
      [--dry-run] [--purge] [--scope user|project|local] [--agent NAME]

  beckon start                run in the background
  beckon                      run in this terminal
  beckon stop                 quit, and stay off until you start it again

  beckon status               list every session and what it needs
      [--json] [--watch]
  beckon focus SESSION        go to the session's terminal
  beckon focus --next         go to the session that has waited longest
  beckon answer SESSION       show what it asks, and how to answer
  beckon answer SESSION allow | always [N] | deny [MESSAGE] | REPLY
      --ask ID                which ask, if there are several
      --yes                   do not ask for confirmation
      --                      send the rest as text
  beckon mute SESSION         no alerts from it, until --off
  beckon snooze SESSION [MINUTES]   no alerts from it for 15 minutes, or MINUTES
  beckon dismiss SESSION      put aside what it asks now
  beckon quiet hour | tomorrow | on | off   no alerts at all
  beckon log                  what was asked, answered and alerted
      [--json] [-n N]
  beckon doctor [--json]      test every part, and say how to fix it

  beckon hook AGENT           called by the agents' hooks
  beckon --version, --help

SESSION is a session's id, the start of it, or its project.

Environment:
  BECKON_HOME        one folder for all files (absolute; set it for agents too)
  BECKON_PORT        the port (4488; if it is in use, the next free one)
  BECKON_URL         where hooks send events (this machine only)
  BECKON_PROVIDER    the agent to assume if a hook names none (${defaultAgent})
  BECKON_DEBUG       if set, errors come with their stack
${table.flatMap(({ settingsVariables }) => settingsVariables.map(formatVariable)).join("")}`;

const joinNames = (table: readonly Agent[]): string =>
  new Intl.ListFormat("en-GB").format(table.map(({ name }) => name));

const formatVariable = ({ name, meaning }: Agent["settingsVariables"][number]): string =>
  `  ${name.padEnd(17)}  ${meaning}\n`;

export async function help(_args: string[], table: readonly Agent[]): Promise<number> {
  print(createText(table));
  return 0;
}

export async function version(args: string[]): Promise<number> {
  parseArguments(args, { command: "--version" });
  print(`beckon ${currentVersion}\n`);
  return 0;
}
