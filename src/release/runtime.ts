/** Bun's runtimes for other systems, which Bun downloads when it first compiles for one. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

export const runtimeCache =
  process.env.BUN_INSTALL_CACHE_DIR ??
  join(process.env.BUN_INSTALL ?? join(homedir(), ".bun"), "install/cache");

export const runtimePathOf = (target: Bun.Build.CompileTarget): string =>
  join(runtimeCache, `${target}-v${Bun.version}`);

/** The path of the runtime. There is no call that only downloads it, so an empty program is compiled. */
export async function fetchRuntime(target: Bun.Build.CompileTarget): Promise<string> {
  const path = runtimePathOf(target);
  if (existsSync(path)) return path;
  const folder = mkdtempSync(join(tmpdir(), "beckon-runtime-"));
  try {
    const entry = join(folder, "empty.ts");
    writeFileSync(entry, "");
    await Bun.build({ entrypoints: [entry], compile: { target, outfile: join(folder, "empty") } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (!existsSync(path)) throw new Error(`Bun did not keep its runtime at ${path}`);
  return path;
}
