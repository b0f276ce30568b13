/** Encodes pictures as PNG, ICO and raw ARGB32, and packs several files into one. */
import { crc32, deflateSync } from "node:zlib";
import type { Picture } from "./shapes.ts";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function encodeChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

export function encodePng({ width, height, rgba }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per channel, red, green, blue and alpha.
  header.set([8, 6], 8);
  const rows = Buffer.alloc(height * (1 + width * 4));
  for (let y = 0; y < height; y++) {
    rows.set(rgba.subarray(y * width * 4, (y + 1) * width * 4), y * (1 + width * 4) + 1);
  }
  return Buffer.concat([
    signature,
    encodeChunk("IHDR", header),
    encodeChunk("IDAT", deflateSync(rows, { level: 9 })),
    encodeChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Holds bitmaps, not PNGs: every Windows and every Wine reads those at every size. */
export function encodeIco(pictures: readonly Picture[]): Buffer {
  const bitmaps = pictures.map(encodeBitmap);
  const header = Buffer.alloc(6 + 16 * pictures.length);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(pictures.length, 4);
  let offset = header.length;
  pictures.forEach(({ width, height }, index) => {
    const at = 6 + 16 * index;
    const { length = 0 } = bitmaps[index] ?? {};
    header.set([width % 256, height % 256], at);
    header.writeUInt16LE(1, at + 4);
    header.writeUInt16LE(32, at + 6);
    header.writeUInt32LE(length, at + 8);
    header.writeUInt32LE(offset, at + 12);
    offset += length;
  });
  return Buffer.concat([header, ...bitmaps]);
}

function encodeBitmap({ width, height, rgba }: Picture): Buffer {
  const info = Buffer.alloc(40);
  info.writeUInt32LE(40, 0);
  info.writeInt32LE(width, 4);
  // The format counts the rows of the mask too.
  info.writeInt32LE(height * 2, 8);
  info.writeUInt16LE(1, 12);
  info.writeUInt16LE(32, 14);
  const maskRow = Math.ceil(width / 32) * 4;
  const colours = Buffer.alloc(width * height * 4);
  const mask = Buffer.alloc(maskRow * height);
  for (let y = 0; y < height; y++) {
    // Bitmaps are stored from the bottom up.
    const row = height - 1 - y;
    for (let x = 0; x < width; x++) {
      const [r = 0, g = 0, b = 0, a = 0] = rgba.subarray((row * width + x) * 4, (row * width + x) * 4 + 4);
      colours.set([b, g, r, a], (y * width + x) * 4);
      const byte = y * maskRow + (x >> 3);
      if (a === 0) mask[byte] = (mask[byte] ?? 0) | (0x80 >> (x & 7));
    }
  }
  return Buffer.concat([info, colours, mask]);
}

/** ARGB32 with the alpha byte first, as StatusNotifierItem takes it. */
export function encodeArgb({ rgba }: Picture): Buffer {
  const bytes = Buffer.alloc(rgba.length);
  for (let at = 0; at < rgba.length; at += 4) {
    bytes[at] = rgba[at + 3] ?? 0;
    bytes.set(rgba.subarray(at, at + 3), at + 1);
  }
  return bytes;
}

/** The number of files, the length of each, and the files: src/desktop/tray/icons.ts reads it. */
export function encodePack(files: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(4 * (1 + files.length));
  header.writeUInt32LE(files.length, 0);
  files.forEach(({ length }, index) => {
    header.writeUInt32LE(length, 4 * (1 + index));
  });
  return Buffer.concat([header, ...files]);
}
