/** Which pixels belong to an icon, in the form that each system takes. Drawn when asked for: no file to embed or unpack. */
import type { TrayIcon } from "../../core/view/view.ts";
import { icoOf, pngOf } from "./image-files.ts";
import { draw, drawTemplate, type IconSize } from "./mark.ts";
import type { Picture } from "./raster.ts";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** ARGB32, most significant byte first, as StatusNotifierItem wants it. */
  readonly bytes: Buffer;
}

/** Each takes a millisecond or two to draw, and there are but a few: 1 to 9, and more. */
const kept = new Map<string, Picture>();

function pictureOf(icon: TrayIcon, size: IconSize): Picture {
  const count = Math.min(icon.count, 10);
  const name = icon.phase === "blocked" ? `blocked ${count} ${size}` : `${icon.phase} ${size}`;
  const picture = kept.get(name) ?? draw({ phase: icon.phase, count }, size);
  kept.set(name, picture);
  return picture;
}

export function argb(icon: TrayIcon, size: IconSize): Pixels {
  const { width, height, rgba } = pictureOf(icon, size);
  const bytes = Buffer.alloc(rgba.length);
  for (let at = 0; at < rgba.length; at += 4) {
    bytes[at] = rgba[at + 3] ?? 0;
    bytes.set(rgba.subarray(at, at + 3), at + 1);
  }
  return { width, height, bytes };
}

export function png(icon: TrayIcon, size: IconSize): Buffer {
  return pngOf(pictureOf(icon, size));
}

/** Black and clear: macOS colours it as its menu bar needs. 36 is for 18 points on a Retina display. */
export function templatePng(icon: TrayIcon, size: 18 | 36): Buffer {
  return pngOf(drawTemplate(icon, size));
}

const icoSizes = [16, 20, 24, 32, 48] as const;

export function ico(icon: TrayIcon): Buffer {
  return icoOf(icoSizes.map((size) => pictureOf(icon, size)));
}
