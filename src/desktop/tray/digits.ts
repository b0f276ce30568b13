/** Digits whose stems and bars lie on whole pixels: at 16 pixels there is no room for grey edges. */
import { any, type Box, both, rectangle, rounded, type Shape } from "./raster.ts";

export interface Hand {
  readonly width: number;
  readonly height: number;
  /** How thick what stands is, and what lies. */
  readonly stem: number;
  readonly bar: number;
  readonly radius: number;
}

/** Top, upper right, lower right, bottom, lower left, upper left, middle. */
const parts: Readonly<Record<string, string>> = {
  "2": "trmlb",
  "3": "trmRb",
  "4": "LrRm",
  "5": "tLmRb",
  "6": "tLlmRb",
  "7": "trR",
  "8": "tLrlRmb",
  "9": "tLrmRb",
};

export function digit(name: string, left: number, top: number, hand: Hand): Shape {
  const { width, height, stem, bar, radius } = hand;
  const [right, bottom] = [left + width, top + height];
  const middle = top + Math.floor((height - bar) / 2);
  const box = (l: number, t: number, r: number, b: number): Shape =>
    rectangle({ left: l, top: t, right: r, bottom: b });
  if (name === "1") return one(left, top, hand);
  if (name === "!") return bang(left, top, hand);
  const part: Readonly<Record<string, Shape>> = {
    t: box(left, top, right, top + bar),
    m: box(left, middle, right, middle + bar),
    b: box(left, bottom - bar, right, bottom),
    L: box(left, top, left + stem, middle + bar),
    l: box(left, middle, left + stem, bottom),
    r: box(right - stem, top, right, middle + bar),
    R: box(right - stem, middle, right, bottom),
  };
  const all: Box = { left, top, right, bottom };
  const drawn = any(...[...(parts[name] ?? "")].flatMap((letter) => part[letter] ?? []));
  return name === "4" || name === "7" ? drawn : both(drawn, rounded(all, radius));
}

function one(left: number, top: number, { width, height, stem, bar }: Hand): Shape {
  const from = left + Math.ceil((width - stem) / 2);
  return any(
    rectangle({ left: from, top, right: from + stem, bottom: top + height }),
    rectangle({ left: from - stem, top: top + bar, right: from, bottom: top + 2 * bar }),
  );
}

function bang(left: number, top: number, { width, height, stem }: Hand): Shape {
  const from = left + Math.ceil((width - stem) / 2);
  const bottom = top + height;
  const gap = Math.max(1, Math.round(stem / 2));
  return any(
    rectangle({ left: from, top, right: from + stem, bottom: bottom - stem - gap }),
    rectangle({ left: from, top: bottom - stem, right: from + stem, bottom }),
  );
}

export function plus(left: number, middle: number, size: number, arm: number): Shape {
  const start = (size - arm) / 2;
  const top = Math.round(middle - arm / 2);
  return any(
    rectangle({ left, top, right: left + size, bottom: top + arm }),
    rectangle({
      left: left + start,
      top: top - start,
      right: left + start + arm,
      bottom: top + arm + start,
    }),
  );
}
