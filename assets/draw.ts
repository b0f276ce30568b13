/**
 * bun assets/draw.ts     draws every icon in this folder anew
 *
 * The app itself draws its icons when it shows them: these files are for pages, packages and people.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TrayIcon } from "../src/core/view/view.ts";
import { appIcon, appIconSvg } from "../src/desktop/app-icon.ts";
import { ico, png, templatePng } from "../src/desktop/tray/icons.ts";
import { pngOf } from "../src/desktop/tray/image-files.ts";

const sizes = [16, 22, 24, 32, 48] as const;

const icons: Readonly<Record<string, TrayIcon>> = {
  calm: { phase: "calm", count: 0 },
  working: { phase: "working", count: 0 },
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((count) => [`blocked-${count}`, { phase: "blocked", count }]),
  ),
  "blocked-many": { phase: "blocked", count: 10 },
};

/** Path in this folder → content. */
export function drawn(): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const [name, icon] of Object.entries(icons)) {
    for (const size of sizes) files.set(`tray/${name}-${size}.png`, png(icon, size));
    files.set(`macos/${name}Template.png`, templatePng(icon, 18));
    files.set(`macos/${name}Template@2x.png`, templatePng(icon, 36));
  }
  for (const phase of ["calm", "working", "blocked"] as const) {
    files.set(`windows/${phase}.ico`, ico({ phase, count: 0 }));
  }
  files.set("beckon.png", pngOf(appIcon(256)));
  files.set("beckon.svg", Buffer.from(appIconSvg()));
  return files;
}

if (import.meta.main) {
  const here = import.meta.dir;
  for (const folder of ["tray", "macos", "windows"])
    rmSync(join(here, folder), { recursive: true, force: true });
  for (const [path, bytes] of drawn()) {
    mkdirSync(dirname(join(here, path)), { recursive: true });
    writeFileSync(join(here, path), bytes);
  }
}
