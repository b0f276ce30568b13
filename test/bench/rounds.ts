/** Things measured side by side: one run of each a round, the order turned each round, so that a busy moment hits all. */

export interface Case {
  readonly name: string;
  /** One run, in whatever unit all cases share. */
  readonly run: (round: number) => number | Promise<number>;
}

/** By name: one figure a round, in the order of rounds. */
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

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? Number.NaN)) / 2 : upper;
}

/** The median of the ratios within each round: a slow minute slows both sides of it. */
export function ratio(figures: Figures, name: string, base: string): number {
  const below = figures.get(base) ?? [];
  return median((figures.get(name) ?? []).map((value, round) => value / (below[round] ?? Number.NaN)));
}

/** Median and range of each, and how it relates to the bases. */
export function table(figures: Figures, unit: string, bases: readonly string[] = [], digits = 2): string {
  const head = ["", `median ${unit}`, "range", ...bases.map((base) => `× ${base}`)];
  const rows = [...figures].map(([name, values]) => [
    name,
    median(values).toFixed(digits),
    `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`,
    ...bases.map((base) => ratio(figures, name, base).toFixed(2)),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join("  ");
  return [head, ...rows].map(line).join("\n");
}

/** One line saying whether a target is met; false where it is not. */
export function meets(what: string, value: number, how: "at most" | "at least", limit: number): boolean {
  const isMet = how === "at most" ? value <= limit : value >= limit;
  console.log(`${isMet ? "ok  " : "MISS"} ${what}: ${value.toFixed(2)}, ${how} ${limit}`);
  return isMet;
}
