/** Reads the colours on the screen. */
import { join } from "node:path";
import type { Area, VirtualDesktop } from "./desktop-harness.ts";

type Colour = readonly [red: number, green: number, blue: number];

export interface Pixels {
  readonly area: Area;
  readonly colours: readonly Colour[];
}

let count = 0;

export async function readPixels(desktop: VirtualDesktop, area: Area): Promise<Pixels> {
  const path = join(desktop.home, `pixels-${++count}.ppm`);
  const { x, y, width, height } = area;
  await desktop.run("scrot", "--overwrite", "--silent", "-a", `${x},${y},${width},${height}`, path);
  const file = Buffer.from(await Bun.file(path).arrayBuffer());
  const data = file.subarray(file.length - width * height * 3);
  const colours = Array.from({ length: width * height }, (_, at): Colour => {
    const [red = 0, green = 0, blue = 0] = data.subarray(at * 3, at * 3 + 3);
    return [red, green, blue];
  });
  return { area, colours };
}

/** The middle of all pixels of such a colour; null if there are too few for an icon. */
export function findMiddle(
  { area, colours }: Pixels,
  matches: (colour: Colour) => boolean,
): { x: number; y: number; count: number } | null {
  const positions = colours.flatMap((colour, at) => (matches(colour) ? [at] : []));
  if (positions.length < 40) return null;
  const mean = (values: number[]) =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
  return {
    x: area.x + mean(positions.map((at) => at % area.width)),
    y: area.y + mean(positions.map((at) => Math.floor(at / area.width))),
    count: positions.length,
  };
}
