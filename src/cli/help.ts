/** `beckon help`, `beckon help COMMAND` and `beckon --version`. */
import { version as currentVersion } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { defaultAgent } from "../agents/index.ts";
import { parseArguments } from "./args.ts";
import { createPages, type HelpPage, type HelpRow } from "./help-pages.ts";
import { print, wrapText } from "./output.ts";

/** Prints the page of a command, or the overview if it is null. Returns false if there is no such page. */
export function printHelp(command: string | null, table: readonly Agent[]): boolean {
  const groups = createPages(table);
  const page = groups.flat().find((known) => known.command === command);
  if (page) print(formatPage(page));
  else if (command === null) print(formatOverview(groups, table));
  return command === null || page !== undefined;
}

const maxColumns = 80;

const widest = (rows: readonly HelpRow[]): number =>
  Math.max(0, ...rows.filter(([, about]) => about !== "").map(([text]) => text.length));

const formatRows = (rows: readonly HelpRow[], width = widest(rows)): string[] =>
  rows.flatMap(([text, about]) => {
    const [first = "", ...more] = wrapText(about, maxColumns - width - 4, Number.POSITIVE_INFINITY);
    const below = more.map((line) => " ".repeat(width + 4) + line);
    return [`  ${text.padEnd(width)}  ${first}`.trimEnd(), ...below];
  });

function formatPage({ summary, usage, options = [], examples }: HelpPage): string {
  const parts = [
    wrapText(summary, maxColumns, Number.POSITIVE_INFINITY),
    ["Usage:", ...usage.map((text) => `  ${text}`)],
    ...(options.length > 0 ? [["Options:", ...formatRows(options)]] : []),
    ["Examples:", ...formatRows(examples)],
  ];
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function formatOverview(groups: readonly (readonly HelpPage[])[], table: readonly Agent[]): string {
  const rows = groups.map((pages) => pages.flatMap(({ overview }) => overview));
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
    settingsVariables.map(({ name, meaning }): HelpRow => [name, meaning]),
  ),
]).join("\n")}
`;
}

export async function version(args: string[]): Promise<number> {
  parseArguments(args, { command: "--version" });
  print(`beckon ${currentVersion}\n`);
  return 0;
}
