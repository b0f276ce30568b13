/**
 * The binary in a place where it stays: what the hooks call must outlive a Downloads folder and an update.
 *
 * In WSL this is the Linux build with Linux paths, also where it was started from a drive of Windows (/mnt/c/…): it copies
 * itself into the home inside WSL. The Windows build, started from inside WSL, installs for Windows' own Claude Code, and
 * install.ts refuses it settings that lie inside WSL.
 */
import { lstatSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { Exec } from "../core/ports.ts";
import { withFileLock } from "../settings-file/file-lock.ts";
import { resolveOwnedPath } from "../settings-file/owned-path.ts";
import { errorCode } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { type Env, homeOf } from "../system/home.ts";
import { copyProgram } from "./copy-program.ts";
import { type Program, versionOf } from "./find-program.ts";
import type { InstallRecord } from "./record.ts";
import { isSameContent, isSamePlace, sha256OfFile } from "./same-file.ts";

export interface PlaceOptions {
  readonly program: Program;
  readonly paths: Pick<Paths, "state">;
  readonly env: Env;
  readonly exec: Exec;
  readonly before: Pick<InstallRecord, "binary" | "copy"> | null;
  readonly platform?: NodeJS.Platform;
}

export type BinaryPlan =
  /** It is there already, as it should be. */
  | { readonly do: "keep"; readonly binary: string }
  | { readonly do: "copy"; readonly binary: string; readonly replaces: string | null }
  /** The hooks call the program where it is. */
  | { readonly do: "stay"; readonly binary: string; readonly why: string };

export interface PlacedBinary {
  readonly plan: BinaryPlan;
  readonly copy: InstallRecord["copy"];
  readonly warnings: readonly string[];
}

const copyWaitMs = 60_000;

export function stablePlace(
  env: Env,
  paths: Pick<Paths, "state">,
  platform: NodeJS.Platform = process.platform,
): string {
  if (env.BECKON_HOME) return join(paths.state, "bin", platform === "win32" ? "beckon.exe" : "beckon");
  const home = homeOf(env, platform);
  if (platform !== "win32") return join(home, ".local", "bin", "beckon");
  const local = env.LOCALAPPDATA;
  const folder = local && isAbsolute(local) ? local : join(home, "AppData", "Local");
  return join(folder, "Programs", "beckon", "beckon.exe");
}

/** Looks, and changes nothing. */
export async function planBinary(options: PlaceOptions): Promise<BinaryPlan> {
  const { program, env, paths, platform } = options;
  const binary = stablePlace(env, paths, platform);
  const stay = (why: string): BinaryPlan => ({ do: "stay", binary: program.path, why });
  let found: Stats | undefined;
  try {
    found = lstatSync(binary, { throwIfNoEntry: false });
  } catch (error) {
    return stay(`${dirname(binary)} cannot be used (${errorCode(error)})`);
  }
  if (found && isSamePlace(binary, program.path)) return { do: "keep", binary };
  if (found?.isSymbolicLink()) return stay(`${binary} is a link to something else`);
  if (found && !found.isFile())
    return stay(`${binary} is ${found.isDirectory() ? "a folder" : "no program"}`);
  try {
    resolveOwnedPath(binary, homeOf(env, platform));
  } catch (error) {
    return stay((error as Error).message);
  }
  if (!found) return { do: "copy", binary, replaces: null };
  if (isCopyOf(program, binary, options.before)) return { do: "keep", binary };
  const replaces = await versionOf(binary, options.exec);
  return replaces
    ? { do: "copy", binary, replaces }
    : stay(`${binary} is another program. If it is not needed, move it away`);
}

/** Never throws: where the copy cannot be made, the hooks call the program where it is. */
export async function placeBinary(options: PlaceOptions): Promise<PlacedBinary> {
  const plan = await planBinary(options);
  if (plan.do !== "copy") return { plan, copy: kept(plan, options), warnings: [] };
  const { program, exec, platform = process.platform } = options;
  try {
    return await copyProgram(program, plan.binary, { exec, platform }, async (copy) =>
      withFileLock(
        plan.binary,
        async () => {
          // Another install may have been quicker.
          const now = await planBinary(options);
          if (now.do !== "copy") return { plan: now, copy: kept(now, options), warnings: [] };
          const { warnings, ...made } = await copy();
          const madeFolder = made.madeFolder ?? earlierCopy(now.binary, options)?.madeFolder ?? null;
          return { plan: now, copy: { ...made, madeFolder }, warnings };
        },
        copyWaitMs,
      ),
    );
  } catch (error) {
    const why = `beckon could not be copied to ${plan.binary}: ${(error as Error).message}`;
    return { plan: { do: "stay", binary: program.path, why }, copy: null, warnings: [] };
  }
}

/** What is in place may be a copy of ours from an earlier install, or the person's own doing. */
function kept(plan: BinaryPlan, { before, program }: PlaceOptions): InstallRecord["copy"] {
  if (plan.do !== "keep") return null;
  const earlier = earlierCopy(plan.binary, { before });
  if (earlier) return earlier;
  if (isSamePlace(plan.binary, program.path)) return null;
  const sha256 = sha256OfFile(plan.binary);
  return { sha256, sourceSha256: sha256OfFile(program.readFrom), madeFolder: null };
}

const earlierCopy = (binary: string, { before }: Pick<PlaceOptions, "before">): InstallRecord["copy"] =>
  before?.binary === binary ? before.copy : null;

/** Also where signing has changed it. */
function isCopyOf(program: Program, binary: string, before: PlaceOptions["before"]): boolean {
  if (isSameContent(program.readFrom, binary)) return true;
  const copy = earlierCopy(binary, { before });
  return (
    copy !== null &&
    copy.sha256 !== copy.sourceSha256 &&
    copy.sourceSha256 === sha256OfFile(program.readFrom) &&
    copy.sha256 === sha256OfFile(binary)
  );
}
