/** Reads the arguments of a command. Every error names the argument that is wrong and what the command takes. */
import { parseArgs } from "node:util";
import { findClosest } from "../core/text/closest.ts";
import { formatList } from "../core/text/words.ts";
import { type Callable, type CommandDefinition, namesOf, type OptionTable, shownOptions } from "./command.ts";

/** A call that makes no sense: exit code 2. A call that failed has exit code 1. `main` adds where to read more. */
export function usageError(text: string): Error {
  const sentence = /[.?]$/.test(text) ? text : `${text}.`;
  return Object.assign(new Error(sentence), { exitCode: 2, isUsage: true });
}

type FlagName<Options extends OptionTable> = {
  [Name in keyof Options & string]: Options[Name] extends { readonly value: string }
    ? never
    : Options[Name] extends { readonly isNegatable: true }
      ? Name | (Name extends `--${infer Rest}` ? `--no-${Rest}` : never)
      : Name;
}[keyof Options & string];

type OptionValues<Options extends OptionTable> = {
  [Name in keyof Options as Options[Name] extends { readonly value: string }
    ? Name
    : never]?: Options[Name] extends { readonly isList: true } ? string[] : string;
};

export interface ParsedArguments<Options extends OptionTable> {
  /** The options without a value. */
  readonly flags: ReadonlySet<FlagName<Options>>;
  /** The options with one. A list can be empty. */
  readonly values: Readonly<OptionValues<Options>>;
  readonly rest: readonly string[];
  /** Index in `rest` of the first argument after `--`; Infinity without `--`. */
  readonly literalFrom: number;
}

export function parseArguments<Options extends OptionTable>(
  args: readonly string[],
  command: Callable<Options>,
): ParsedArguments<Options> {
  const options: OptionTable = command.options ?? {};
  const flagNames = Object.entries(options).flatMap(([name, option]) =>
    option.value === undefined ? namesOf(name, option) : [],
  );
  const flags = new Set<string>();
  const values: Record<string, string | string[]> = {};
  const rest: string[] = [];
  let literalFrom = Number.POSITIVE_INFINITY;
  /** The list that the arguments up to the next option belong to. */
  let list: string[] | null = null;
  for (const token of tokenize(args, options)) {
    const arg = args[token.index] ?? "";
    if (token.kind === "positional") {
      const isLiteral = Number.isFinite(literalFrom);
      if (!isLiteral && longDash.test(arg)) throw usageError(unknownOption(arg, command));
      if (list) list.push(...splitList(arg));
      else if (command.arguments) rest.push(arg);
      else throw usageError(`${command.name} takes no arguments, but got ${quote(arg)}`);
      continue;
    }
    list = null;
    if (token.kind === "option-terminator") {
      if (!command.arguments) throw usageError(unknownOption(arg, command));
      literalFrom = rest.length;
      continue;
    }
    const name = token.rawName;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (flagNames.includes(name)) {
      if (token.inlineValue) throw usageError(`${name} takes no value, but got ${quote(arg)}`);
      flags.add(name);
    } else if (option?.isList) {
      const known = [values[name] ?? []].flat();
      values[name] = known;
      if (token.inlineValue) known.push(...splitList(String(token.value)));
      else list = known;
    } else if (option) {
      values[name] = readValue(name, option.value ?? "", token);
    } else {
      throw usageError(unknownOption(arg, command));
    }
  }
  // The loop has only added names from the definition.
  return { flags, values, rest, literalFrom } as unknown as ParsedArguments<Options>;
}

/** Which subcommand the first argument names, and the arguments that are left for it. */
export function readSubcommand<Name extends string>(
  args: readonly string[],
  { name, subcommands, defaultSubcommand }: CommandDefinition<OptionTable, Name>,
): { readonly subcommand: Name; readonly args: string[] } {
  const names = Object.keys(subcommands ?? {}) as Name[];
  const index = args.findIndex((arg) => !arg.startsWith("-"));
  const typed = args[index] ?? defaultSubcommand;
  if (typed === undefined) throw usageError(`${name} takes one of these: ${names.join(", ")}`);
  const subcommand = names.find((known) => known === typed);
  if (subcommand !== undefined) return { subcommand, args: args.filter((_, n) => n !== index) };
  const closest = findClosest(typed, names);
  const hint = closest === null ? `${name} takes ${names.join(", ")}` : `did you mean ${name} ${closest}?`;
  throw usageError(`unknown command ${quote(`${name} ${typed}`)}: ${hint}`);
}

/** `--depends-on A B` and `--depends-on A,B` mean the same. */
const splitList = (arg: string): string[] => arg.split(",").filter(Boolean);

/** What an editor or a chat makes of `--`. */
const longDash = /^[\u2013\u2014]\S/;

/** Lenient, because Node's own errors do not know the command. */
function tokenize(args: readonly string[], options: OptionTable) {
  const takesOne = Object.keys(options).filter((name) => options[name]?.value && !options[name].isList);
  const known = takesOne.map((option): [string, { type: "string"; short?: string }] => {
    const name = option.replace(/^-+/, "");
    return [name, option.startsWith("--") ? { type: "string" } : { type: "string", short: name }];
  });
  const lenient = { strict: false, allowPositionals: true, tokens: true } as const;
  return parseArgs({ args: [...args], options: Object.fromEntries(known), ...lenient }).tokens;
}

function readValue(
  option: string,
  valueName: string,
  { value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined },
): string {
  if (value && (inlineValue || !value.startsWith("-"))) return value;
  const got = value ? `, but got ${quote(value)}` : "";
  throw usageError(`${option} needs a value: ${option} ${valueName}${got}`);
}

function unknownOption(arg: string, command: Callable): string {
  const name = arg.replace(longDash, (start) => `--${start.slice(1)}`).replace(/=.*/s, "");
  const shown = shownOptions(command);
  const names = shown.flatMap(([known, option]) => namesOf(known, option));
  const similar = findClosest(name, names);
  if (similar !== null) return `unknown option ${quote(arg)} for ${command.name}: did you mean ${similar}?`;
  const flags = shown.flatMap(([known, option]) =>
    option.value === undefined ? namesOf(known, option) : [],
  );
  const values = shown.flatMap(([known, { value }]) => (value === undefined ? [] : [`${known} ${value}`]));
  const takes = names.length === 0 ? "no options" : formatList([...flags, ...values]);
  const text = `unknown option ${quote(arg)}: ${command.name} takes ${takes}`;
  return command.hint === undefined ? text : `${text}. ${command.hint}`;
}

/** On one line, without control characters: a script may pass anything by mistake. */
export function quote(arg: string): string {
  return JSON.stringify(arg.slice(0, 100)).replace(/[\u007f-\u009f]/g, " ");
}
