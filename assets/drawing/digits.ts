/** Digits whose strokes lie on whole pixels: at 16 pixels there is no room for blurred edges. */
import { type Box, intersection, rectangle, roundedRectangle, type Shape, union } from "./shapes.ts";

export interface Font {
  readonly width: number;
  readonly height: number;
  /** Thickness of vertical strokes. */
  readonly stem: number;
  /** Thickness of horizontal strokes. */
  readonly bar: number;
  readonly radius: number;
}

/** As on a seven-segment display: t top, m middle, b bottom, L/l upper and lower left, r/R upper and lower right. */
const segmentsOf: Readonly<Record<string, string>> = {
  "2": "trmlb",
  "3": "trmRb",
  "4": "LrRm",
  "5": "tLmRb",
  "6": "tLlmRb",
  "7": "trR",
  "8": "tLrlRmb",
  "9": "tLrmRb",
};

export function drawDigit(digit: string, left: number, top: number, font: Font): Shape {
  if (digit === "1") return drawOne(left, top, font);
  if (digit === "!") return drawExclamationMark(left, top, font);
  const { width, height, stem, bar, radius } = font;
  const [right, bottom] = [left + width, top + height];
  const middle = top + Math.floor((height - bar) / 2);
  const box = (l: number, t: number, r: number, b: number): Shape =>
    rectangle({ left: l, top: t, right: r, bottom: b });
  const segments: Readonly<Record<string, Shape>> = {
    t: box(left, top, right, top + bar),
    m: box(left, middle, right, middle + bar),
    b: box(left, bottom - bar, right, bottom),
    L: box(left, top, left + stem, middle + bar),
    l: box(left, middle, left + stem, bottom),
    r: box(right - stem, top, right, middle + bar),
    R: box(right - stem, middle, right, bottom),
  };
  const outline: Box = { left, top, right, bottom };
  const strokes = union(...[...(segmentsOf[digit] ?? "")].flatMap((letter) => segments[letter] ?? []));
  return digit === "4" || digit === "7" ? strokes : intersection(strokes, roundedRectangle(outline, radius));
}

function drawOne(left: number, top: number, { width, height, stem, bar }: Font): Shape {
  const from = left + Math.ceil((width - stem) / 2);
  return union(
    rectangle({ left: from, top, right: from + stem, bottom: top + height }),
    rectangle({ left: from - stem, top: top + bar, right: from, bottom: top + 2 * bar }),
  );
}

function drawExclamationMark(left: number, top: number, { width, height, stem }: Font): Shape {
  const from = left + Math.ceil((width - stem) / 2);
  const bottom = top + height;
  const gap = Math.max(1, Math.round(stem / 2));
  return union(
    rectangle({ left: from, top, right: from + stem, bottom: bottom - stem - gap }),
    rectangle({ left: from, top: bottom - stem, right: from + stem, bottom }),
  );
}

export function drawPlus(left: number, middle: number, size: number, thickness: number): Shape {
  const start = (size - thickness) / 2;
  const top = Math.round(middle - thickness / 2);
  return union(
    rectangle({ left, top, right: left + size, bottom: top + thickness }),
    rectangle({
      left: left + start,
      top: top - start,
      right: left + start + thickness,
      bottom: top + thickness + start,
    }),
  );
}
