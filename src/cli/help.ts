import { print } from "./print.ts";

const text = `beckon tells you the moment a coding agent needs you.

  beckon                              run: hear every hook, know every session
  beckon status [--json] [--watch]    every session and what it needs
  beckon hook [AGENT]                 what the agents' hooks call (reads the event on stdin)
  beckon --version                    the version
  beckon --help                       this

Environment:
  BECKON_HOME        all of beckon's files in one folder
  BECKON_PORT        the port to listen on (4488; where it is taken, the next free one)
  BECKON_URL         where hooks are sent (loopback only)
  BECKON_PROVIDER    whose events these are when they do not say (claude)
  CLAUDE_CONFIG_DIR  Claude Code's own folder (~/.claude)
`;

export async function help(): Promise<number> {
  print(text);
  return 0;
}
