/**
 * The tray's icons. `bun assets/draw.ts` draws them and packs those for one system into one file, which is embedded in the
 * binary.
 */
import { readFileSync } from "node:fs";
import linuxPack from "../../../assets/tray/linux.pack" with { type: "file" };
import macosPack from "../../../assets/tray/macos.pack" with { type: "file" };
import windowsPack from "../../../assets/tray/windows.pack" with { type: "file" };
import xembedPack from "../../../assets/tray/xembed.pack" with { type: "file" };
import type { TrayIcon } from "../../core/view/view.ts";

/** The position of an icon in every pack: calm, working, "!", 1, 2, … */
function indexOf({ phase, count }: TrayIcon): number {
  switch (phase) {
    case "calm":
      return 0;
    case "working":
      return 1;
    case "failed":
      return 2;
    case "blocked":
      return 2 + count;
  }
}

/** `pack`: the path of a file that encodePack of assets/drawing/formats.ts has written. */
function readIcon(pack: string, icon: TrayIcon): Buffer {
  const bytes = readFileSync(pack);
  const count = bytes.readUInt32LE(0);
  const lengths = Array.from({ length: count }, (_, n) => bytes.readUInt32LE(4 * (1 + n)));
  // The last one, "9+", stands for all higher numbers.
  const index = Math.min(indexOf(icon), count - 1);
  const start = lengths.slice(0, index).reduce((sum, length) => sum + length, 4 * (1 + count));
  return bytes.subarray(start, start + (lengths[index] ?? 0));
}

/** A PNG of 24 pixels, for systray2's helper on Linux. */
export const readPng = (icon: TrayIcon): Buffer => readIcon(xembedPack, icon);

/** A template image of 36 pixels: 18 points on a Retina display. macOS colours it to suit the menu bar. */
export const readTemplatePng = (icon: TrayIcon): Buffer => readIcon(macosPack, icon);

/** All sizes that Windows asks for: 16, 20, 24, 32 and 48 pixels. */
export const readIco = (icon: TrayIcon): Buffer => readIcon(windowsPack, icon);

/** ARGB32, most significant byte first, as StatusNotifierItem takes it. */
export type Pixmap = [width: number, height: number, bytes: Buffer];

/** The pictures of each icon for Linux, one after the other. */
const pixmapSizes = [16, 18, 22, 24, 32, 48] as const;

export function readPixmaps(icon: TrayIcon): Pixmap[] {
  const bytes = readIcon(linuxPack, icon);
  let end = 0;
  return pixmapSizes.map((size) => {
    const start = end;
    end += size * size * 4;
    return [size, size, bytes.subarray(start, end)];
  });
}
