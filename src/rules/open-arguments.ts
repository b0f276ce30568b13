/**
 * The commands whose further words are files and names, so that a rule may leave them open with `*`. After any other command a word
 * can be a program, a target or a server, and a rule has to name it.
 */

/** Scripts of a project that do the same thing with other files. */
const projectScript =
  /^(?:test|unit|e2e|lint|typecheck|type-check|check|format|fmt|build)(?:[:._-][\w:._-]{1,40})?$/;

interface OpenCommand {
  readonly words: readonly (string | RegExp)[];
  /** Options with a free text as their value, which is neither a file nor a program. */
  readonly textOptions?: readonly string[];
}

const names = (program: string, subcommands: string, textOptions: readonly string[] = []): OpenCommand[] =>
  subcommands.split(" ").map((subcommand) => ({ words: [program, subcommand], textOptions }));

const testNames = ["-t", "--testNamePattern", "--test-name-pattern"];

/** The longest first. */
const openCommands: readonly OpenCommand[] = [
  ...["npm", "pnpm", "yarn"].flatMap((program): OpenCommand[] => [
    { words: [program, "run", projectScript], textOptions: testNames },
    { words: [program, /^(?:test|t)$/], textOptions: testNames },
  ]),
  ...names("bun", "test", testNames),
  ...names("deno", "test lint fmt check"),
  ...names("cargo", "test build check clippy fmt doc"),
  ...names("go", "test build vet fmt", ["-run"]),
  ...names("dotnet", "test build"),
  ...names("swift", "test build"),
  ...names("biome", "check lint format"),
  ...names("ruff", "check format"),
  ...names("git", "add status diff log show"),
  ...names("git", "commit", ["-m", "--message"]),
  { words: ["vitest", "run"], textOptions: testNames },
  { words: ["pytest"], textOptions: ["-k"] },
  ...["jest", "vitest", "mocha"].map((program) => ({ words: [program], textOptions: testNames })),
  ...[
    "tsc",
    "eslint",
    "prettier",
    "stylelint",
    "mypy",
    "black",
    "isort",
    "flake8",
    "pylint",
    "rspec",
    "phpunit",
  ].map((program) => ({ words: [program] })),
  { words: ["mkdir", "-p"] },
  ...["mkdir", "touch"].map((program) => ({ words: [program] })),
];

const startsWith = (words: readonly string[], { words: pattern }: OpenCommand): boolean =>
  pattern.every((part, n) => {
    const word = words[n];
    return word !== undefined && (typeof part === "string" ? part === word : part.test(word));
  });

function findOpenCommand(words: readonly string[]): OpenCommand | null {
  return openCommands.find((command) => startsWith(words, command)) ?? null;
}

/** How many of the words a rule has to name before `*`. null if it has to name them all. */
export const countFixedWords = (words: readonly string[]): number | null =>
  findOpenCommand(words)?.words.length ?? null;

export const takesText = (words: readonly string[], option: string): boolean =>
  findOpenCommand(words)?.textOptions?.includes(option) ?? false;

/** Options of these commands that take no value, so that the word after them is an argument like any other. */
const switches: ReadonlySet<string> = new Set(
  `-- -q -v -vv -x -a -A --silent --quiet --verbose --fix --noEmit --coverage --bail --watch --ci --check --write --all
   --changed --no-color --staged --cached --stat --name-only --oneline --short --amend --no-edit --release
   --no-coverage --runInBand --passWithNoTests --no-verify --lib --all-targets --all-features --nocapture`.split(
    /\s+/,
  ),
);

export const isSwitch = (option: string): boolean => switches.has(option) || option.includes("=");
