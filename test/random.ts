/** Random numbers that can be repeated: the same seed gives the same numbers. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** An integer from `from` to `to`, without `to`. */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  chance(share: number): boolean;
}

/** mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from));
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length)] as (typeof list)[number],
    chance: (share) => next() < share,
  };
}

/** SEED=… repeats a run. */
export function chooseSeed(): number {
  const seed = Number(process.env.SEED);
  return Number.isInteger(seed) && seed > 0 ? seed : (Date.now() ^ (process.pid << 16)) >>> 0;
}
