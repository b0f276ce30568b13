/** Where tests find what they run and read. The only file in test/ that knows where the repository keeps these. */
import { statSync } from "node:fs";
import { join } from "node:path";

export const repo = join(import.meta.dir, "..");
/** The program as source, for `bun`. */
export const mainSource = join(repo, "src/main.ts");
/** The second entry point of the Windows build. */
export const trayThreadSource = join(repo, "src/desktop/windows/tray-thread.ts");
const programName = process.platform === "win32" ? "beckon.exe" : "beckon";
/** The program that build.ts made for tests: it follows HOME, and leaves the developer's own beckon alone. */
export const binary = join(repo, "dist/test", programName);
/** The program that users get. Its hooks look into the home folder that the system knows: run it where that is not yours. */
export const releaseBinary = join(repo, "dist", programName);

/** Builds the program for another system, and returns its path. */
export function buildFor(target: string): string {
  const built = Bun.spawnSync([process.execPath, "build.ts", "--target", target], { cwd: repo });
  if (built.exitCode !== 0) throw new Error(`${built.stdout}${built.stderr}`);
  return join(repo, `dist/beckon-${target}${target.startsWith("windows") ? ".exe" : ""}`);
}
/** The forwarder in POSIX sh. */
export const hookScript = join(repo, "hooks/beckon-hook.sh");
export const claudePlugin = join(repo, "hooks/claude-plugin");

/** Whether the binary is newer than every source file. */
export function isBinaryFresh(): boolean {
  const builtMs = statSync(binary, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [...new Bun.Glob("src/**/*").scanSync({ cwd: repo, absolute: true })];
  return sources.every((source) => statSync(source).mtimeMs < builtMs);
}
