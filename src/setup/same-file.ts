/** A large file's hash, a piece at a time. */
import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";

const pieceBytes = 1024 * 1024;

export function sha256OfFile(path: string): string {
  const hash = new Bun.CryptoHasher("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  const fd = openSync(path, "r");
  try {
    for (;;) {
      const length = readSync(fd, piece, 0, pieceBytes, null);
      if (length === 0) return hash.digest("hex");
      hash.update(piece.subarray(0, length));
    }
  } finally {
    closeSync(fd);
  }
}

export function isSamePlace(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

export function isSameContent(a: string, b: string): boolean {
  try {
    return statSync(a).size === statSync(b).size && sha256OfFile(a) === sha256OfFile(b);
  } catch {
    return false;
  }
}
