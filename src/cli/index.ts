/**
 * The command line: one command per file, and its definition in commands/. `beckon hook` does not come here, because it must start
 * without the list of commands. Commands print through output.ts, read their arguments with args.ts and talk to the running beckon
 * with client.ts.
 */

import type { Agent } from "../agents/agent.ts";
import { agents } from "../agents/index.ts";

/** Returns the exit code: 0, 1 if the command failed, 2 for a usage error. Never throws. */
export async function main(argv: string[], table: readonly Agent[] = agents): Promise<number> {
  const end = argv.indexOf("--");
  const isDebug = argv.some((arg, n) => arg === "--debug" && (end < 0 || n < end));
  const args = argv.filter((arg, n) => arg !== "--debug" || (end >= 0 && n > end));
  try {
    return await runCommand(args, table);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { exitCode = 1, isUsage = false } = error as { exitCode?: number; isUsage?: boolean };
    const hasStack = exitCode === 1 && (isDebug || process.env.BECKON_DEBUG);
    const { formatLine } = await import("./output.ts");
    const more = isUsage ? ` See ${await findHelp(args[0])}.` : "";
    const lines = `${hasStack ? error.stack : error.message}${more}`.split("\n");
    // The names and contents of files in the message can be anything.
    const text = lines.map(formatLine).join("\n");
    process.stderr.write(text.startsWith("beckon ") ? `${text}\n` : `beckon: ${text}\n`);
    return exitCode;
  }
}

async function runCommand([first = "run", ...args]: string[], table: readonly Agent[]): Promise<number> {
  const end = args.indexOf("--");
  const isHelpWanted = (end < 0 ? args : args.slice(0, end)).some(isHelpOption);
  // The app keeps what it has loaded for as long as it runs: it does without the list of commands.
  if (first === "run" && !isHelpWanted) {
    checkHome(process.env.BECKON_HOME);
    return (await import("./run.ts")).run(args, table);
  }
  const { commandGroups, findCommand, unknownCommand, helpCommand } = await loadCommands();
  const command = findCommand(first, commandGroups);
  if (isHelpWanted && command?.name !== helpCommand.name)
    return (await import("./help.ts")).help([first], table, commandGroups);
  if (!command?.load) throw unknownCommand(first, commandGroups);
  if (!command.needsNoHome) checkHome(process.env.BECKON_HOME);
  return (await command.load())(args, table, commandGroups);
}

const loadCommands = async () => ({
  ...(await import("./commands/index.ts")),
  ...(await import("./find-command.ts")),
  ...(await import("./commands/help.ts")),
});

const isHelpOption = (arg: string): boolean => arg === "--help" || arg === "-h";

/** The command that prints how to call this one. */
async function findHelp(typed: string | undefined): Promise<string> {
  const { commandGroups, findPage, helpCommand } = await loadCommands();
  const name = typed === undefined ? undefined : findPage(typed, commandGroups)?.name;
  if (name === undefined || name === helpCommand.name) return "beckon --help";
  return `beckon help ${name.replace(/^-+/, "")}`;
}

/** The app and the hooks run in other folders than this command, so a relative path would mean other places there. */
function checkHome(home: string | undefined): void {
  if (!home || process.getBuiltinModule("node:path").isAbsolute(home)) return;
  const text = `BECKON_HOME must be an absolute path, but is ${JSON.stringify(home.slice(0, 200))}`;
  throw Object.assign(new Error(text), { exitCode: 2 });
}
