/**
 * The binary that the hooks call: found, copied to a stable path, and removed again. A Downloads folder can be emptied, so
 * the hooks call the copy.
 *
 * In WSL this is the Linux build with Linux paths, even if it was started from a Windows drive (/mnt/c/…): it copies itself
 * into the home folder inside WSL. The Windows build, started from inside WSL, installs for Claude Code on Windows, and
 * install.ts refuses settings that are inside WSL.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Exec } from "../core/interfaces/index.ts";
import { parseVersionLine } from "../core/version-line.ts";
import { errorCode, ignoreErrors, removeEmptyFolders, renameFile, syncFolder } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { type Env, homeOf } from "../system/folders.ts";
import { isCompiled } from "../system/is-compiled.ts";
import { removeConsole, windowlessPathOf } from "../system/windowless.ts";
import { withFileLock } from "../user-files/file-lock.ts";
import { describeSystemError } from "../user-files/index.ts";
import { resolveOwnedPath } from "../user-files/owned-path.ts";
import type { InstallRecord } from "./install-record.ts";
import { findPackageOwner, type PackageOwner } from "./package-owner.ts";

export interface InstalledProgram {
  readonly path: string;
  /** On Linux the file of a running program stays readable even if its name is gone. */
  readonly readFrom: string;
}

const versionTimeoutMs = 5_000;

/** This program, or the build of the checkout that it runs from. Throws if it runs from source and nothing is built. */
export async function findProgram(main: string, execPath: string, exec: Exec): Promise<InstalledProgram> {
  if (isCompiled(main))
    return { path: execPath, readFrom: process.platform === "linux" ? "/proc/self/exe" : execPath };
  const name = process.platform === "win32" ? "beckon.exe" : "beckon";
  const built = join(dirname(main), "..", "dist", name);
  const isBuilt = basename(main) === "main.ts" && (await readVersion(built, exec)) !== null;
  if (isBuilt) return { path: built, readFrom: built };
  throw new Error(
    "hooks need the built binary, but this is beckon's source. Build it first: npm run build && dist/beckon --install",
  );
}

/** Null if the program is not beckon. */
export async function readVersion(binary: string, exec: Exec): Promise<string | null> {
  const { code, stdout } = await exec([binary, "--version"], { timeoutMs: versionTimeoutMs });
  return code === 0 ? parseVersionLine(stdout) : null;
}

export interface PlaceOptions {
  readonly program: InstalledProgram;
  readonly paths: Pick<Paths, "state">;
  readonly env: Env;
  readonly exec: Exec;
  readonly before: Pick<InstallRecord, "binary" | "copy"> | null;
  readonly platform?: NodeJS.Platform;
  /** The program was put where it is for this install, so it stays there, and uninstall removes it. */
  readonly isPlaced?: boolean;
}

export type BinaryPlan =
  /** The right binary is there already. */
  | { readonly do: "keep"; readonly binary: string }
  | { readonly do: "copy"; readonly binary: string; readonly replaces: string | null }
  /** The hooks call the program where it is. */
  | { readonly do: "stay"; readonly binary: string; readonly why: string }
  /** A package manager installed the program, and updates it. */
  | { readonly do: "leave"; readonly binary: string; readonly owner: PackageOwner };

export interface PlacedBinary {
  readonly plan: BinaryPlan;
  readonly copy: InstallRecord["copy"];
  readonly warnings: readonly string[];
}

const copyWaitMs = 60_000;

