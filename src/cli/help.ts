import { agents, defaultAgent } from "../agents/index.ts";
import { print } from "./output.ts";

const text = `beckon tells you the moment a coding agent needs you.

  beckon --install [--dry-run] [--scope user|project|local] [--agent NAME] [--login | --no-login]
                                      connect ${new Intl.ListFormat("en-GB").format(agents.map(({ name }) => name))}, and start beckon at login
  beckon --uninstall [--dry-run] [--purge]
                                      take all of it away, with --purge also what beckon knows
  beckon start                        start it in the background
  beckon                              start it here, and run until stopped
  beckon status [--json] [--watch]    every session and what it needs
  beckon focus SESSION | --next       go to its terminal, or to the one that has waited longest
  beckon answer SESSION               all of what it asks, and how to answer
  beckon answer SESSION allow         say yes to what it asks; also: always [N], deny [MESSAGE],
                                      or the answer to its question (-- before your own words).
                                      --ask ID: which ask; --yes: without a further question
  beckon log [--json] [-n N]          what was asked, answered, shown and why not shown
  beckon doctor [--json]              try every link with a test event, and say what to do
  beckon stop                         quit it, and keep sessions from starting it again
  beckon hook [AGENT]                 what the agents' hooks call; you never need to
  beckon --version, --help

Environment:
  BECKON_HOME        all of beckon's files in one folder (absolute; set it for the agents too)
  BECKON_PORT        the port (4488; if it is in use, the next free one)
  BECKON_URL         where hooks are sent instead (this machine only)
  BECKON_PROVIDER    the agent to assume when a hook names none (${defaultAgent})
  BECKON_DEBUG       set: errors with their stack
${agents
  .flatMap(({ settingsVariables }) => settingsVariables)
  .map(({ name, meaning }) => `  ${name.padEnd(17)}  ${meaning}\n`)
  .join("")}`;

export async function help(): Promise<number> {
  print(text);
  return 0;
}
