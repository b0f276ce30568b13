/** The systems that beckon is built for. Pure. */

export interface BuildTarget {
  /** As in file names: `beckon-linux-x64-musl.tar.gz`. */
  readonly name: string;
  readonly system: "linux" | "darwin" | "windows";
  readonly cpu: "x64" | "arm64";
  readonly libc: "glibc" | "musl" | null;
  readonly bun: Bun.Build.CompileTarget;
}

/**
 * Baseline builds run on x64 processors without AVX2 too. Windows on arm64 is missing because Bun's build for it has no TinyCC, so
 * bun:ffi cannot call the system there, and neither icon nor menu would work; Windows runs the x64 build on those processors.
 */
export const targets = [
  { name: "linux-x64", system: "linux", cpu: "x64", libc: "glibc", bun: "bun-linux-x64-baseline" },
  { name: "linux-arm64", system: "linux", cpu: "arm64", libc: "glibc", bun: "bun-linux-arm64" },
  { name: "linux-x64-musl", system: "linux", cpu: "x64", libc: "musl", bun: "bun-linux-x64-baseline-musl" },
  { name: "linux-arm64-musl", system: "linux", cpu: "arm64", libc: "musl", bun: "bun-linux-arm64-musl" },
  { name: "darwin-arm64", system: "darwin", cpu: "arm64", libc: null, bun: "bun-darwin-arm64" },
  { name: "darwin-x64", system: "darwin", cpu: "x64", libc: null, bun: "bun-darwin-x64" },
  { name: "windows-x64", system: "windows", cpu: "x64", libc: null, bun: "bun-windows-x64-baseline" },
] as const satisfies readonly BuildTarget[];

/** Throws an error for the user if there is no such target. */
export function findTarget(name: string): (typeof targets)[number] {
  const target = targets.find((known) => known.name === name);
  if (target) return target;
  throw new Error(`unknown target ${name}: use one of ${targets.map((known) => known.name).join(", ")}`);
}

export const programNameOf = ({ system }: Pick<BuildTarget, "system">): string =>
  system === "windows" ? "beckon.exe" : "beckon";

/** Windows cannot open the others without a further program. */
export const archivesOf = ({ name, system }: BuildTarget): readonly string[] =>
  system === "windows" ? [`beckon-${name}.zip`] : [`beckon-${name}.tar.gz`, `beckon-${name}.tar.xz`];
