/** The definitions of the commands: what is written by hand in them fits the rest. */
import { describe, expect, test } from "bun:test";
import { agents } from "../../src/agents/index.ts";
import { parseArguments } from "../../src/cli/args.ts";
import { type Callable, defineSubcommand, namesOf, resolveText, usageOf } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";

const commands = commandGroups.flat();
const optionsIn = (text: string): string[] => text.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? [];

test("no two commands have the same name", () => {
  const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(names).toEqual([...new Set(names)]);
});

test.each(commands.map((command) => [command.name, command] as const))(
  "the usage and examples of %s name only options that it has",
  (name, command) => {
    const known = Object.entries(command.options ?? {}).flatMap(([option, about]) => namesOf(option, about));
    const examples = command.page?.examples.map(([text]) => resolveText(text, agents)) ?? [];
    const own = [...usageOf(command), ...examples].filter((text) => text.startsWith(`beckon ${name}`));
    const named = own.flatMap((text) => optionsIn(text.replace(/ \| .*| -- .*/, "")));
    expect(named.filter((option) => option !== name && !known.includes(option))).toEqual([]);
  },
);

test.each(
  commands.flatMap(({ name, options = {}, subcommands = {} }) =>
    Object.entries<Callable>(subcommands).map(([word, sub]) => ({ name, options, word, sub })),
  ),
)("$name $word is called that, and the page of $name has its options", ({ name, options, word, sub }) => {
  expect(sub.name).toBe(`${name} ${word}`);
  for (const [option, definition] of Object.entries(sub.options ?? {}))
    expect(options[option]).toBe(definition);
});

describe("an option that takes a list", () => {
  const command = defineSubcommand({
    name: "test",
    about: "",
    arguments: [{ name: "ID" }],
    options: { "--on": { value: "ID", isList: true, about: "" }, "--now": { about: "" } },
  });
  test.each<[string[], string[], string[]]>([
    [["--on", "a", "b"], ["a", "b"], []],
    [["--on", "a,b"], ["a", "b"], []],
    [["--on", "a", "--on", "b"], ["a", "b"], []],
    [["--on", "a", "--now", "x"], ["a"], ["x"]],
    [["--on=a", "x"], ["a"], ["x"]],
    [["--on", "a", "--", "x"], ["a"], ["x"]],
    [["x", "--on"], [], ["x"]],
  ])("%j", (args, list, rest) => {
    const parsed = parseArguments(args, command);
    expect(parsed.values["--on"]).toEqual(list);
    expect(parsed.rest).toEqual(rest);
  });
});
