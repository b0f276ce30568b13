/** Turns shapes into pixels. It uses only + − × ÷, so every machine draws the same bytes. */

/** Returns whether the point lies inside the shape. */
export type Shape = (x: number, y: number) => boolean;
export type Point = readonly [x: number, y: number];
/** Not premultiplied, 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

export interface Layer {
  readonly shape: Shape;
  readonly colour: Colour;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha of each pixel, not premultiplied, row by row from the top. */
  readonly rgba: Uint8Array;
}

export const transparent: Colour = [0, 0, 0, 0];

/** Samples per pixel and side. Eighths are exact in floating point, so slopes through pixel corners stay symmetric. */
const samples = 8;
const firstSample = 0.5 / samples;
const lastSample = 1 - firstSample;

/** A point gets the colour of the topmost layer that contains it. A transparent layer cuts a hole. */
export function rasterize(size: number, topFirst: readonly Layer[]): Picture {
  const rgba = new Uint8Array(size * size * 4);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) rgba.set(pixelColour(x, y, topFirst), (y * size + x) * 4);
  }
  return { width: size, height: size, rgba };
}

function layerAt(x: number, y: number, layers: readonly Layer[]): number {
  for (let index = 0; index < layers.length; index++) if (layers[index]?.shape(x, y)) return index;
  return -1;
}

function pixelColour(x: number, y: number, layers: readonly Layer[]): Colour {
  const corner = layerAt(x + firstSample, y + firstSample, layers);
  // Most pixels have one colour: their four corners and the middle show it.
  const isFlat =
    layerAt(x + lastSample, y + lastSample, layers) === corner &&
    layerAt(x + lastSample, y + firstSample, layers) === corner &&
    layerAt(x + firstSample, y + lastSample, layers) === corner &&
    layerAt(x + 0.5, y + 0.5, layers) === corner;
  return isFlat ? (layers[corner]?.colour ?? transparent) : averageColour(x, y, layers);
}

function averageColour(x: number, y: number, layers: readonly Layer[]): Colour {
  let red = 0;
  let green = 0;
  let blue = 0;
  let alpha = 0;
  for (let i = 0; i < samples * samples; i++) {
    const sampleX = x + firstSample + (i % samples) / samples;
    const sampleY = y + firstSample + Math.floor(i / samples) / samples;
    const [r, g, b, a] = layers[layerAt(sampleX, sampleY, layers)]?.colour ?? transparent;
    red += r * a;
    green += g * a;
    blue += b * a;
    alpha += a;
  }
  if (alpha === 0) return transparent;
  const average = (sum: number): number => Math.round(sum / alpha);
  return [average(red), average(green), average(blue), Math.round(alpha / (samples * samples))];
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

export function roundedRectangle(box: Box, radius: number): Shape {
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

/** Takes each pixel whole, as its middle is: edges are sharp. */
export function snapToPixels(shape: Shape): Shape {
  return (x, y) => shape(Math.floor(x) + 0.5, Math.floor(y) + 0.5);
}

export function union(...shapes: readonly Shape[]): Shape {
  return (x, y) => shapes.some((shape) => shape(x, y));
}

export function intersection(a: Shape, b: Shape): Shape {
  return (x, y) => a(x, y) && b(x, y);
}

export function difference(a: Shape, b: Shape): Shape {
  return (x, y) => a(x, y) && !b(x, y);
}
