/** Finds the command that the user names, or the one that they may have meant. */
import { findClosest } from "../core/text/closest.ts";
import { quote, usageError } from "./args.ts";
import type { CommandGroups, ListedCommand } from "./command.ts";

export const findCommand = (name: string, commands: CommandGroups): ListedCommand | null =>
  commands.flat().find((command) => command.name === name || command.aliases?.includes(name)) ?? null;

/** Also finds `--install` by `install`: only the documented option changes the system, but reading about it is harmless. */
export const findPage = (name: string, commands: CommandGroups): ListedCommand | null => {
  const command = findCommand(name, commands) ?? findCommand(`--${name}`, commands);
  return command?.page ? command : null;
};

/** A shorter start would fit too many commands. */
const minStart = 3;

export function unknownCommand(typed: string, commands: CommandGroups): Error {
  const isOption = typed.startsWith("-");
  const known = commands
    .flat()
    .filter(({ page, name }) => page && (!isOption || name.startsWith("-")))
    .map(({ name }) => ({ name, word: isOption ? name : name.replace(/^-+/, "") }));
  const words = known.map(({ word }) => word);
  const begun = typed.length < minStart ? undefined : words.find((word) => word.startsWith(typed));
  const closest = begun ?? findClosest(typed, words);
  const replaced = Object.assign({}, ...commands.flat().map(({ suggestFor }) => suggestFor));
  const meant: string | undefined = Object.hasOwn(replaced, typed)
    ? replaced[typed]
    : known.find(({ word }) => word === closest)?.name;
  const text = `unknown ${isOption ? "option" : "command"} ${quote(typed)}`;
  return usageError(meant === undefined ? text : `${text}: did you mean ${meant}?`);
}
