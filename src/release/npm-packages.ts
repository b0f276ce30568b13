/**
 * The npm packages: one for each target, and `beckon`, which has them as optional dependencies and starts the one that npm chose.
 * No script runs at the install.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { author, description, engines, license, repository, version } from "../../package.json";
import type { ArchivedFile } from "./archive.ts";
import { type Documents, documentPaths } from "./contents.ts";
import type { BuildTarget } from "./targets.ts";

const shared = { version, description, license, author, repository };

/** npm's own words for a system. */
const osOf = ({ system }: BuildTarget): string => (system === "windows" ? "win32" : system);

const asJson = (path: string, value: unknown): ArchivedFile => ({
  path,
  bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
});

const list = (documents: Documents, names: readonly (keyof Documents)[]): readonly ArchivedFile[] =>
  names.map((name) => ({ path: `package/${documentPaths[name]}`, bytes: documents[name] }));

/** npm itself calls its files `name-version.tgz`. */
export const packedNameOf = (name: string): string => `${name}-${version}.tgz`;

export const packageNameOf = ({ name }: BuildTarget): string => `beckon-${name}`;

export function listPlatformPackage(
  target: BuildTarget,
  programs: readonly ArchivedFile[],
  documents: Documents,
): readonly ArchivedFile[] {
  const { cpu, system, libc } = target;
  return [
    asJson("package/package.json", {
      name: packageNameOf(target),
      ...shared,
      os: [osOf(target)],
      // Windows on arm64 runs programs for x64.
      cpu: system === "windows" ? ["x64", "arm64"] : [cpu],
      ...(libc === null ? {} : { libc: [libc] }),
      preferUnplugged: true,
    }),
    ...programs.map((file) => ({ ...file, path: `package/bin/${file.path}` })),
    ...list(documents, ["licence", "notices"]),
  ];
}

export function listWrapperPackage(
  targets: readonly BuildTarget[],
  documents: Documents,
): readonly ArchivedFile[] {
  const dependencies = targets.map((target) => [packageNameOf(target), version] as const);
  return [
    asJson("package/package.json", {
      name: "beckon",
      ...shared,
      bin: { beckon: "bin/beckon.js" },
      engines,
      optionalDependencies: Object.fromEntries(dependencies),
    }),
    {
      path: "package/bin/beckon.js",
      bytes: readFileSync(join(import.meta.dir, "packages/npm/beckon.js")),
      isExecutable: true,
    },
    ...list(documents, ["licence", "notices", "readme"]),
  ];
}
