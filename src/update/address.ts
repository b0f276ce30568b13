/** Where releases are: the setting `repository` of package.json is the only place that names it. */
import { repository } from "../../package.json";
import type { Env } from "../system/folders.ts";

/** `owner/name` */
export const repositoryName = repository.replace(/^github:/, "");
export const repositoryUrl = `https://github.com/${repositoryName}`;

/** The folder of a version's files. */
export const releaseUrlOf = (version: string): string => `${repositoryUrl}/releases/download/v${version}`;

export interface Releases {
  /** The folder of the newest version's files. */
  readonly newest: string;
  readonly folderOf: (version: string) => string;
}

/** The public ones, or the folder with the files of one release that BECKON_DOWNLOAD_URL names. Throws if that is not safe. */
export function findReleases({ BECKON_DOWNLOAD_URL: mirror }: Env): Releases {
  if (!mirror) return { newest: `${repositoryUrl}/releases/latest/download`, folderOf: releaseUrlOf };
  if (!isSafeUrl(mirror)) throw new Error(`BECKON_DOWNLOAD_URL must begin with https://, but is ${mirror}`);
  const folder = mirror.replace(/\/+$/, "");
  return { newest: folder, folderOf: () => folder };
}

/** Only https, except from this machine: for mirrors on it, and tests. The install scripts have the same rule. */
export const isSafeUrl = (url: string): boolean =>
  /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/.test(url);
