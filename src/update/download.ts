/** Downloads the files of a release. Everything that fails throws an error for the user. */
import { describeFetchFailure } from "../system/fetch-failure.ts";
import { isSafeUrl, type Releases } from "./address.ts";
import { type Manifest, parseManifest, type ReleaseFile } from "./manifest.ts";

const manifestTimeoutMs = 20_000;
const maxManifestBytes = 1024 * 1024;
/** 60 MB over a slow line. A connection that is lost ends earlier. */
const archiveTimeoutMs = 30 * 60_000;

export type Release = Pick<Manifest, "version" | "files">;

/** The newest release. */
export async function fetchRelease({ newest }: Releases): Promise<Release> {
  const url = `${newest}/manifest.json`;
  const { bytes } = await fetchBytes(url, { maxBytes: maxManifestBytes, timeoutMs: manifestTimeoutMs });
  const release = parseManifest(new TextDecoder().decode(bytes));
  if (release === null) throw new Error(`${url} is not the manifest of a release`);
  return release;
}

/** The file as the manifest describes it, or an error. */
export async function downloadFile(
  folder: string,
  { name, size, sha256 }: ReleaseFile,
): Promise<Uint8Array<ArrayBuffer>> {
  const url = `${folder}/${name}`;
  const { bytes, problem } = await fetchBytes(url, { maxBytes: size, timeoutMs: archiveTimeoutMs });
  if (bytes.length !== size) {
    const why = problem ?? "the server has another file than the manifest says";
    throw new Error(`${url} was not downloaded as a whole: ${bytes.length} of ${size} bytes arrived. ${why}`);
  }
  const actual = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  if (actual !== sha256) throw new Error(`the checksum of ${name} is wrong: ${actual} instead of ${sha256}`);
  return bytes;
}

interface Fetched {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Why the rest is missing; null if it ended as it should. */
  readonly problem: string | null;
}

async function fetchBytes(
  url: string,
  { maxBytes, timeoutMs }: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<Fetched> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((cause) => {
    throw new Error(`${url} could not be downloaded: ${describeFetchFailure(url, cause)}`, { cause });
  });
  // A redirect can lead anywhere.
  if (!isSafeUrl(response.url)) throw new Error(`${url} leads to ${response.url}, which is not https`);
  if (!response.ok) {
    const why =
      response.status === 404 ? "the server does not have it" : `the server answered ${response.status}`;
    throw new Error(`${url} could not be downloaded: ${why}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  let problem: string | null = null;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) break;
    }
  } catch (error) {
    problem = describeFetchFailure(url, error);
  }
  return { bytes: new Uint8Array(Buffer.concat(chunks)), problem };
}
