/**
 * beckon's mark: a terminal that speaks. At rest it shows a prompt, at work three dots, and where it wants somebody it
 * is solid, larger, and says how many: three shapes, told apart without colour.
 */
import type { TrayIcon } from "../../core/view/view.ts";
import { digit, type Hand, plus } from "./digits.ts";
import {
  any,
  type Box,
  type Colour,
  clear,
  disc,
  type Layer,
  type Picture,
  polygon,
  raster,
  rectangle,
  rounded,
  type Shape,
  without,
} from "./raster.ts";
import { type Bubble, type IconSize, type Tuned, tuned } from "./tuned.ts";

export type { IconSize };

const ink: Colour = [32, 36, 46, 255];
const paper: Colour = [250, 250, 252, 255];
/** Nobody needs to look: not quite as bright. */
const shade: Colour = [214, 218, 226, 255];
const flame: Colour = [214, 64, 10, 255];
const black: Colour = [0, 0, 0, 255];

/** A rounded box with a tail of 45 degrees below; `inset` is what lies within its line. */
function bubble({ left, top, right, bottom, radius, tail }: Bubble, inset: number): Shape {
  const body: Box = { left: left + inset, top: top + inset, right: right - inset, bottom: bottom - inset };
  const corner = left + tail.at + inset;
  const tip = bottom + tail.size - inset * (1 + Math.SQRT2);
  const root = bottom - inset - 1;
  return any(
    rounded(body, Math.max(0, radius - inset)),
    polygon([
      [corner, root],
      [corner, tip],
      [corner + tip - root, root],
    ]),
  );
}

/** `›`, cut off level: its edges run through the corners of pixels. */
function prompt({ calm, chevron }: Tuned): Shape {
  const { rise, width } = chevron;
  const y = (calm.top + calm.bottom) / 2;
  const x = Math.round((calm.left + calm.right - width - rise) / 2);
  return polygon([
    [x, y - rise],
    [x + width, y - rise],
    [x + width + rise, y],
    [x + width, y + rise],
    [x, y + rise],
    [x + rise, y],
  ]);
}

function dots({ calm, dot }: Tuned): Shape {
  const y = (calm.top + calm.bottom) / 2;
  const first = (calm.left + calm.right) / 2 - dot.size - dot.gap;
  const centres = [0, 1, 2].map((index) => first + index * (dot.size + dot.gap));
  const { size } = dot;
  // Discs this small come out as grey squares: better black ones.
  return any(
    ...centres.map((x) =>
      size < 4
        ? rectangle({ left: x - size / 2, top: y - size / 2, right: x + size / 2, bottom: y + size / 2 })
        : disc(x, y, size / 2),
    ),
  );
}

function number(count: number, { blocked, hand, more }: Tuned): Shape {
  const top = (blocked.top + blocked.bottom - hand.height) / 2;
  const centre = (blocked.left + blocked.right) / 2;
  if (count < 10) {
    const name = count < 1 ? "!" : String(Math.floor(count));
    return digit(name, centre - hand.width / 2, top, hand);
  }
  const narrow: Hand = { ...hand, width: more.width };
  const left = centre - (more.width + more.gap + more.plus) / 2;
  return any(
    digit("9", left, top, narrow),
    plus(left + more.width + more.gap, top + hand.height / 2, more.plus, more.arm),
  );
}

/** For panels of any colour: it brings its own light and dark. */
export function draw({ phase, count }: TrayIcon, size: IconSize): Picture {
  const form = tuned[size];
  if (phase === "blocked") {
    return raster(size, [
      { shape: number(count, form), colour: paper },
      { shape: bubble(form.blocked, form.line), colour: flame },
      { shape: bubble(form.blocked, 0), colour: paper },
    ]);
  }
  return raster(size, [
    { shape: phase === "working" ? dots(form) : prompt(form), colour: ink },
    { shape: bubble(form.calm, form.line), colour: phase === "working" ? paper : shade },
    { shape: bubble(form.calm, 0), colour: ink },
  ]);
}

/** Black and clear, for macOS to colour. */
export function drawTemplate({ phase, count }: TrayIcon, size: IconSize): Picture {
  const form = tuned[size];
  const layers: Layer[] =
    phase === "blocked"
      ? [
          { shape: number(count, form), colour: clear },
          { shape: bubble(form.blocked, 0), colour: black },
        ]
      : [
          { shape: phase === "working" ? dots(form) : prompt(form), colour: black },
          { shape: without(bubble(form.calm, 0), bubble(form.calm, form.line)), colour: black },
        ];
  return raster(size, layers);
}
