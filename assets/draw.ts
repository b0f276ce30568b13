/**
 * bun assets/draw.ts     draws every icon in this folder
 *
 * Run it after a change of drawing/. The binary embeds the files it shows; beckon.png and beckon.svg are for web pages.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TrayIcon } from "../src/core/view/view.ts";
import { drawAppIcon, formatAppIconSvg } from "./drawing/app-icon.ts";
import { encodeArgb, encodeIco, encodePack, encodePng } from "./drawing/formats.ts";
import { drawMark, drawTemplate } from "./drawing/mark.ts";

const panelSizes = [16, 18, 22, 24, 32, 48] as const;
const windowsSizes = [16, 20, 24, 32, 48] as const;

/** src/desktop/tray/icons.ts relies on this order. 0 blocked sessions show "!", 10 show "9+". */
const icons: readonly TrayIcon[] = [
  { phase: "calm", count: 0 },
  { phase: "working", count: 0 },
  ...Array.from({ length: 11 }, (_, count): TrayIcon => ({ phase: "blocked", count })),
];

/** Path in this folder → content. */
export function drawFiles(): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const pack = (encode: (icon: TrayIcon) => Buffer): Buffer => encodePack(icons.map(encode));
  // StatusNotifierItem takes raw pixels, in several sizes at once.
  files.set(
    "tray/linux.pack",
    pack((icon) => Buffer.concat(panelSizes.map((size) => encodeArgb(drawMark(icon, size))))),
  );
  // systray2's helper for older panels takes a PNG.
  files.set(
    "tray/xembed.pack",
    pack((icon) => encodePng(drawMark(icon, 24))),
  );
  files.set(
    "tray/windows.pack",
    pack((icon) => encodeIco(windowsSizes.map((size) => drawMark(icon, size)))),
  );
  files.set(
    "tray/macos.pack",
    pack((icon) => encodePng(drawTemplate(icon, 36))),
  );
  // The panels that show alerts on macOS: 24 points on a Retina display.
  files.set("macos/alert-calm.png", encodePng(drawMark({ phase: "calm", count: 0 }, 48)));
  files.set("macos/alert-blocked.png", encodePng(drawMark({ phase: "blocked", count: 0 }, 48)));
  // Notification servers scale it to 32 or 48 points; dunst shows it as it is.
  files.set("notification.png", encodePng(drawAppIcon(64)));
  files.set("beckon.png", encodePng(drawAppIcon(256)));
  files.set("beckon.svg", Buffer.from(formatAppIconSvg()));
  return files;
}

if (import.meta.main) {
  const assets = import.meta.dir;
  for (const folder of ["tray", "macos"]) {
    rmSync(join(assets, folder), { recursive: true, force: true });
  }
  for (const [path, bytes] of drawFiles()) {
    mkdirSync(dirname(join(assets, path)), { recursive: true });
    writeFileSync(join(assets, path), bytes);
  }
}
