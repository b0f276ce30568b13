/** The program that the hooks will call: this one, or the build of the checkout that this runs from. */
import { basename, dirname, join } from "node:path";
import type { Exec } from "../core/ports.ts";

export interface Program {
  readonly path: string;
  /** Linux keeps a running program's file readable, also where its name is gone. */
  readonly readFrom: string;
}

const askMs = 5_000;

/** Throws where this is the source and nothing has been built of it. */
export async function findProgram(main: string, execPath: string, exec: Exec): Promise<Program> {
  if (isCompiled(main)) {
    return { path: execPath, readFrom: process.platform === "linux" ? "/proc/self/exe" : execPath };
  }
  const name = process.platform === "win32" ? "beckon.exe" : "beckon";
  const built = join(dirname(main), "..", "dist", name);
  const isBuilt = basename(main) === "main.ts" && (await versionOf(built, exec)) !== null;
  if (isBuilt) return { path: built, readFrom: built };
  throw new Error(
    "hooks need the built binary, and this is beckon's source. Build it first: npm run build && dist/beckon --install",
  );
}

/** null: it is not beckon. */
export async function versionOf(binary: string, exec: Exec): Promise<string | null> {
  const { code, stdout } = await exec([binary, "--version"], { timeoutMs: askMs });
  return code === 0 ? (/^beckon (\d+\.\d+\.\d+\S{0,40})\s*$/.exec(stdout)?.[1] ?? null) : null;
}

/** Bun shows the files inside a compiled binary under these. */
const isCompiled = (main: string): boolean =>
  main.startsWith("/$bunfs/") || /^[A-Z]:[\\/]~BUN[\\/]/i.test(main);
