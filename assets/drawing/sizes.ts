/** The mark's measures in pixels, set by hand for each size so that edges lie between pixels and both halves are symmetric. */
import type { Font } from "./digits.ts";
import type { Box } from "./shapes.ts";

export interface Bubble extends Box {
  readonly radius: number;
  /** How far from the left it starts, and how far down it reaches. */
  readonly tail: { readonly at: number; readonly size: number };
}

export interface Measures {
  readonly outline: number;
  /** The bubble of the calm and the working icon. */
  readonly calm: Bubble;
  readonly blocked: Bubble;
  readonly chevron: { readonly rise: number; readonly width: number };
  readonly dot: { readonly size: number; readonly gap: number };
  readonly font: Font;
  /** The "9+" for ten and more: its digit may be narrower. */
  readonly more: {
    readonly width: number;
    readonly gap: number;
    readonly plus: number;
    readonly thickness: number;
  };
}

function bubble(
  [left, top, right, bottom]: readonly [number, number, number, number],
  radius: number,
  [at, size]: readonly [number, number],
): Bubble {
  return { left, top, right, bottom, radius, tail: { at, size } };
}

export const measuresOf = {
  16: {
    outline: 1,
    calm: bubble([1, 0, 15, 12], 3, [3, 4]),
    blocked: bubble([0, 0, 16, 13], 3, [3, 3]),
    chevron: { rise: 3, width: 2 },
    dot: { size: 2, gap: 2 },
    font: { width: 6, height: 7, stem: 2, bar: 1, radius: 2 },
    more: { width: 6, gap: 1, plus: 5, thickness: 1 },
  },
  18: {
    outline: 1,
    calm: bubble([1, 0, 17, 14], 3, [4, 4]),
    blocked: bubble([0, 0, 18, 15], 3, [4, 3]),
    chevron: { rise: 4, width: 2 },
    dot: { size: 2, gap: 2 },
    font: { width: 6, height: 9, stem: 2, bar: 1, radius: 2 },
    more: { width: 6, gap: 1, plus: 5, thickness: 1 },
  },
  20: {
    outline: 1,
    calm: bubble([1, 1, 19, 15], 3, [4, 4]),
    blocked: bubble([0, 1, 20, 16], 3.5, [4, 4]),
    chevron: { rise: 4, width: 3 },
    dot: { size: 2, gap: 3 },
    font: { width: 6, height: 9, stem: 2, bar: 1, radius: 1.5 },
    more: { width: 6, gap: 2, plus: 6, thickness: 2 },
  },
  22: {
    outline: 1,
    calm: bubble([2, 1, 21, 16], 3, [4, 5]),
    blocked: bubble([1, 0, 21, 16], 3.5, [4, 5]),
    chevron: { rise: 4.5, width: 3 },
    dot: { size: 3, gap: 2 },
    font: { width: 8, height: 10, stem: 2, bar: 2, radius: 2 },
    more: { width: 6, gap: 2, plus: 6, thickness: 2 },
  },
  24: {
    outline: 1,
    calm: bubble([2, 2, 23, 17], 3.5, [4, 5]),
    blocked: bubble([1, 1, 23, 18], 4, [4, 5]),
    chevron: { rise: 4.5, width: 3 },
    dot: { size: 3, gap: 3 },
    font: { width: 8, height: 11, stem: 2, bar: 2, radius: 2 },
    more: { width: 8, gap: 2, plus: 6, thickness: 2 },
  },
  32: {
    outline: 2,
    calm: bubble([3, 3, 29, 23], 5, [5, 7]),
    blocked: bubble([1, 1, 31, 24], 5.5, [6, 7]),
    chevron: { rise: 6, width: 4 },
    dot: { size: 4, gap: 3 },
    font: { width: 10, height: 13, stem: 3, bar: 3, radius: 3 },
    more: { width: 10, gap: 3, plus: 9, thickness: 3 },
  },
  36: {
    outline: 3,
    calm: bubble([2, 2, 34, 28], 6, [6, 8]),
    blocked: bubble([0, 1, 36, 29], 7, [6, 7]),
    chevron: { rise: 6, width: 4 },
    dot: { size: 4, gap: 4 },
    font: { width: 12, height: 16, stem: 4, bar: 3, radius: 3 },
    more: { width: 12, gap: 2, plus: 12, thickness: 4 },
  },
  48: {
    outline: 3,
    calm: bubble([4, 4, 44, 34], 8, [8, 10]),
    blocked: bubble([2, 2, 46, 36], 9, [9, 10]),
    chevron: { rise: 9, width: 6 },
    dot: { size: 6, gap: 4 },
    font: { width: 14, height: 20, stem: 4, bar: 4, radius: 4 },
    more: { width: 14, gap: 4, plus: 12, thickness: 4 },
  },
} as const satisfies Record<number, Measures>;

export type IconSize = keyof typeof measuresOf;
