/** `beckon help`, `beckon help COMMAND` and `beckon --version`. */
import { version as currentVersion } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { defaultAgent } from "../agents/index.ts";
import { parseArguments, usageError } from "./args.ts";
import {
  type CommandDefinition,
  type CommandGroups,
  formatOption,
  type HelpPage,
  type HelpRow,
  resolveText,
  shownOptions,
  usageOf,
} from "./command.ts";
import { versionCommand } from "./commands/help.ts";
import { findPage, unknownCommand } from "./find-command.ts";
import { print, wrapText } from "./output.ts";

/** Prints the page of a command, or the overview if none is named. */
export async function help(
  args: readonly string[],
  table: readonly Agent[],
  commands: CommandGroups,
): Promise<number> {
  const [name, ...others] = args.filter((arg) => !["--help", "-h"].includes(arg));
  if (others.length > 0) throw usageError("help takes one command");
  if (name === undefined) {
    print(formatOverview(commands, table));
    return 0;
  }
  const command = findPage(name, commands);
  if (!command?.page) throw unknownCommand(name, commands);
  print(formatPage(command, command.page, table));
  return 0;
}

const maxColumns = 80;

type Row = readonly [text: string, about: string];

const widest = (rows: readonly Row[]): number =>
  Math.max(0, ...rows.filter(([, about]) => about !== "").map(([text]) => text.length));

const formatRows = (rows: readonly Row[], width = widest(rows)): string[] =>
  rows.flatMap(([text, about]) => {
    const [first = "", ...more] = wrapText(about, maxColumns - width - 4, Number.POSITIVE_INFINITY);
    const below = more.map((line) => " ".repeat(width + 4) + line);
    return [`  ${text.padEnd(width)}  ${first}`.trimEnd(), ...below];
  });

const resolveRows = (rows: readonly HelpRow[], table: readonly Agent[]): readonly Row[] =>
  rows.map(([text, about]) => [resolveText(text, table), resolveText(about, table)]);

function formatPage(
  command: CommandDefinition,
  { summary, rest, examples }: HelpPage,
  table: readonly Agent[],
): string {
  const options = [
    ...shownOptions(command).map(([name, option]): HelpRow => [formatOption(name, option), option.about]),
    ...(rest === undefined ? [] : [["--", rest] as const]),
  ];
  const parts = [
    wrapText(resolveText(summary, table), maxColumns, Number.POSITIVE_INFINITY),
    ["Usage:", ...usageOf(command).map((text) => `  ${text}`)],
    ...(options.length > 0 ? [["Options:", ...formatRows(resolveRows(options, table))]] : []),
    ["Examples:", ...formatRows(resolveRows(examples, table))],
  ];
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function formatOverview(groups: CommandGroups, table: readonly Agent[]): string {
  const rows = groups.map((commands) =>
    resolveRows(
      commands.flatMap(({ page }) => page?.overview ?? []),
      table,
    ),
  );
  const width = widest(rows.flat());
  return `beckon alerts you the moment a coding agent needs you.

${rows.map((group) => formatRows(group, width).join("\n")).join("\n\n")}

SESSION is a session's id, its first 4 characters or more, or its project.

Environment:
${formatRows([
  ["BECKON_HOME", "one folder for all files; set it for agents too"],
  ["BECKON_PORT", "the TCP port (4488; if it is in use, the next free one)"],
  ["BECKON_URL", "where hooks send events (this machine only)"],
  ["BECKON_PROVIDER", `the agent to assume if a hook names none (${defaultAgent})`],
  ["BECKON_DEBUG", "if set, errors come with their stack"],
  ...table.flatMap(({ settingsVariables }) =>
    settingsVariables.map(({ name, meaning }): Row => [name, meaning]),
  ),
]).join("\n")}
`;
}

export async function version(args: string[]): Promise<number> {
  parseArguments(args, versionCommand);
  print(`beckon ${currentVersion}\n`);
  return 0;
}
