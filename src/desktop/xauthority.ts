/** The cookie that lets us talk to the X server, from XAUTHORITY. */
import { readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { join } from "node:path";

interface Entry {
  readonly family: number;
  readonly address: Buffer;
  readonly display: string;
  readonly name: string;
  readonly data: Buffer;
}

const localFamily = 256;
const anyFamily = 65535;

/** null: none is kept for it; the server may let us in by user. */
export async function cookieFor(
  display: number,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Buffer | null> {
  const path = env.XAUTHORITY || join(env.HOME || homedir(), ".Xauthority");
  const file = await readFile(path).catch(() => null);
  if (file === null) return null;
  const usable = readEntries(file).filter(
    (entry) =>
      entry.name === "MIT-MAGIC-COOKIE-1" && (entry.display === "" || entry.display === String(display)),
  );
  const here = Buffer.from(hostname());
  const found =
    usable.find((entry) => entry.family === localFamily && entry.address.equals(here)) ??
    usable.find((entry) => entry.family === anyFamily) ??
    // Hosts are renamed; the display's number still tells whose it is.
    usable.find((entry) => entry.family === localFamily);
  return found?.data ?? null;
}

export function readEntries(file: Buffer): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  const part = (): Buffer => {
    const length = file.readUInt16BE(at);
    at += 2 + length;
    if (at > file.length) throw new RangeError("cut short");
    return file.subarray(at - length, at);
  };
  try {
    while (at < file.length) {
      const family = file.readUInt16BE(at);
      at += 2;
      const [address, display, name, data] = [part(), part().toString(), part().toString(), part()];
      entries.push({ family, address, display, name, data });
    }
  } catch {
    // A file that is being written ends in the middle: what is whole counts.
  }
  return entries;
}
