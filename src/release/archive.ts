/** Archives with the same bytes for the same files: sorted, one time for all of them, owned by root. Pure. */
import { crc32, deflateRawSync } from "node:zlib";

export interface ArchivedFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly isExecutable?: boolean;
}

const byPath = (files: readonly ArchivedFile[]): readonly ArchivedFile[] =>
  files.toSorted((a, b) => (a.path < b.path ? -1 : 1));

const blockBytes = 512;
const modeOf = ({ isExecutable = false }: ArchivedFile): number => (isExecutable ? 0o755 : 0o644);

/** In the format ustar, which every tar reads. */
export function encodeTar(files: readonly ArchivedFile[], seconds: number): Buffer {
  const parts = byPath(files).flatMap((file) => {
    const padding = Buffer.alloc((blockBytes - (file.bytes.length % blockBytes)) % blockBytes);
    return [encodeTarHeader(file, seconds), file.bytes, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

function encodeTarHeader(file: ArchivedFile, seconds: number): Buffer {
  const { path, bytes } = file;
  if (Buffer.byteLength(path) > 100) throw new Error(`too long for ustar: ${path}`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, length: number): void => {
    header.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  };
  header.write(path, 0);
  octal(modeOf(file), 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes.length, 124, 12);
  octal(seconds, 136, 12);
  header.write("        0", 148, "latin1");
  header.write("ustar\u000000root", 257, "latin1");
  header.write("root", 297, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

const madeOnUnix = 3 << 8;
const zipVersion = 20;
const deflated = 8;

/** Its times are in UTC, although the format has no time zone: otherwise they would depend on where the archive was made. */
export function encodeZip(files: readonly ArchivedFile[], seconds: number, level: number): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const file of byPath(files)) {
    const name = Buffer.from(file.path);
    const data = deflateRawSync(file.bytes, { level });
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(zipVersion, 0);
    shared.writeUInt16LE(deflated, 4);
    shared.writeUInt32LE(formatDosTime(seconds), 6);
    shared.writeUInt32LE(crc32(file.bytes), 10);
    shared.writeUInt32LE(data.length, 14);
    shared.writeUInt32LE(file.bytes.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const start = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), shared, name]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((modeOf(file) | 0o100000) << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE(madeOnUnix | zipVersion);
    central.push(Buffer.from("PK\x01\x02", "latin1"), madeBy, shared, rest, name);
    local.push(start, data);
    offset += start.length + data.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}

function formatDosTime(seconds: number): number {
  const date = new Date(seconds * 1000);
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}
