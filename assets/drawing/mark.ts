/**
 * beckon's mark: a speech bubble that is a terminal. Calm shows a prompt, working shows three dots, and blocked is solid,
 * larger, and shows how many sessions need you. The three differ in shape, so they can be told apart without colour.
 */
import type { TrayIcon } from "../../src/core/view/view.ts";
import { drawDigit, drawPlus, type Font } from "./digits.ts";
import {
  type Box,
  type Colour,
  difference,
  disc,
  type Layer,
  type Picture,
  polygon,
  rasterize,
  rectangle,
  roundedRectangle,
  type Shape,
  snapToPixels,
  transparent,
  union,
} from "./shapes.ts";
import { type Bubble, type IconSize, type Measures, measuresOf } from "./sizes.ts";

const ink: Colour = [32, 36, 46, 255];
const paper: Colour = [250, 250, 252, 255];
/** The calm icon is less bright than the others. */
const shade: Colour = [214, 218, 226, 255];
const flame: Colour = [214, 64, 10, 255];
const black: Colour = [0, 0, 0, 255];

/** A rounded box with a 45-degree tail below. `inset` shrinks it, for the area inside its outline. */
function drawBubble({ left, top, right, bottom, radius, tail }: Bubble, inset: number): Shape {
  const body: Box = { left: left + inset, top: top + inset, right: right - inset, bottom: bottom - inset };
  const corner = left + tail.at + inset;
  const tip = bottom + tail.size - inset * (1 + Math.SQRT2);
  const root = bottom - inset - 1;
  return union(
    roundedRectangle(body, Math.max(0, radius - inset)),
    polygon([
      [corner, root],
      [corner, tip],
      [corner + tip - root, root],
    ]),
  );
}

/** A `›` with flat ends: its edges run through the corners of pixels. */
function drawPrompt({ calm, chevron }: Measures): Shape {
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

function drawDots({ calm, dot }: Measures): Shape {
  const y = (calm.top + calm.bottom) / 2;
  const first = (calm.left + calm.right) / 2 - dot.size - dot.gap;
  const centres = [0, 1, 2].map((index) => first + index * (dot.size + dot.gap));
  const { size } = dot;
  // Discs smaller than 4 pixels would be grey squares: black squares are sharper.
  return union(
    ...centres.map((x) =>
      size < 4
        ? rectangle({ left: x - size / 2, top: y - size / 2, right: x + size / 2, bottom: y + size / 2 })
        : disc(x, y, size / 2),
    ),
  );
}

/** "!" for 0, and "9+" for 10 and more. */
function drawCount(count: number, { blocked, font, more }: Measures): Shape {
  const top = (blocked.top + blocked.bottom - font.height) / 2;
  const centre = (blocked.left + blocked.right) / 2;
  if (count < 10) {
    const digit = count < 1 ? "!" : String(Math.floor(count));
    return drawDigit(digit, centre - font.width / 2, top, font);
  }
  const narrow: Font = { ...font, width: more.width };
  const left = centre - (more.width + more.gap + more.plus) / 2;
  return union(
    drawDigit("9", left, top, narrow),
    drawPlus(left + more.width + more.gap, top + font.height / 2, more.plus, more.thickness),
  );
}

/** Up to this size a half-covered pixel is a blur, not a curve. */
const maxSharpSize = 18;

const draw = (size: IconSize, layers: readonly Layer[]): Picture =>
  rasterize(
    size,
    size > maxSharpSize
      ? layers
      : layers.map(({ shape, colour }) => ({ shape: snapToPixels(shape), colour })),
  );

/** For panels of any colour: the icon has a light and a dark part of its own. */
export function drawMark({ phase, count }: TrayIcon, size: IconSize): Picture {
  const measures = measuresOf[size];
  if (phase === "blocked") {
    return draw(size, [
      { shape: drawCount(count, measures), colour: paper },
      { shape: drawBubble(measures.blocked, measures.outline), colour: flame },
      { shape: drawBubble(measures.blocked, 0), colour: paper },
    ]);
  }
  return draw(size, [
    { shape: phase === "working" ? drawDots(measures) : drawPrompt(measures), colour: ink },
    {
      shape: drawBubble(measures.calm, measures.outline),
      colour: phase === "working" ? paper : shade,
    },
    { shape: drawBubble(measures.calm, 0), colour: ink },
  ]);
}

/** A macOS template image: black and transparent, and macOS colours it to suit the menu bar. */
export function drawTemplate({ phase, count }: TrayIcon, size: IconSize): Picture {
  const measures = measuresOf[size];
  const { calm, blocked, outline } = measures;
  const layers: Layer[] =
    phase === "blocked"
      ? [
          { shape: drawCount(count, measures), colour: transparent },
          { shape: drawBubble(blocked, 0), colour: black },
        ]
      : [
          { shape: phase === "working" ? drawDots(measures) : drawPrompt(measures), colour: black },
          { shape: difference(drawBubble(calm, 0), drawBubble(calm, outline)), colour: black },
        ];
  return draw(size, layers);
}
