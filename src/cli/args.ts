/** Reads the arguments of a command. Every error names the argument that is wrong and what the command takes. */
import { parseArgs } from "node:util";
import { findClosest } from "../core/text/closest.ts";

/** A call that makes no sense: exit code 2. A call that failed has exit code 1. `main` adds where to read more. */
export function usageError(text: string): Error {
  const sentence = /[.?]$/.test(text) ? text : `${text}.`;
  return Object.assign(new Error(sentence), { exitCode: 2, isUsage: true });
}

interface CommandOptions<Flag extends string, Option extends string> {
  /** As the user types it: "status", "--install". */
  readonly command: string;
  /** `--json` */
  readonly flags?: readonly Flag[];
  /** Options with a value, and what it is called: `{ "--ask": "ID" }`. */
  readonly values?: Readonly<Record<Option, string>>;
  /** Whether the command takes arguments that are not options. */
  readonly takesArguments?: boolean;
  /** A sentence to add where an option is not known. */
  readonly hint?: string;
}

export interface ParsedArguments<Flag extends string, Option extends string> {
  readonly flags: ReadonlySet<Flag>;
  readonly values: Partial<Readonly<Record<Option, string>>>;
  readonly rest: readonly string[];
  /** Index in `rest` of the first argument after `--`; Infinity without `--`. */
  readonly literalFrom: number;
}

export function parseArguments<Flag extends string = never, Option extends string = never>(
  args: readonly string[],
  options: CommandOptions<Flag, Option>,
): ParsedArguments<Flag, Option> {
  const { command, flags = [], values: valueNames = {} as Record<Option, string> } = options;
  const valueOptions = Object.keys(valueNames) as Option[];
  const findOption = <Name extends string>(names: readonly Name[], raw: string): Name | undefined =>
    names.find((name) => name === raw);

  const found = {
    flags: new Set<Flag>(),
    values: {} as Partial<Record<Option, string>>,
    rest: [] as string[],
  };
  let literalFrom = Number.POSITIVE_INFINITY;
  for (const token of tokenize(args, valueOptions)) {
    const arg = args[token.index] ?? "";
    if (token.kind === "option-terminator") {
      if (!options.takesArguments) throw usageError(unknownOption(arg, options));
      literalFrom = found.rest.length;
    } else if (token.kind === "positional") {
      const isLiteral = Number.isFinite(literalFrom);
      if (!isLiteral && longDash.test(arg)) throw usageError(unknownOption(arg, options));
      if (!options.takesArguments) throw usageError(`${command} takes no arguments, but got ${quote(arg)}`);
      found.rest.push(arg);
    } else {
      const flag = findOption(flags, token.rawName);
      const option = findOption(valueOptions, token.rawName);
      if (flag !== undefined) {
        if (token.inlineValue) throw usageError(`${flag} takes no value, but got ${quote(arg)}`);
        found.flags.add(flag);
      } else if (option !== undefined) {
        found.values[option] = readValue(option, valueNames[option], token);
      } else {
        throw usageError(unknownOption(arg, options));
      }
    }
  }
  return { ...found, literalFrom };
}

/** What an editor or a chat makes of `--`. */
const longDash = /^[\u2013\u2014]\S/;

/** Lenient, because Node's own errors do not know the command. */
function tokenize(args: readonly string[], valueOptions: readonly string[]) {
  const known = valueOptions.map((option): [string, { type: "string"; short?: string }] => {
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

function unknownOption(
  arg: string,
  { command, flags = [], values = {}, hint }: CommandOptions<string, string>,
): string {
  const name = arg.replace(longDash, (start) => `--${start.slice(1)}`).replace(/=.*/s, "");
  const similar = findClosest(name, [...flags, ...Object.keys(values)]);
  if (similar !== null) return `unknown option ${quote(arg)} for ${command}: did you mean ${similar}?`;
  const known = [...flags, ...Object.entries(values).map(([option, value]) => `${option} ${value}`)];
  const takes = known.length === 0 ? "no options" : new Intl.ListFormat("en-GB").format(known);
  const text = `unknown option ${quote(arg)}: ${command} takes ${takes}`;
  return hint === undefined ? text : `${text}. ${hint}`;
}

/** On one line, without control characters: a script may pass anything by mistake. */
export function quote(arg: string): string {
  return JSON.stringify(arg.slice(0, 100)).replace(/[\u007f-\u009f]/g, " ");
}
