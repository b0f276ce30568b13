/** Takes the program out of an archive of a release. */
import { inflateRawSync } from "node:zlib";

/** Throws if the archive does not have the file. */
export async function unpackFile(archive: Uint8Array<ArrayBuffer>, path: string): Promise<Uint8Array> {
  const bytes = isZip(archive)
    ? findInZip(Buffer.from(archive.buffer), path)
    : await findInTar(archive, path);
  if (bytes === null) throw new Error(`${path} is missing in the archive`);
  return bytes;
}

async function findInTar(archive: Uint8Array<ArrayBuffer>, path: string): Promise<Uint8Array | null> {
  const files = await new Bun.Archive(archive).files(path);
  return (await files.get(path)?.bytes()) ?? null;
}

const isZip = (archive: Uint8Array): boolean => archive[0] === 0x50 && archive[1] === 0x4b;

const endSignature = Buffer.from("PK\x05\x06", "latin1");
const stored = 0;

/** Bun.Archive reads no zip. Only archives of releases come here: their checksum was right. */
function findInZip(archive: Buffer, path: string): Uint8Array | null {
  const end = archive.lastIndexOf(endSignature);
  if (end < 0) return null;
  let entry = archive.readUInt32LE(end + 16);
  for (let count = archive.readUInt16LE(end + 10); count > 0; count--) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((at) =>
      archive.readUInt16LE(entry + at),
    );
    const name = archive.toString("utf8", entry + 46, entry + 46 + (nameLength ?? 0));
    if (name === path) return readZipEntry(archive, entry);
    entry += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return null;
}

/** `entry` is where the directory describes it. */
function readZipEntry(archive: Buffer, entry: number): Uint8Array {
  const local = archive.readUInt32LE(entry + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const data = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
  return archive.readUInt16LE(entry + 10) === stored ? data : inflateRawSync(data);
}
