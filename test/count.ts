/** Counts the tests of one run of `bun test`, from what it printed. */
export interface Output {
  readonly exitCode: number;
  readonly lines: readonly string[];
}

export interface TestCount {
  readonly passed: number;
  readonly failed: number;
  /** Names of tests. */
  readonly skipped: readonly string[];
}

const skippedLine = /^\((?:skip|todo)\) /;
const lastLine = /^Ran \d+ tests? across /;

/** A run without tests, or one that did not end with bun's own last line ("Ran 5 tests …"), counts as a failure. */
export function countTests({ exitCode, lines }: Output): TestCount {
  const readCount = (kind: string): number => {
    const line = lines.findLast((text) => new RegExp(`^ *\\d+ ${kind}$`).test(text));
    return line === undefined ? 0 : Number.parseInt(line, 10);
  };
  const passed = readCount("pass");
  const skipped = lines.filter((line) => skippedLine.test(line)).map((line) => line.replace(skippedLine, ""));
  const isComplete = exitCode === 0 && lines.some((line) => lastLine.test(line));
  const isGood = isComplete && passed + skipped.length > 0;
  return { passed, failed: Math.max(readCount("fail"), isGood ? 0 : 1), skipped };
}

const summaryLine = /^ *\d+ (?:pass|fail|skip|todo|expect\(\) calls)$/;

/** Lines that the runner replaces with one line per file. */
export const isNoise = (line: string): boolean =>
  line === "" ||
  line.startsWith("(pass) ") ||
  line.startsWith("bun test v") ||
  skippedLine.test(line) ||
  summaryLine.test(line) ||
  lastLine.test(line);
