/** What a release consists of: manifest.json for programs, SHA256SUMS for people and scripts. Pure. */
import type { Manifest, ReleaseFile } from "../update/manifest.ts";

export const describeFile = (name: string, bytes: Buffer): ReleaseFile => ({
  name,
  size: bytes.length,
  sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
});

export const formatManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** As `sha256sum` prints it. */
export const formatSums = (files: readonly ReleaseFile[]): string =>
  files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join("");
