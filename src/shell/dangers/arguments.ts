/** The arguments of a program: its options, however they are written, and the rest. */

export interface Arguments {
  readonly all: readonly string[];
  /** The letters of all short options. */
  readonly letters: ReadonlySet<string>;
  /** What is not an option. */
  readonly rest: readonly string[];
}

export function parseArguments(all: readonly string[]): Arguments {
  const letters = new Set<string>();
  const rest: string[] = [];
  let isAfterOptions = false;
  for (const arg of all) {
    if (isAfterOptions || !arg.startsWith("-") || arg === "-") rest.push(arg);
    else if (arg === "--") isAfterOptions = true;
    else if (!arg.startsWith("--")) for (const letter of arg.slice(1, 32)) letters.add(letter);
  }
  return { all, letters, rest };
}

/** `-f`, `-rf`, `--force`, `--forc`: most programs accept the start of a long option. */
export function hasOption({ all, letters }: Arguments, short: string, ...long: readonly string[]): boolean {
  for (const letter of short) if (letters.has(letter)) return true;
  return all.some((arg) => {
    const name = arg.split("=", 1)[0] ?? "";
    return name.length > 3 && name.startsWith("--") && long.some((option) => `--${option}`.startsWith(name));
  });
}

/** The values of an option: `-o x`, `-ox`, `--output x`, `--output=x`. */
export function findOptionValues({ all }: Arguments, short: string, ...long: readonly string[]): string[] {
  return all.flatMap((arg, n) => {
    const next = all[n + 1];
    if (long.some((option) => arg.startsWith(`--${option}=`))) return [arg.slice(arg.indexOf("=") + 1)];
    if (long.some((option) => arg === `--${option}`)) return next === undefined ? [] : [next];
    if (!/^-[A-Za-z]/.test(arg)) return [];
    const at = [...arg].findIndex((letter, i) => i > 0 && short.includes(letter));
    if (at === -1) return [];
    return at === arg.length - 1 ? (next === undefined ? [] : [next]) : [arg.slice(at + 1)];
  });
}
