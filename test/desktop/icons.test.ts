import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { drawFiles } from "../../assets/draw.ts";
import { drawMark } from "../../assets/drawing/mark.ts";
import type { TrayIcon } from "../../src/core/view/view.ts";
import { readIco, readPixmaps, readPng, readTemplatePng } from "../../src/desktop/tray/icons.ts";
import { repo } from "../repo.ts";

const assets = join(repo, "assets");
const smallSizes = [16, 18, 20, 22, 24] as const;
const sizes = [...smallSizes, 32, 48] as const;
const phases: readonly TrayIcon[] = [
  { phase: "calm", count: 0 },
  { phase: "working", count: 0 },
  { phase: "blocked", count: 1 },
];
const counts: readonly TrayIcon[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((count) => ({
  phase: "blocked",
  count,
}));
const every: readonly TrayIcon[] = [...phases, { phase: "blocked", count: 0 }, ...counts];
const panels: readonly (readonly [string, readonly [number, number, number]])[] = [
  ["dark", [0x1e, 0x1e, 0x1e]],
  ["light", [0xf5, 0xf5, 0xf5]],
  ["blue", [0x2f, 0x6f, 0xb5]],
];

type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

interface Image {
  readonly width: number;
  readonly height: number;
  readonly pixels: readonly Rgba[];
}

/** Reads a PNG as assets/draw.ts writes it: one IDAT, eight bits in each of four channels, no filters. */
function decodePng(file: Buffer): Image {
  expect(file.subarray(1, 4).toString()).toBe("PNG");
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const length = file.readUInt32BE(33);
  expect(file.subarray(37, 41).toString()).toBe("IDAT");
  const rows = inflateSync(file.subarray(41, 41 + length));
  expect(rows).toHaveLength(height * (1 + width * 4));
  const pixels = Array.from({ length: width * height }, (_, index): Rgba => {
    const at = Math.floor(index / width) * (1 + width * 4) + 1 + (index % width) * 4;
    return [rows[at] ?? 0, rows[at + 1] ?? 0, rows[at + 2] ?? 0, rows[at + 3] ?? 0];
  });
  return { width, height, pixels };
}

/** The pictures in a pack of PNGs. */
function decodePngs(pack: Buffer): Image[] {
  const count = pack.readUInt32LE(0);
  let end = 4 * (1 + count);
  return Array.from({ length: count }, (_, n) => {
    const start = end;
    end += pack.readUInt32LE(4 * (1 + n));
    return decodePng(pack.subarray(start, end));
  });
}

function drawnPixels(icon: TrayIcon, size: (typeof sizes)[number]): Rgba[] {
  const { rgba } = drawMark(icon, size);
  return Array.from({ length: size * size }, (_, index): Rgba => {
    const [r = 0, g = 0, b = 0, a = 0] = rgba.subarray(index * 4, index * 4 + 4);
    return [r, g, b, a];
  });
}

/** WCAG's relative luminance of a pixel on a panel of this colour: what a user without colour vision sees. */
function luminance([r, g, b, a]: Rgba, panel: readonly [number, number, number]): number {
  const [red = 0, green = 0, blue = 0] = [r, g, b].map((channel, index) => {
    const value = (channel * a + (panel[index] ?? 0) * (255 - a)) / 255 / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

function luminances(
  icon: TrayIcon,
  size: (typeof sizes)[number],
  panel: readonly [number, number, number],
): number[] {
  return drawnPixels(icon, size).map((pixel) => luminance(pixel, panel));
}

/** How many pixels differ clearly in brightness. */
const countDifferent = (a: readonly number[], b: readonly number[]): number =>
  a.filter((value, index) => contrast(value, b[index] ?? 0) >= 3).length;

describe("assets", () => {
  const files = drawFiles();

  test("are what assets/draw.ts draws: run it after a change of the drawing", async () => {
    for (const [path, bytes] of files) {
      const committed = Buffer.from(await Bun.file(join(assets, path)).arrayBuffer());
      // Another zlib may compress the same pixels differently.
      if (path.endsWith(".png")) expect(decodePng(committed), path).toEqual(decodePng(bytes));
      else if (/(?:xembed|macos)\.pack$/.test(path))
        expect(decodePngs(committed), path).toEqual(decodePngs(bytes));
      else expect(committed.equals(bytes), path).toBe(true);
    }
  });

  test("hold no other pictures than these and the README's, and are small", () => {
    const committed = readdirSync(assets, { recursive: true, encoding: "utf8" }).filter(
      (path) => path.includes(".") && !path.startsWith("readme") && !/\.(?:ts|json)$/.test(path),
    );
    expect(committed.sort()).toEqual([...files.keys()].sort());
    const total = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
    expect(total).toBeLessThan(600_000);
  });

  test("drawn twice are the same bytes", () => {
    for (const [path, bytes] of drawFiles()) expect(files.get(path)?.equals(bytes), path).toBe(true);
  });
});

describe.each(panels.map(([name, colour]) => ({ name, colour })))("on a $name panel", ({ colour }) => {
  test.each(sizes)("every icon stands out at %d pixels", (size) => {
    const background = luminance([0, 0, 0, 0], colour);
    for (const icon of every) {
      const visible = luminances(icon, size, colour).filter((value) => contrast(value, background) >= 3);
      expect(visible.length / (size * size), `${icon.phase} ${icon.count}`).toBeGreaterThan(0.1);
    }
  });

  test.each(sizes)("the phases differ by shape, not only by colour, at %d pixels", (size) => {
    const [calm = [], working = [], blocked = []] = phases.map((icon) => luminances(icon, size, colour));
    expect(countDifferent(calm, working)).toBeGreaterThanOrEqual(size);
    expect(countDifferent(calm, blocked)).toBeGreaterThanOrEqual(size);
    expect(countDifferent(working, blocked)).toBeGreaterThanOrEqual(size);
  });

  test.each(sizes)("no two numbers look alike at %d pixels", (size) => {
    const numbers = counts.map((icon) => luminances(icon, size, colour));
    numbers.forEach((number, index) => {
      for (const other of numbers.slice(index + 1))
        expect(countDifferent(number, other)).toBeGreaterThanOrEqual(2);
    });
  });
});

test.each([16, 18] as const)("every edge lies on whole pixels at %d", (size) => {
  const own = [
    [32, 36, 46, 255],
    [250, 250, 252, 255],
    [214, 218, 226, 255],
    [214, 64, 10, 255],
    [0, 0, 0, 0],
  ].map((colour) => colour.join());
  for (const icon of every)
    for (const pixel of drawnPixels(icon, size))
      expect(own, `${icon.phase} ${icon.count}`).toContain(pixel.join());
});

test.each(smallSizes)("the digits lie on whole pixels at %d", (size) => {
  const paper = [250, 250, 252, 255].join();
  const flame = [214, 64, 10, 255].join();
  for (const count of [1, 4, 7]) {
    // Inside the outline and the round corners every pixel has one of the two colours.
    const inside = drawnPixels({ phase: "blocked", count }, size).filter((_, index) => {
      const [x, y] = [index % size, Math.floor(index / size)];
      return x >= 5 && x < size - 5 && y >= 2 && y < 12;
    });
    const colours = new Set(inside.map((pixel) => pixel.join()));
    expect([...colours].sort()).toEqual([flame, paper].sort());
  }
});

test("a panel on Linux gets every size of the icon, alpha byte first", () => {
  for (const icon of every) {
    const pixmaps = readPixmaps(icon);
    expect(pixmaps.map(([width]) => width)).toEqual([16, 18, 22, 24, 32, 48]);
    for (const [width, height, bytes] of pixmaps) {
      expect(height).toBe(width);
      const pixels = drawnPixels(icon, width as (typeof sizes)[number]);
      expect([...bytes]).toEqual(pixels.flatMap(([r, g, b, a]) => [a, r, g, b]));
    }
  }
});

test("ten and more blocked sessions have the same icon", () => {
  expect(readPixmaps({ phase: "blocked", count: 10 })).toEqual(
    readPixmaps({ phase: "blocked", count: 4_000 }),
  );
  expect(readPixmaps({ phase: "blocked", count: 10 })).not.toEqual(
    readPixmaps({ phase: "blocked", count: 9 }),
  );
});

test("a failed session has the icon with an exclamation mark", () => {
  expect(readPixmaps({ phase: "failed", count: 0 })).toEqual(readPixmaps({ phase: "blocked", count: 0 }));
});

test("an XEmbed tray gets a PNG of 24 pixels", () => {
  for (const icon of every) expect(decodePng(readPng(icon)).pixels).toEqual(drawnPixels(icon, 24));
});

test("macOS gets a black and transparent image for each icon, to colour by itself", () => {
  const images = every.map((icon) => decodePng(readTemplatePng(icon)));
  for (const { width, pixels } of images) {
    expect(width).toBe(36);
    expect(pixels.every(([r, g, b]) => r + g + b === 0)).toBe(true);
    expect(pixels.some(([, , , a]) => a === 255)).toBe(true);
    expect(pixels.some(([, , , a]) => a === 0)).toBe(true);
  }
  // One blocked session is listed twice, as a phase and as a number.
  expect(new Set(images.map(({ pixels }) => pixels.join())).size).toBe(every.length - 1);
});

test("Windows gets every size it asks for in one file", () => {
  const icon: TrayIcon = { phase: "blocked", count: 3 };
  const file = readIco(icon);
  expect([file.readUInt16LE(0), file.readUInt16LE(2), file.readUInt16LE(4)]).toEqual([0, 1, 5]);
  let end = 6 + 5 * 16;
  const listed = [0, 1, 2, 3, 4].map((index) => {
    const at = 6 + index * 16;
    const [size = 0, height = 0] = file.subarray(at, at + 2);
    const [length, offset] = [file.readUInt32LE(at + 8), file.readUInt32LE(at + 12)];
    expect([height, file.readUInt16LE(at + 6), offset]).toEqual([size, 32, end]);
    end += length;
    const bitmap = file.subarray(offset, offset + length);
    expect([bitmap.readUInt32LE(0), bitmap.readInt32LE(4), bitmap.readInt32LE(8)]).toEqual([
      40,
      size,
      size * 2,
    ]);
    return { size, bitmap };
  });
  expect(listed.map(({ size }) => size)).toEqual([16, 20, 24, 32, 48]);
  expect(end).toBe(file.length);
  for (const { size, bitmap } of listed) {
    const pixels = drawnPixels(icon, size as (typeof sizes)[number]);
    const rows = Array.from({ length: size }, (_, y) => pixels.slice(y * size, (y + 1) * size)).toReversed();
    const bytes = rows.flat().flatMap(([r, g, b, a]) => [b, g, r, a]);
    expect([...bitmap.subarray(40, 40 + size * size * 4)]).toEqual(bytes);
  }
  const files = every.map((each) => readIco(each).toString("base64"));
  expect(new Set(files).size).toBe(every.length - 1);
});
