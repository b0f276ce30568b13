/** Package managers that may have installed beckon. Such a program stays where it is, and its manager updates it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Exec } from "../core/interfaces/index.ts";

export interface PackageOwner {
  readonly name: string;
  /** The command that updates beckon. */
  readonly update: string;
  /** The path of the program that stays the same when it is updated. */
  readonly binary: string;
}

interface Manager {
  readonly name: string;
  readonly update: string;
  /** null if the program is not this manager's. */
  findBinary(program: string, home: string): string | null;
}

const firstOf = (paths: readonly string[], program: string): string =>
  paths.find((path) => existsSync(path)) ?? program;

/** Known by the folder that the program is in. */
const byFolder: readonly Manager[] = [
  {
    name: "Homebrew",
    update: "brew upgrade beckon",
    // Its folder has the version in its name; the link to it has not.
    findBinary: (program) =>
      /^(.*)\/Cellar\/beckon\/[^/]+\/bin\/beckon$/.exec(program)?.[1]?.concat("/bin/beckon") ?? null,
  },
  {
    name: "Nix",
    update: "nix profile upgrade beckon",
    findBinary: (program, home) =>
      program.startsWith("/nix/store/")
        ? firstOf([join(home, ".nix-profile/bin/beckon"), "/run/current-system/sw/bin/beckon"], program)
        : null,
  },
  {
    name: "Scoop",
    update: "scoop update beckon",
    findBinary: (program) =>
      /^(.*\\scoop\\apps\\beckon\\)[^\\]+\\beckon\.exe$/i.exec(program)?.[1]?.concat("current\\beckon.exe") ??
      null,
  },
  {
    name: "winget",
    update: "winget upgrade beckon.beckon",
    findBinary: (program) => (/\\WinGet\\Packages\\beckon\.beckon_/i.test(program) ? program : null),
  },
  {
    name: "npm",
    update: "npm install --global beckon@latest",
    // What npx has fetched is only kept for a while, so it is copied like a download.
    findBinary: (program) =>
      /[\\/]node_modules[\\/]beckon-[\w-]+[\\/]bin[\\/]beckon(?:\.exe)?$/.test(program) &&
      !/[\\/]_npx[\\/]/.test(program)
        ? program
        : null,
  },
];

/** Those of Linux keep lists of their files. */
const byList: readonly (Pick<Manager, "name" | "update"> & { readonly query: readonly string[] })[] = [
  {
    name: "apt",
    update: "sudo apt install ./beckon_VERSION_ARCHITECTURE.deb",
    query: ["dpkg-query", "--search"],
  },
  { name: "rpm", update: "sudo rpm --upgrade beckon-VERSION.rpm", query: ["rpm", "--query", "--file"] },
  {
    name: "pacman",
    update: "update beckon-bin from the AUR, with yay -S beckon-bin for example",
    query: ["pacman", "-Qqo"],
  },
];

/** Their lists are large, and read from a cold disk. */
const queryTimeoutMs = 10_000;

export async function findPackageOwner(
  program: string,
  home: string,
  exec: Exec,
): Promise<PackageOwner | null> {
  for (const { name, update, findBinary } of byFolder) {
    const binary = findBinary(program, home);
    if (binary !== null) return { name, update, binary };
  }
  if (!program.startsWith("/usr/bin/")) return null;
  for (const { name, update, query } of byList)
    if ((await exec([...query, program], { timeoutMs: queryTimeoutMs })).code === 0)
      return { name, update, binary: program };
  return null;
}
