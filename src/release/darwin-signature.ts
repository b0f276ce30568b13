/**
 * The ad-hoc signature of a program for macOS. Bun leaves the one of its own runtime in place where it compiles on another system, and
 * its page hashes are then wrong (Bun 1.4.4 for darwin-x64: 75 of 23,777 pages); macOS kills such a program. The format is that of
 * XNU's osfmk/kern/cs_blobs.h: https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/kern/cs_blobs.h
 */

const magic64 = 0xfeedfacf;
const segmentCommand = 0x19;
const signatureCommand = 0x1d;
const headerBytes = 32;

const superBlobMagic = 0xfade0cc0;
const codeDirectoryMagic = 0xfade0c02;
/** With the limits of the executable segment, which macOS 10.14 and newer read. */
const codeDirectoryVersion = 0x20400;
const codeDirectoryBytes = 88;
const isAdHoc = 0x2;
const isMainBinary = 0x1;
const sha256Type = 2;
const hashBytes = 32;
const pageShift = 12;
const pageBytes = 1 << pageShift;
/** Segments begin and end at pages of this size on arm64. Those of x64 are smaller and fit in. */
const segmentAlignment = 0x4000;

const alignUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;

interface Layout {
  /** Where the load command is that names the signature. */
  readonly command: number;
  /** Where the signature is. Everything before it is signed. */
  readonly start: number;
  readonly length: number;
  /** Where the load command of the last segment is, which the signature belongs to. */
  readonly linkEdit: number;
  readonly textSegment: { readonly start: number; readonly length: number };
}

/** Throws if it is not a signed 64-bit program for macOS. */
function readLayout(file: Buffer): Layout {
  if (file.readUInt32LE(0) !== magic64) throw new Error("not a 64-bit program for macOS");
  let signature: Pick<Layout, "command" | "start" | "length"> | null = null;
  let linkEdit: number | null = null;
  let textSegment: Layout["textSegment"] | null = null;
  let at = headerBytes;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const type = file.readUInt32LE(at);
    if (type === signatureCommand)
      signature = { command: at, start: file.readUInt32LE(at + 8), length: file.readUInt32LE(at + 12) };
    if (type === segmentCommand) {
      const name = file.toString("latin1", at + 8, at + 24).replace(/\0+$/, "");
      if (name === "__LINKEDIT") linkEdit = at;
      if (name === "__TEXT")
        textSegment = {
          start: Number(file.readBigUInt64LE(at + 40)),
          length: Number(file.readBigUInt64LE(at + 48)),
        };
    }
    at += file.readUInt32LE(at + 4);
  }
  if (!signature || linkEdit === null || !textSegment)
    throw new Error("the program has no signature to replace");
  return { ...signature, linkEdit, textSegment };
}

const countPages = (length: number): number => Math.ceil(length / pageBytes);

const hashPage = (file: Buffer, page: number, end: number): Buffer =>
  new Bun.CryptoHasher("sha256")
    .update(file.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, end)))
    .digest() as Buffer;

/** The program with an ad-hoc signature in place of the one it has. */
export function signProgram(program: Buffer, identifier: string): Buffer {
  const { command, start, linkEdit, textSegment } = readLayout(program);
  const hashesAt = codeDirectoryBytes + identifier.length + 1;
  const blobLength = hashesAt + countPages(start) * hashBytes;
  const superBlobBytes = 20;
  const length = alignUp(superBlobBytes + blobLength, 16);
  const signed = Buffer.concat([program.subarray(0, start), Buffer.alloc(length)]);

  // Before the pages are hashed, because these numbers are on the first one.
  signed.writeUInt32LE(length, command + 12);
  const linkEditStart = Number(signed.readBigUInt64LE(linkEdit + 40));
  const linkEditLength = start + length - linkEditStart;
  signed.writeBigUInt64LE(BigInt(alignUp(linkEditLength, segmentAlignment)), linkEdit + 32);
  signed.writeBigUInt64LE(BigInt(linkEditLength), linkEdit + 48);

  const superBlob = signed.subarray(start);
  // One blob in it, of type 0: the code directory.
  for (const [n, value] of [superBlobMagic, superBlobBytes + blobLength, 1, 0, superBlobBytes].entries())
    superBlob.writeUInt32BE(value, n * 4);
  const directory = superBlob.subarray(superBlobBytes);
  const fields = [
    codeDirectoryMagic,
    blobLength,
    codeDirectoryVersion,
    isAdHoc,
    hashesAt,
    codeDirectoryBytes,
    0,
    countPages(start),
    start,
  ];
  for (const [n, value] of fields.entries()) directory.writeUInt32BE(value, n * 4);
  directory.set([hashBytes, sha256Type, 0, pageShift], 36);
  directory.writeBigUInt64BE(BigInt(textSegment.start), 64);
  directory.writeBigUInt64BE(BigInt(textSegment.length), 72);
  directory.writeBigUInt64BE(BigInt(isMainBinary), 80);
  directory.write(identifier, codeDirectoryBytes, "latin1");
  for (let page = 0; page < countPages(start); page++)
    hashPage(signed, page, start).copy(directory, hashesAt + page * hashBytes);
  return signed;
}

export interface SignatureCheck {
  readonly identifier: string;
  readonly pages: number;
  readonly wrongPages: number;
}

/** Compares every page with its hash in the signature. */
export function checkSignature(program: Buffer): SignatureCheck {
  const { start, length } = readLayout(program);
  const superBlob = program.subarray(start, start + length);
  if (superBlob.readUInt32BE(0) !== superBlobMagic) throw new Error("the program has no signature");
  const directory = superBlob.subarray(superBlob.readUInt32BE(16));
  if (directory.readUInt32BE(0) !== codeDirectoryMagic)
    throw new Error("the signature has no code directory");
  const [hashesAt, identifierAt] = [directory.readUInt32BE(16), directory.readUInt32BE(20)];
  const [pages, end] = [directory.readUInt32BE(28), directory.readUInt32BE(32)];
  const isRight = (page: number): boolean => {
    const at = hashesAt + page * hashBytes;
    return directory.subarray(at, at + hashBytes).equals(hashPage(program, page, end));
  };
  const wrongPages = Array.from({ length: pages }, (_, page) => page).filter((page) => !isRight(page)).length;
  const identifier = directory.toString("latin1", identifierAt, directory.indexOf(0, identifierAt));
  return { identifier, pages, wrongPages: end === start ? wrongPages : pages };
}
