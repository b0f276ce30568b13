/** What a run of `bun test` came to, read from what it printed. */
export interface Outcome {
  readonly exitCode: number;
  readonly lines: readonly string[];
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
  /** By name. */
  readonly skipped: readonly string[];
}

const skippedLine = /^\((?:skip|todo)\) /;
const lastLine = /^Ran \d+ tests? across /;

/** A run without tests, or that ended in any other way than bun's own ("Ran 5 tests …"), has failed. */
export function count({ exitCode, lines }: Outcome): Count {
  const number = (what: string): number => {
    const line = lines.findLast((text) => new RegExp(`^ *\\d+ ${what}$`).test(text));
    return line === undefined ? 0 : Number.parseInt(line, 10);
  };
  const passed = number("pass");
  const skipped = lines.filter((line) => skippedLine.test(line)).map((line) => line.replace(skippedLine, ""));
  const isWhole = exitCode === 0 && lines.some((line) => lastLine.test(line));
  const isGood = isWhole && passed + skipped.length > 0;
  return { passed, failed: Math.max(number("fail"), isGood ? 0 : 1), skipped };
}

const summaryLine = /^ *\d+ (?:pass|fail|skip|todo|expect\(\) calls)$/;

/** What the runner says itself, in one line a file. */
export const isNoise = (line: string): boolean =>
  line === "" ||
  line.startsWith("(pass) ") ||
  line.startsWith("bun test v") ||
  skippedLine.test(line) ||
  summaryLine.test(line) ||
  lastLine.test(line);
