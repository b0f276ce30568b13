/** The licences of what is inside the binary: Bun with what it links, and npm packages. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const repo = resolve(import.meta.dir, "../..");

export interface Package {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** From the repository's root. */
  readonly folder: string;
}

interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

/** assets/prices was made from its data. */
const usedAsData: ReadonlySet<string> = new Set(["node_modules/@pydantic/genai-prices"]);

/** What beckon depends on, directly and indirectly, as package-lock.json says. */
export function listPackages(): readonly Package[] {
  const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
    readFileSync(join(repo, "package-lock.json"), "utf8"),
  );
  return Object.entries(lock.packages)
    .filter(([folder, { dev, optional, devOptional }]) =>
      usedAsData.has(folder) ? true : folder !== "" && !dev && !optional && !devOptional,
    )
    .map(([folder, { version, license }]) => {
      const name = folder.replace(/^.*node_modules\//, "");
      if (license === undefined) throw new Error(`package-lock.json does not say the licence of ${name}`);
      return { name, version, licence: license, folder };
    });
}

/** Programs inside of npm packages, which have other licences than the package. */
const embeddedPrograms = `SnoreToast (in the program for Windows only, as a file of its own, from the npm package node-notifier)
Copyright Hannah von Reth. LGPL-3.0, whose text is below. Source: https://github.com/KDE/snoretoast

The tray program of systray2 (in the programs for Linux x64 and Windows, as a file of its own)
MIT, as systray2. Source: https://github.com/felixhao28/systray-portable`;

const bunSource = (version: string): string => `Bun ${version}
https://github.com/oven-sh/bun/tree/bun-v${version}

The program consists of Bun's runtime, unchanged, and of beckon's own code. To use another build of Bun, or of a library that it links:
build beckon with it (CONTRIBUTING.md). Bun says of itself:`;

const rule = `\n\n${"-".repeat(80)}\n\n`;

export function formatNotices(packages: readonly Package[]): string {
  const bun = readFileSync(join(repo, "node_modules/bun-types/docs/project/license.mdx"), "utf8");
  const licences = ["LGPL-2", "LGPL-2.1", "LGPL-3", "GPL-3"].map((name) =>
    readFileSync(join(import.meta.dir, "licences", `${name}.txt`), "utf8").trim(),
  );
  return `${[
    "beckon is under the MIT licence (LICENSE). It contains the following.",
    `${bunSource(Bun.version)}\n\n${bun.replace(/^---\n.*?\n---\n/s, "").trim()}`,
    embeddedPrograms,
    ...packages.map(formatPackage),
    ...licences,
  ].join(rule)}\n`;
}

function formatPackage({ name, version, licence, folder }: Package): string {
  const path = join(repo, folder);
  const files = existsSync(path)
    ? readdirSync(path).filter((file) => /^(licen[cs]e|notice)/i.test(file))
    : [];
  const texts = files.toSorted().map((file) => readFileSync(join(path, file), "utf8").trim());
  return [`${name} ${version} (${licence})`, ...texts].join("\n\n");
}
