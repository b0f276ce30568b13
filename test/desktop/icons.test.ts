import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { drawn } from "../../assets/draw.ts";
import type { TrayIcon } from "../../src/core/view/view.ts";
import { argb, ico, png, templatePng } from "../../src/desktop/tray/icons.ts";

const assets = join(import.meta.dir, "../../assets");
const small = [16, 20, 22, 24] as const;
const sizes = [...small, 32, 48] as const;
const phases: readonly TrayIcon[] = [
  { phase: "calm", count: 0 },
  { phase: "working", count: 0 },
  { phase: "blocked", count: 1 },
];
const counts: readonly TrayIcon[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((count) => ({
  phase: "blocked",
  count,
}));
const panels: readonly (readonly [string, readonly [number, number, number]])[] = [
  ["dark", [0x1e, 0x1e, 0x1e]],
  ["light", [0xf5, 0xf5, 0xf5]],
  ["blue", [0x2f, 0x6f, 0xb5]],
];

type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

interface Read {
  readonly width: number;
  readonly height: number;
  readonly pixels: readonly Rgba[];
}

/** A PNG as we write it: one IDAT, eight bits of four channels, no filters. */
function readPng(file: Buffer): Read {
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

/** WCAG's relative luminance of a pixel as it is seen on a panel: what is left to those who see no colour. */
function luminance([r, g, b, a]: Rgba, panel: readonly [number, number, number]): number {
  const [red = 0, green = 0, blue = 0] = [r, g, b].map((channel, index) => {
    const seen = (channel * a + (panel[index] ?? 0) * (255 - a)) / 255 / 255;
    return seen <= 0.04045 ? seen / 12.92 : ((seen + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const contrast = (one: number, other: number): number =>
  (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);

function seen(
  icon: TrayIcon,
  size: (typeof sizes)[number],
  panel: readonly [number, number, number],
): number[] {
  return readPng(png(icon, size)).pixels.map((pixel) => luminance(pixel, panel));
}

/** Pixels that a person without colours tells apart. */
const different = (one: readonly number[], other: readonly number[]): number =>
  one.filter((value, index) => contrast(value, other[index] ?? 0) >= 3).length;

describe("assets", () => {
  const files = drawn();

  test("are what assets/draw.ts draws: run it after a change of the drawing", async () => {
    for (const [path, bytes] of files) {
      const there = Buffer.from(await Bun.file(join(assets, path)).arrayBuffer());
      // Another zlib may pack the same pixels otherwise.
      if (path.endsWith(".png")) expect(readPng(there), path).toEqual(readPng(bytes));
      else expect(there.equals(bytes), path).toBe(true);
    }
  });

  test("hold nothing else but the README's pictures, and weigh little", () => {
    const there = readdirSync(assets, { recursive: true, encoding: "utf8" }).filter(
      (path) => path.includes(".") && !path.startsWith("readme"),
    );
    const expected = ["draw.ts", ...files.keys()];
    expect(there.sort()).toEqual(expected.sort());
    const total = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
    expect(total).toBeLessThan(300_000);
  });

  test("drawn twice are the same bytes", () => {
    for (const [path, bytes] of drawn()) expect(files.get(path)?.equals(bytes), path).toBe(true);
  });
});

describe.each(panels.map(([name, colour]) => ({ name, colour })))("on a $name panel", ({ colour }) => {
  test.each(sizes)("every icon stands out at %d pixels", (size) => {
    const bare = luminance([0, 0, 0, 0], colour);
    for (const icon of [...phases, ...counts]) {
      const clear = seen(icon, size, colour).filter((value) => contrast(value, bare) >= 3).length;
      expect(clear / (size * size), `${icon.phase} ${icon.count}`).toBeGreaterThan(0.1);
    }
  });

  test.each(sizes)("the phases differ by shape, not only by colour, at %d pixels", (size) => {
    const [calm = [], working = [], blocked = []] = phases.map((icon) => seen(icon, size, colour));
    expect(different(calm, working)).toBeGreaterThanOrEqual(size);
    expect(different(calm, blocked)).toBeGreaterThanOrEqual(size);
    expect(different(working, blocked)).toBeGreaterThanOrEqual(size);
  });

  test.each(sizes)("no number can be taken for another at %d pixels", (size) => {
    const all = counts.map((icon) => seen(icon, size, colour));
    all.forEach((one, index) => {
      for (const other of all.slice(index + 1)) expect(different(one, other)).toBeGreaterThanOrEqual(2);
    });
  });
});

test.each(small)("the digits lie on whole pixels at %d", (size) => {
  const paper = [250, 250, 252, 255].join();
  const flame = [214, 64, 10, 255].join();
  // The body without its ring and round corners: there every pixel is of the one or the other.
  for (const icon of [
    { phase: "blocked", count: 1 },
    { phase: "blocked", count: 4 },
    { phase: "blocked", count: 7 },
  ] as const) {
    const { pixels, width } = readPng(png(icon, size));
    const inside = pixels.filter((_, index) => {
      const [x, y] = [index % width, Math.floor(index / width)];
      return x >= 5 && x < width - 5 && y >= 2 && y < 12;
    });
    const colours = new Set(inside.map((pixel) => pixel.join()));
    expect([...colours].sort()).toEqual([flame, paper].sort());
  }
});

test("more than nine look alike, whatever their number", () => {
  expect(png({ phase: "blocked", count: 10 }, 22)).toEqual(png({ phase: "blocked", count: 4_000 }, 22));
  expect(png({ phase: "blocked", count: 10 }, 22)).not.toEqual(png({ phase: "blocked", count: 9 }, 22));
});

test("a panel gets the same pixels as a file, alpha first", () => {
  for (const icon of phases) {
    const { width, height, bytes } = argb(icon, 22);
    expect([width, height, bytes.length]).toEqual([22, 22, 22 * 22 * 4]);
    const pixels = readPng(png(icon, 22)).pixels;
    expect([...bytes]).toEqual(pixels.flatMap(([r, g, b, a]) => [a, r, g, b]));
  }
});

test("macOS gets black and clear, to colour as it needs", () => {
  for (const icon of [...phases, ...counts]) {
    for (const size of [18, 36] as const) {
      const { width, pixels } = readPng(templatePng(icon, size));
      expect(width).toBe(size);
      expect(pixels.every(([r, g, b]) => r + g + b === 0)).toBe(true);
      expect(pixels.some(([, , , a]) => a === 255)).toBe(true);
      expect(pixels.some(([, , , a]) => a === 0)).toBe(true);
    }
  }
});

test("Windows gets every size it asks for in one file", () => {
  const file = ico({ phase: "blocked", count: 3 });
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
    const { pixels } = readPng(png({ phase: "blocked", count: 3 }, size as 16));
    const rows = Array.from({ length: size }, (_, y) => pixels.slice(y * size, (y + 1) * size)).toReversed();
    const bytes = rows.flat().flatMap(([r, g, b, a]) => [b, g, r, a]);
    expect([...bitmap.subarray(40, 40 + size * size * 4)]).toEqual(bytes);
  }
});
