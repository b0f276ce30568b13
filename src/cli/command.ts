/**
 * What a command is: one definition each, in commands/. From it follow how its arguments are read, its page of `beckon help`, its
 * usage errors, the suggestions for typos and the completions in shells. A definition is light; the command itself loads when it
 * runs.
 */
import type { Agent } from "../agents/agent.ts";

/** A text that can name the agents. */
export type Text = string | ((agents: readonly Agent[]) => string);

/** What to type, and what it does. */
export type HelpRow = readonly [text: Text, about: Text];

/** What a completion offers: these words, or what there is on this machine. */
export type Values =
  | readonly string[]
  | "agents"
  | "channels"
  | "commands"
  | "folders"
  | "machines"
  | "ports"
  | "projects"
  | "sessions"
  | "settings";

export interface Option {
  readonly about: Text;
  /** What its value is called: `ID` in `--ask ID`. Absent if it takes none. */
  readonly value?: string;
  readonly values?: Values;
  /** It takes every value up to the next option: `--agent claude codex`. */
  readonly isList?: true;
  /** `--login` has `--no-login`. */
  readonly isNegatable?: true;
  /** Only beckon itself uses it, so users do not see it. */
  readonly isInternal?: true;
}

export type OptionTable = Readonly<Record<string, Option>>;

export interface Argument {
  /** As in the usage: `SESSION`. */
  readonly name: string;
  readonly isOptional?: true;
  /** Further arguments mean the same. */
  readonly isRepeated?: true;
  readonly values?: Values;
}

/** What can be called, with its arguments and options: a command or a subcommand. */
export interface Callable<Options extends OptionTable = OptionTable> {
  /** As the user types it: `status`, `--install`, `port create`. */
  readonly name: string;
  /** Without any, every argument that is not an option is an error. */
  readonly arguments?: readonly Argument[];
  readonly options?: Options;
  /** A sentence to add where an option is not known. */
  readonly hint?: string;
  /** If it is more than the arguments and then the options. */
  readonly usage?: readonly string[];
}

/** `port create` */
export interface Subcommand<Options extends OptionTable = OptionTable> extends Callable<Options> {
  readonly about: string;
}

/** What `beckon help` says about a command. */
export interface HelpPage {
  /** Its lines in the list of all commands. The first one also describes it in completions. */
  readonly overview: readonly HelpRow[];
  /** A sentence or two: the first lines of the page. */
  readonly summary: Text;
  /** What follows `--`, if the command treats it in another way. */
  readonly rest?: string;
  readonly examples: readonly HelpRow[];
}

export interface CommandDefinition<Options extends OptionTable = OptionTable, Word extends string = string>
  extends Callable<Options> {
  /** Other names that run it. */
  readonly aliases?: readonly string[];
  /** What people type who mean it, and what to type instead. */
  readonly suggestFor?: Readonly<Record<string, string>>;
  /** Absent if users never type the command. */
  readonly page?: HelpPage;
  /** By the word that names each: `create` for `port create`. The command's own options are then those of its page. */
  readonly subcommands?: Readonly<Record<Word, Subcommand>>;
  /** The subcommand to run if none is named. */
  readonly defaultSubcommand?: NoInfer<Word>;
  /** It uses no files of beckon's, so it runs whatever BECKON_HOME is. */
  readonly needsNoHome?: true;
}

/** Keeps the names of the options and subcommands in the type, so that the compiler knows them where they are used. */
export const defineCommand = <
  const Options extends OptionTable = Record<never, never>,
  Word extends string = never,
>(
  command: CommandDefinition<Options, Word>,
): CommandDefinition<Options, Word> => command;

export const defineSubcommand = <const Options extends OptionTable = Record<never, never>>(
  subcommand: Subcommand<Options>,
): Subcommand<Options> => subcommand;

/** Resolves with the exit code. `commands` is for the few that are about commands. */
export type RunCommand = (
  args: string[],
  agents: readonly Agent[],
  commands: CommandGroups,
) => Promise<number>;

export interface ListedCommand extends CommandDefinition {
  /** Absent for the hook, which main.ts runs without the list of commands. */
  readonly load?: () => Promise<RunCommand>;
}

/** In groups, as `beckon help` lists them. */
export type CommandGroups = readonly (readonly ListedCommand[])[];

export const resolveText = (text: Text, agents: readonly Agent[]): string =>
  typeof text === "string" ? text : text(agents);

/** `--login` and `--no-login` */
export const namesOf = (name: string, { isNegatable }: Option): readonly string[] =>
  isNegatable ? [name, name.replace(/^--/, "--no-")] : [name];

/** As users see it: `--ask ID`, `--agent NAME…`, `--login, --no-login`. */
export function formatOption(name: string, option: Option): string {
  if (option.value === undefined) return namesOf(name, option).join(", ");
  return `${name} ${option.value}${option.isList ? "…" : ""}`;
}

export const shownOptions = ({ options = {} }: Pick<Callable, "options">): readonly [string, Option][] =>
  Object.entries(options).filter(([, { isInternal }]) => !isInternal);

const maxOptionsInUsage = 3;

/** How to call it, one line for each form. */
export function usageOf(command: CommandDefinition): readonly string[] {
  if (command.usage) return command.usage;
  if (command.subcommands) return Object.values(command.subcommands).flatMap(usageOf);
  const given = (command.arguments ?? []).map(({ name, isOptional }) => (isOptional ? `[${name}]` : name));
  const options = shownOptions(command).map(([name, option]) => `[${formatOption(name, option)}]`);
  const shown = options.length > maxOptionsInUsage ? ["[OPTIONS]"] : options;
  return [["beckon", command.name, ...given, ...shown].join(" ")];
}
