/**
 * Cases measured side by side: each round runs every case once and starts with another one, so that a busy moment of the
 * machine hits all of them.
 */

export interface Case {
  readonly name: string;
  /** Returns one figure, in a unit that all cases share. */
  readonly run: (round: number) => number | Promise<number>;
}

/** One figure per round, by the name of the case. */
export type Figures = ReadonlyMap<string, readonly number[]>;

export async function interleave(
  cases: readonly Case[],
  { rounds, warmUp = 3 }: { rounds: number; warmUp?: number },
): Promise<Figures> {
  const figures = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    const first = (round + warmUp) % cases.length;
    for (const { name, run } of [...cases.slice(first), ...cases.slice(0, first)]) {
      const figure = await run(round);
      if (round >= 0) figures.get(name)?.push(figure);
    }
  }
  return figures;
}

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The value that `part` of all values lie below: 0.5 is the median, 1 the largest. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? Number.NaN)) / 2 : upper;
}

/** The median of the ratios within each round: a slow minute slows both sides. */
export function ratio(figures: Figures, name: string, base: string): number {
  const baseFigures = figures.get(base) ?? [];
  return median((figures.get(name) ?? []).map((value, round) => value / (baseFigures[round] ?? Number.NaN)));
}

/** The differences within each round: a slow minute slows both sides. */
export function listDifferences(figures: Figures, name: string, base: string): number[] {
  const baseFigures = figures.get(base) ?? [];
  return (figures.get(name) ?? []).map((value, round) => value - (baseFigures[round] ?? Number.NaN));
}

/** Median and range of each case, and its ratio to each of the bases that was measured. */
export function formatFigures(
  figures: Figures,
  unit: string,
  bases: readonly string[] = [],
  digits = 2,
): string {
  const compared = bases.filter((base) => figures.has(base));
  return formatTable([
    ["", `median ${unit}`, "range", ...compared.map((base) => `× ${base}`)],
    ...[...figures].map(([name, values]) => [
      name,
      median(values).toFixed(digits),
      `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`,
      ...compared.map((base) => ratio(figures, name, base).toFixed(2)),
    ]),
  ]);
}

/** One row per figure, one column per program, and the ratio of the first program to the second if there are two. */
export function formatComparison(
  rows: readonly { readonly label: string; readonly values: readonly number[]; readonly digits?: number }[],
  names: readonly string[],
): string {
  const hasRatio = names.length > 1;
  return formatTable([
    ["", ...names, ...(hasRatio ? ["ratio"] : [])],
    ...rows.map(({ label, values, digits = 1 }) => [
      label,
      ...values.map((value) => value.toFixed(digits)),
      ...(hasRatio ? [((values[0] ?? Number.NaN) / (values[1] ?? Number.NaN)).toFixed(2)] : []),
    ]),
  ]);
}

/** The first column to the left, the others to the right. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const formatCell = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(formatCell).join("  ")).join("\n");
}

/** Prints whether a target is met, and returns it. */
export function meets(figure: string, value: number, how: "at most" | "at least", limit: number): boolean {
  const isMet = how === "at most" ? value <= limit : value >= limit;
  console.log(`${isMet ? "ok  " : "MISS"} ${figure}: ${value.toFixed(2)}, ${how} ${limit}`);
  return isMet;
}
