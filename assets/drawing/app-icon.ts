/** The mark as the app's own icon, for notifications and web pages. */
import {
  type Box,
  type Colour,
  type Picture,
  type Point,
  polygon,
  rasterize,
  roundedRectangle,
  type Shape,
  union,
} from "./shapes.ts";

/** Width and height of the coordinates below. */
const field = 256;
const body: Box = { left: 16, top: 20, right: 240, bottom: 188 };
const radius = 44;
const tail: readonly Point[] = [
  [56, 180],
  [56, 244],
  [120, 180],
];
const chevron: readonly Point[] = [
  [68, 60],
  [100, 60],
  [144, 104],
  [100, 148],
  [68, 148],
  [112, 104],
];
const cursor: Box = { left: 140, top: 128, right: 192, bottom: 148 };
const cursorRadius = 4;

const flame: Colour = [214, 64, 10, 255];
const paper: Colour = [250, 250, 252, 255];

export function drawAppIcon(size: number): Picture {
  const scaled =
    (shape: Shape): Shape =>
    (x, y) =>
      shape((x * field) / size, (y * field) / size);
  return rasterize(size, [
    { shape: scaled(union(polygon(chevron), roundedRectangle(cursor, cursorRadius))), colour: paper },
    { shape: scaled(union(roundedRectangle(body, radius), polygon(tail))), colour: flame },
  ]);
}

export function formatAppIconSvg(): string {
  const hex = (colour: Colour): string => `#${Buffer.from(colour.slice(0, 3)).toString("hex")}`;
  const points = (list: readonly Point[]): string => list.map((point) => point.join(",")).join(" ");
  const box = ({ left, top, right, bottom }: Box, r: number): string =>
    `<rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}" rx="${r}"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${field} ${field}" role="img" aria-label="beckon">`,
    `  <g fill="${hex(flame)}">${box(body, radius)}<polygon points="${points(tail)}"/></g>`,
    `  <g fill="${hex(paper)}"><polygon points="${points(chevron)}"/>${box(cursor, cursorRadius)}</g>`,
    "</svg>",
    "",
  ].join("\n");
}
