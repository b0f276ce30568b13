/** Shapes to pixels. Only + − × ÷, so that every machine draws the same bytes. */

export type Shape = (x: number, y: number) => boolean;
export type Point = readonly [x: number, y: number];
/** Straight (not premultiplied), 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

export interface Layer {
  readonly shape: Shape;
  readonly colour: Colour;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, alpha of each pixel, straight, row by row from the top. */
  readonly rgba: Uint8Array;
}

export const clear: Colour = [0, 0, 0, 0];

/** Points looked at in a pixel, a side. Of eighths a float loses nothing: slopes through corners come out even. */
const grid = 8;
const first = 0.5 / grid;
const last = 1 - first;

/** The topmost layer with a point in it gives the point its colour: a clear one cuts a hole. */
export function raster(size: number, topFirst: readonly Layer[]): Picture {
  const rgba = new Uint8Array(size * size * 4);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) rgba.set(pixel(x, y, topFirst), (y * size + x) * 4);
  }
  return { width: size, height: size, rgba };
}

function layerAt(x: number, y: number, layers: readonly Layer[]): number {
  for (let index = 0; index < layers.length; index++) if (layers[index]?.shape(x, y)) return index;
  return -1;
}

function pixel(x: number, y: number, layers: readonly Layer[]): Colour {
  const corner = layerAt(x + first, y + first, layers);
  // Most pixels are of one colour, and five looks tell.
  const isFlat =
    layerAt(x + last, y + last, layers) === corner &&
    layerAt(x + last, y + first, layers) === corner &&
    layerAt(x + first, y + last, layers) === corner &&
    layerAt(x + 0.5, y + 0.5, layers) === corner;
  return isFlat ? (layers[corner]?.colour ?? clear) : mixed(x, y, layers);
}

function mixed(x: number, y: number, layers: readonly Layer[]): Colour {
  let red = 0;
  let green = 0;
  let blue = 0;
  let alpha = 0;
  for (let i = 0; i < grid * grid; i++) {
    const at = layerAt(x + first + (i % grid) / grid, y + first + Math.floor(i / grid) / grid, layers);
    const [r, g, b, a] = layers[at]?.colour ?? clear;
    red += r * a;
    green += g * a;
    blue += b * a;
    alpha += a;
  }
  if (alpha === 0) return clear;
  const part = (sum: number): number => Math.round(sum / alpha);
  return [part(red), part(green), part(blue), Math.round(alpha / (grid * grid))];
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export function rectangle({ left, top, right, bottom }: Box): Shape {
  return (x, y) => x >= left && x < right && y >= top && y < bottom;
}

export function rounded(box: Box, radius: number): Shape {
  const { left, top, right, bottom } = box;
  const isInside = rectangle(box);
  return (x, y) => {
    if (!isInside(x, y)) return false;
    const dx = Math.max(left + radius - x, x - right + radius, 0);
    const dy = Math.max(top + radius - y, y - bottom + radius, 0);
    return dx * dx + dy * dy <= radius * radius;
  };
}

export function disc(cx: number, cy: number, radius: number): Shape {
  return (x, y) => (x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius;
}

export function polygon(points: readonly Point[]): Shape {
  const edges = points.map(
    (from, index) => [...from, ...(points[(index + 1) % points.length] ?? from)] as const,
  );
  return (x, y) => {
    let isInside = false;
    for (const [ax, ay, bx, by] of edges) {
      if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) isInside = !isInside;
    }
    return isInside;
  };
}

export function any(...shapes: readonly Shape[]): Shape {
  return (x, y) => shapes.some((shape) => shape(x, y));
}

export function both(a: Shape, b: Shape): Shape {
  return (x, y) => a(x, y) && b(x, y);
}

export function without(a: Shape, b: Shape): Shape {
  return (x, y) => a(x, y) && !b(x, y);
}
