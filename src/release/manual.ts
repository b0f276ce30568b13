/** The manual page, from the definitions of the commands. Pure. */
import type { Agent } from "../agents/agent.ts";
import {
  type CommandGroups,
  formatOption,
  type HelpRow,
  type ListedCommand,
  resolveText,
  shownOptions,
  usageOf,
} from "../cli/command.ts";

export interface ManualOptions {
  readonly commands: CommandGroups;
  readonly agents: readonly Agent[];
  readonly version: string;
  /** Of the commit. */
  readonly date: Date;
}

/** Backslashes and dashes mean something to roff everywhere, dots and quotes at the start of a line. */
const escapeRoff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");

export function formatManual({ commands, agents, version, date }: ManualOptions): string {
  const row = ([text, about]: HelpRow): string[] => [
    ".TP",
    `.B ${escapeRoff(resolveText(text, agents))}`,
    escapeRoff(resolveText(about, agents)),
  ];
  const describe = (command: ListedCommand): string[] => {
    const { page } = command;
    if (!page) return [];
    const options = shownOptions(command);
    return [
      `.SS "${escapeRoff(usageOf(command)[0] ?? "")}"`,
      ...usageOf(command)
        .slice(1)
        .flatMap((usage) => [`.B ${escapeRoff(usage)}`, ".br"]),
      escapeRoff(resolveText(page.summary, agents)),
      ...options.flatMap(([name, option]) => row([formatOption(name, option), option.about])),
      ...page.examples.flatMap(([text, about]) => row([text, about])),
    ];
  };
  const day = date.toISOString().slice(0, 10);
  return `${[
    `.TH BECKON 1 "${day}" "beckon ${version}" "User Commands"`,
    ".SH NAME",
    "beckon \\- know which coding agent needs you",
    ".SH SYNOPSIS",
    ".B beckon",
    "[COMMAND] [OPTIONS]",
    ".SH DESCRIPTION",
    "beckon follows your coding agents through their own hooks, and alerts you the moment one is blocked on you.",
    ".SH COMMANDS",
    ...commands.flat().flatMap(describe),
    ".SH FILES",
    ".B beckon doctor",
    "lists the files that beckon uses.",
  ].join("\n")}\n`;
}