/** The path that the hooks should call. */
export function stableBinaryPath(
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

/** By the install script, now or before: then the user has chosen the place. */
const isPlacedThere = ({ isPlaced = false, program, before }: PlaceOptions): boolean =>
  isPlaced || (before !== null && before.copy !== null && isSamePath(before.binary, program.path));

/** Changes nothing. */
export async function planBinary(options: PlaceOptions): Promise<BinaryPlan> {
  const { program, env, paths, platform, exec } = options;
  if (isPlacedThere(options)) return { do: "keep", binary: program.path };
  const owner = await findPackageOwner(program.path, homeOf(env, platform), exec);
  if (owner) return { do: "leave", binary: owner.binary, owner };
  const binary = stableBinaryPath(env, paths, platform);
  const stay = (why: string): BinaryPlan => ({ do: "stay", binary: program.path, why });
  let stats: Stats | undefined;
  try {
    stats = lstatSync(binary, { throwIfNoEntry: false });
  } catch (error) {
    return stay(`${dirname(binary)} cannot be used (${errorCode(error)})`);
  }
  if (stats && isSamePath(binary, program.path)) return { do: "keep", binary };
  if (stats?.isSymbolicLink()) return stay(`${binary} is a link to something else`);
  if (stats && !stats.isFile())
    return stay(`${binary} is ${stats.isDirectory() ? "a folder" : "not a program"}`);
  try {
    resolveOwnedPath(binary, homeOf(env, platform));
  } catch (error) {
    return stay((error as Error).message);
  }
  if (!stats) return { do: "copy", binary, replaces: null };
  if (isCopyOf(program, binary, options.before)) return { do: "keep", binary };
  const replaces = await readVersion(binary, options.exec);
  return replaces
    ? { do: "copy", binary, replaces }
    : stay(`${binary} is another program. If you do not need it, move it away`);
}

/** Never throws: if the copy cannot be made, the hooks call the program where it is. */
export async function placeBinary(options: PlaceOptions): Promise<PlacedBinary> {
  const placed = await placeProgram(options);
  if ((options.platform ?? process.platform) !== "win32") return placed;
  return { ...placed, warnings: [...placed.warnings, ...placeWindowless(placed.plan.binary)] };
}

/** Writes beckonw.exe beside beckon.exe, unless the right one is there. Returns what went wrong. */
function placeWindowless(binary: string): readonly string[] {
  const path = windowlessPathOf(binary);
  if (path === null) return [];
  const temporary = `${path}.beckon-tmp`;
  try {
    const program = readFileSync(binary);
    removeConsole(program);
    if (existsSync(path) && readFileSync(path).equals(program)) return [];
    writeFileSync(temporary, program);
    moveAside(path);
    renameFile(temporary, path);
    return [];
  } catch (error) {
    return [`${path} could not be written (${errorCode(error)}), so beckon does not start at login.`];
  } finally {
    ignoreErrors(() => rmSync(temporary, { force: true }));
  }
}

async function placeProgram(options: PlaceOptions): Promise<PlacedBinary> {
  const plan = await planBinary(options);
  if (plan.do !== "copy") return { plan, copy: describeCopy(plan, options), warnings: [] };
  const { program, exec, platform = process.platform } = options;
  try {
    return await copyProgram(program, plan.binary, { exec, platform }, async (copy) =>
      withFileLock(
        plan.binary,
        async () => {
          // Another install may have been quicker.
          const now = await planBinary(options);
          if (now.do !== "copy") return { plan: now, copy: describeCopy(now, options), warnings: [] };
          const { warnings, ...made } = await copy();
          const madeFolder = made.madeFolder ?? findEarlierCopy(now.binary, options)?.madeFolder ?? null;
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

/** Null if the binary there was not copied by an install. */
function describeCopy(plan: BinaryPlan, { before, program, isPlaced }: PlaceOptions): InstallRecord["copy"] {
  if (plan.do !== "keep") return null;
  const earlier = findEarlierCopy(plan.binary, { before });
  if (earlier && !isPlaced) return earlier;
  if (isSamePath(plan.binary, program.path) && !isPlaced) return null;
  const sha256 = hashFile(plan.binary);
  return { sha256, sourceSha256: hashFile(program.readFrom), madeFolder: earlier?.madeFolder ?? null };
}

const findEarlierCopy = (binary: string, { before }: Pick<PlaceOptions, "before">): InstallRecord["copy"] =>
  before?.binary === binary ? before.copy : null;

/** True also if signing has changed the copy. */
function isCopyOf(program: InstalledProgram, binary: string, before: PlaceOptions["before"]): boolean {
  if (isSameContent(program.readFrom, binary)) return true;
  const copy = findEarlierCopy(binary, { before });
  return (
    copy !== null &&
    copy.sha256 !== copy.sourceSha256 &&
    copy.sourceSha256 === hashFile(program.readFrom) &&
    copy.sha256 === hashFile(binary)
  );
}

interface Copied {
  readonly sha256: string;
  readonly sourceSha256: string;
  /** The topmost folder that was created for it. */
  readonly madeFolder: string | null;
  readonly warnings: readonly string[];
}

interface System {
  readonly exec: Exec;
  readonly platform: NodeJS.Platform;
}

/** Creates the folder first, because `within` needs it for a lock. If the copy fails, both are removed. */
async function copyProgram<Result>(
  program: { readonly readFrom: string },
  to: string,
  system: System,
  within: (copy: () => Promise<Copied>) => Promise<Result>,
): Promise<Result> {
  const folder = dirname(to);
  let madeFolder: string | null = null;
  try {
    madeFolder = mkdirSync(folder, { recursive: true, mode: 0o755 }) ?? null;
    return await within(async () => ({ ...(await copyFile(program.readFrom, to, system)), madeFolder }));
  } catch (cause) {
    removeEmptyFolders(folder, madeFolder);
    throw new Error(describeSystemError(cause) ?? (cause as Error).message, { cause });
  }
}

async function copyFile(from: string, to: string, system: System): Promise<Omit<Copied, "madeFolder">> {
  const replaced = await replaceProgram(to, system, (temporary) => copyFileSync(from, temporary));
  return { ...replaced, sourceSha256: hashFile(from) };
}

/**
 * Replaces the program as a whole or not at all, by what `write` puts into a file beside it. One that runs from it keeps its old file,
 * and the one that was there is kept under another name.
 */
export async function replaceProgram(
  to: string,
  { exec, platform }: System,
  write: (temporary: string) => void | Promise<void>,
): Promise<Pick<Copied, "sha256" | "warnings">> {
  const temporary = temporaryPathOf(to);
  try {
    rmSync(temporary, { force: true });
    await write(temporary);
    chmodSync(temporary, 0o755);
    const warnings = platform === "darwin" ? await signAgain(temporary, exec) : [];
    syncFile(temporary);
    const sha256 = hashFile(temporary);
    keepAsPrevious(to, platform);
    renameFile(temporary, to);
    ignoreErrors(() => syncFolder(dirname(to)));
    return { sha256, warnings };
  } finally {
    ignoreErrors(() => rmSync(temporary, { force: true }));
  }
}

/** On Windows a program has to end with .exe. */
const addSuffix = (binary: string, suffix: string): string => binary.replace(/(\.exe)?$/i, `${suffix}$1`);
const temporaryPathOf = (binary: string): string => addSuffix(binary, ".beckon-tmp");

/** Where the program that was replaced last is kept, so that it can be put back. */
export const previousPathOf = (binary: string): string => addSuffix(binary, ".previous");

function keepAsPrevious(path: string, platform: NodeJS.Platform): void {
  if (!existsSync(path)) return;
  const previous = previousPathOf(path);
  if (platform === "win32") {
    moveAside(previous);
    renameSync(path, previous);
    return;
  }
  giveSecondName(path, `${previous}.beckon-tmp`);
  renameSync(`${previous}.beckon-tmp`, previous);
  // If both are one file, the rename has done nothing.
  rmSync(`${previous}.beckon-tmp`, { force: true });
}

/** So that the first name never is without a program. */
function giveSecondName(path: string, second: string): void {
  rmSync(second, { force: true });
  try {
    linkSync(path, second);
  } catch {
    // Not every file system has hard links.
    copyFileSync(path, second);
  }
}

/** Puts the program back that was replaced last, and keeps the other one in its place. */
export function swapWithPrevious(binary: string, platform: NodeJS.Platform = process.platform): void {
  const previous = previousPathOf(binary);
  const temporary = temporaryPathOf(binary);
  if (platform === "win32") {
    moveAside(temporary);
    renameSync(binary, temporary);
  } else giveSecondName(binary, temporary);
  renameSync(previous, binary);
  renameSync(temporary, previous);
  ignoreErrors(() => syncFolder(dirname(binary)));
}

function syncFile(path: string): void {
  const fd = openSync(path, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const signTimeoutMs = 30_000;

/** macOS kills a program with a wrong signature, and asks about one that was downloaded by a browser. */
async function signAgain(path: string, exec: Exec): Promise<string[]> {
  // Fails if the file is not marked as downloaded, which is fine.
  await exec(["/usr/bin/xattr", "-d", "com.apple.quarantine", path]);
  const sign = ["/usr/bin/codesign", "--force", "--sign", "-", "--identifier", "dev.beckon", path];
  const { code, stderr } = await exec(sign, { timeoutMs: signTimeoutMs });
  if (code === 0) return [];
  return [
    `The copy could not be signed (${stderr.trim().slice(0, 200)}). If macOS refuses to run it, build beckon on this Mac.`,
  ];
}

/** Windows can rename a running program, but not remove or replace it. */
export function moveAside(path: string): void {
  removeMovedAside(path);
  try {
    renameFile(path, `${path}.old-${Date.now()}`);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  removeMovedAside(path);
}

/** Those that no longer run. */
function removeMovedAside(path: string): void {
  ignoreErrors(() => {
    for (const name of readdirSync(dirname(path))) {
      const isOld = name.startsWith(`${basename(path)}.old-`);
      if (isOld) ignoreErrors(() => rmSync(join(dirname(path), name), { force: true }));
    }
  });
}

export interface RemovalPlan {
  readonly binary: string;
  /** Why it is kept. Null if it is removed. */
  readonly keepReason: string | null;
}

/** Null if there is no binary to remove. */
export async function planRemoval(record: InstallRecord | null, exec: Exec): Promise<RemovalPlan | null> {
  if (!record) return null;
  const { binary, copy } = record;
  const stats = lstatSync(binary, { throwIfNoEntry: false });
  if (!stats) return null;
  const keep = (keepReason: string): RemovalPlan => ({ binary, keepReason });
  if (!copy) return keep("the install did not put it there");
  if (!stats.isFile()) return keep("it is no longer a program");
  if (process.getuid && stats.uid !== process.getuid()) return keep("it belongs to another user");
  if (hashFile(binary) === copy.sha256) return { binary, keepReason: null };
  // The user may have replaced it by a newer beckon.
  return (await readVersion(binary, exec)) === null
    ? keep("it is another program now")
    : { binary, keepReason: null };
}

/** Throws if it cannot be removed. */
export function removeBinary({ binary }: RemovalPlan, madeFolder: string | null): void {
  removeProgram(binary);
  const windowless = windowlessPathOf(binary);
  if (windowless !== null) removeProgram(windowless);
  removeEmptyFolders(dirname(binary), madeFolder);
}

function removeProgram(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (process.platform !== "win32") throw new Error(`${path} cannot be removed (${errorCode(error)})`);
    moveToTemporaryFolder(path);
  }
  for (const left of [temporaryPathOf(path), `${path}.beckon-lock`, previousPathOf(path)])
    ignoreErrors(() => rmSync(left, { force: true }));
  for (const moved of [path, previousPathOf(path)]) removeMovedAside(moved);
}

/** On Windows this program runs, so it can only be moved. */
function moveToTemporaryFolder(binary: string): void {
  try {
    renameSync(binary, join(tmpdir(), `beckon-removed-${Date.now()}.exe`));
  } catch {
    renameSync(binary, `${binary}.old-${Date.now()}`);
  }
}

const chunkBytes = 1024 * 1024;

/** SHA-256, read in chunks: the binary has 120 MB. */
function hashFile(path: string): string {
  const hash = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  const fd = openSync(path, "r");
  try {
    for (;;) {
      const length = readSync(fd, chunk, 0, chunkBytes, null);
      if (length === 0) return hash.digest("hex");
      hash.update(chunk.subarray(0, length));
    }
  } finally {
    closeSync(fd);
  }
}

function isSamePath(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

export function isSameContent(a: string, b: string): boolean {
  try {
    return statSync(a).size === statSync(b).size && hashFile(a) === hashFile(b);
  } catch {
    return false;
  }
}
