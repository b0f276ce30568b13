/** The options of a command, however they are written. */

export interface Args {
  readonly all: readonly string[];
  readonly letters: ReadonlySet<string>;
  /** What is no option. */
  readonly rest: readonly string[];
}

export function readArgs(all: readonly string[]): Args {
  const letters = new Set<string>();
  const rest: string[] = [];
  let isOver = false;
  for (const arg of all) {
    if (isOver || !arg.startsWith("-") || arg === "-") rest.push(arg);
    else if (arg === "--") isOver = true;
    else if (!arg.startsWith("--")) for (const letter of arg.slice(1, 32)) letters.add(letter);
  }
  return { all, letters, rest };
}

/** `-f`, `-rf`, `--force`, `--forc`: most programs take a long option's beginning for it. */
export function has({ all, letters }: Args, short: string, ...long: readonly string[]): boolean {
  for (const letter of short) if (letters.has(letter)) return true;
  return all.some((arg) => {
    const name = arg.split("=", 1)[0] ?? "";
    return name.length > 3 && name.startsWith("--") && long.some((option) => `--${option}`.startsWith(name));
  });
}

/** The value behind an option: `-o x`, `-ox`, `--output x`, `--output=x`. */
export function valuesOf({ all }: Args, short: string, ...long: readonly string[]): string[] {
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
