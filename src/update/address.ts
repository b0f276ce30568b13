/** Where releases are: the setting `repository` of package.json is the only place that names it. */
import { repository } from "../../package.json";

/** `owner/name` */
export const repositoryName = repository.replace(/^github:/, "");
export const repositoryUrl = `https://github.com/${repositoryName}`;

/** The folder of a version's files. */
export const releaseUrlOf = (version: string): string => `${repositoryUrl}/releases/download/v${version}`;
