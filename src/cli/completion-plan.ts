/** What can stand at the end of a command line, as far as the definitions of the commands say it. Pure. */
import {
  type Callable,
  type CommandGroups,
  namesOf,
  type Option,
  shownOptions,
  type Text,
  type Values,
} from "./command.ts";
import { findCommand } from "./find-command.ts";

/** A word, and what it means. */
export type OfferedWord = readonly [word: string, about: Text];

export interface CompletionPlan {
  /** The start of the word. */
  readonly typed: string;
  /** What stands before it in the same word: `--scope=`. */
  readonly inline: string;
  readonly choices: readonly OfferedWord[];
  /** null if only the choices fit. */
  readonly values: Values | null;
}

/** `words` are those after `beckon`. The last one is being typed, and can be empty. */
export function planCompletion(words: readonly string[], commands: CommandGroups): CompletionPlan {
  const all = joinWords(words);
  const typed = all.at(-1) ?? "";
  const [name, ...args] = all.slice(0, -1);
  const nothing: CompletionPlan = { typed, inline: "", choices: [], values: null };
  if (name === undefined) return { ...nothing, choices: listCommands(commands, typed.startsWith("-")) };
  const command = findCommand(name, commands);
  if (!command?.subcommands) return command ? planCallable(args, typed, command) : nothing;
  const { subcommands, defaultSubcommand } = command;
  const index = args.findIndex((arg) => !arg.startsWith("-"));
  const word = args[index] ?? (typed.startsWith("-") ? defaultSubcommand : undefined);
  if (word === undefined)
    return { ...nothing, choices: Object.entries(subcommands).map(([one, { about }]) => [one, about]) };
  const subcommand = Object.hasOwn(subcommands, word) ? subcommands[word] : undefined;
  if (!subcommand) return nothing;
  const own = args.filter((_, n) => n !== index);
  return planCallable(own, typed, subcommand);
}

/** bash splits `--scope=user` into three words. */
function joinWords(words: readonly string[]): string[] {
  const joined = words.filter((word) => word !== "=");
  return words.at(-1) === "=" ? [...joined, ""] : joined;
}

/** `start` and `help`, or `--install` and `--help` if the user has begun an option. */
function listCommands(commands: CommandGroups, areOptions: boolean): readonly OfferedWord[] {
  return commands.flat().flatMap(({ name, aliases = [], page, load }) => {
    const about = page?.overview[0]?.[1];
    if (about === undefined || !load) return [];
    const isShown = (word: string) => word.startsWith("-") === areOptions && !/^-.$/.test(word);
    return [name, ...aliases].filter(isShown).map((word): OfferedWord => [word, about]);
  });
}

function planCallable(args: readonly string[], typed: string, callable: Callable): CompletionPlan {
  const nothing: CompletionPlan = { typed, inline: "", choices: [], values: null };
  const findOption = (name: string): Option | undefined =>
    shownOptions(callable).find(([known]) => known === name)?.[1];
  const before = readWords(args, findOption);
  if (before.option) return { ...nothing, values: before.option.values ?? null };
  const [, start, name = "", value = ""] = /^((--[a-z-]+)=)(.*)$/s.exec(typed) ?? [];
  if (start !== undefined && !before.isLiteral)
    return { ...nothing, typed: value, inline: start, values: findOption(name)?.values ?? null };
  const options = listOptions(callable).filter(([word]) => !before.used.has(word));
  if (typed.startsWith("-")) return before.isLiteral ? nothing : { ...nothing, choices: options };
  if (before.list) return { ...nothing, values: before.list.values ?? null };
  if (!callable.arguments) return { ...nothing, choices: options };
  const last = callable.arguments.at(-1);
  const argument = callable.arguments[before.count] ?? (last?.isRepeated ? last : undefined);
  return { ...nothing, values: argument?.values ?? null };
}

const listOptions = (callable: Callable): OfferedWord[] => [
  ...shownOptions(callable).flatMap(([name, option]) =>
    namesOf(name, option).map((word): OfferedWord => [word, option.about]),
  ),
  ["--help", "options and examples"],
];

interface WordsBefore {
  /** The option whose value is being typed. */
  readonly option: Option | null;
  /** The option whose list is being typed. */
  readonly list: Option | null;
  /** How many arguments there are that are not options. */
  readonly count: number;
  /** Options that are given already, and take no list. */
  readonly used: ReadonlySet<string>;
  /** Behind `--`. */
  readonly isLiteral: boolean;
}

function readWords(args: readonly string[], findOption: (name: string) => Option | undefined): WordsBefore {
  const used = new Set<string>();
  let option: Option | null = null;
  let list: Option | null = null;
  let count = 0;
  let isLiteral = false;
  for (const arg of args) {
    if (option) option = null;
    else if (isLiteral || !/^-./.test(arg)) {
      if (!list) count++;
    } else {
      list = null;
      isLiteral = arg === "--";
      const name = arg.replace(/=.*/s, "");
      const known = findOption(name);
      if (!known?.isList) used.add(name);
      if (known?.value === undefined || arg !== name) continue;
      if (known.isList) list = known;
      else option = known;
    }
  }
  return { option, list, count, used, isLiteral };
}
