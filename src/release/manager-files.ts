/** The files that package managers read, filled from the version and the checksums. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReleaseFile } from "../update/manifest.ts";
import { fillTemplate, type TemplateValues } from "./template.ts";

const names = [
  "homebrew/beckon.rb",
  "scoop/beckon.json",
  "winget/beckon.beckon.yaml",
  "winget/beckon.beckon.locale.en-US.yaml",
  "winget/beckon.beckon.installer.yaml",
  "aur/PKGBUILD",
  "aur/.SRCINFO",
  "nix/flake.nix",
] as const;

export const readTemplate = (name: string): string =>
  readFileSync(join(import.meta.dir, "packages", name), "utf8");

/** Name and text of each. Throws if one names a file that the release does not have. */
export function fillManagerFiles(
  values: TemplateValues,
  files: readonly ReleaseFile[],
): readonly (readonly [name: string, text: string])[] {
  const ofFiles = files.flatMap(({ name, sha256 }) => [
    [`sha256 ${name}`, sha256],
    [`url ${name}`, `${values.releaseUrl}/${name}`],
  ]);
  const all = { ...values, ...Object.fromEntries(ofFiles) };
  return names.map((name) => [name, fillTemplate(readTemplate(name), all)]);
}
