/** What is on the screen, colour by colour. */
import { join } from "node:path";
import type { Area, Desktop } from "./world.ts";

type Colour = readonly [red: number, green: number, blue: number];

export interface Pixels {
  readonly area: Area;
  readonly colours: readonly Colour[];
}

let last = 0;

export async function pixels(desktop: Desktop, area: Area): Promise<Pixels> {
  const path = join(desktop.home, `pixels-${++last}.ppm`);
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

/** The middle of everything in a colour like this one; null: there are not enough such pixels to be an icon. */
export function middleOf(
  { area, colours }: Pixels,
  isLike: (colour: Colour) => boolean,
): { x: number; y: number; count: number } | null {
  const found = colours.flatMap((colour, at) => (isLike(colour) ? [at] : []));
  if (found.length < 40) return null;
  const mean = (values: number[]) =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
  return {
    x: area.x + mean(found.map((at) => at % area.width)),
    y: area.y + mean(found.map((at) => Math.floor(at / area.width))),
    count: found.length,
  };
}
