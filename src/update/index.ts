/**
 * Updates beckon: finds the newest release (address.ts, manifest.ts), downloads it and compares its checksum (download.ts), takes the program
 * out of it (unpack.ts), and puts it in the place of the one that is installed, which is kept. check.ts is the daily look for one.
 */
import { rmSync, writeFileSync } from "node:fs";
import { readErrorMessage } from "../core/error-message.ts";
import type { Exec } from "../core/interfaces/index.ts";
import { nameTarget, readTarget } from "../machines/setup-binary.ts";
import { previousPathOf, readVersion, replaceProgram, swapWithPrevious } from "../setup/binary.ts";
import { ignoreErrors } from "../storage/files.ts";
import type { Releases } from "./address.ts";
import { downloadFile, type Release } from "./download.ts";
import type { ReleaseFile } from "./manifest.ts";
import { unpackFile } from "./unpack.ts";

export { findReleases } from "./address.ts";
export { fetchRelease, type Release } from "./download.ts";

export const isNewer = (version: string, than: string): boolean => Bun.semver.order(version, than) > 0;

/** A file of a release that has a program for this machine. */
export interface ReleasedProgram {
  readonly archive: ReleaseFile;
  /** Where the program is in it. */
  readonly path: string;
}

/** The one for the same system as this program. Throws if the release has none. */
export async function findReleasedProgram(
  { files, version }: Release,
  ownProgram: string,
): Promise<ReleasedProgram> {
  const target = await readTarget(ownProgram);
  const folder = `beckon-${target && nameTarget(target)}`;
  const isWindows = target?.system === "windows";
  const name = `${folder}.${isWindows ? "zip" : "tar.gz"}`;
  const archive = files.find((file) => file.name === name);
  if (!archive) throw new Error(`beckon ${version} has no ${name}, which this machine needs`);
  return { archive, path: `${folder}/beckon${isWindows ? ".exe" : ""}` };
}

export async function downloadProgram(
  { archive, path }: ReleasedProgram,
  { version }: Release,
  releases: Releases,
): Promise<Uint8Array> {
  return unpackFile(await downloadFile(releases.folderOf(version), archive), path);
}

export interface ProgramExchange {
  /** The program that is installed. */
  readonly binary: string;
  readonly exec: Exec;
  /** Restarts the app with the program that is installed then, and throws if that does not run. null if no app is running. */
  readonly restart: (() => Promise<void>) | null;
}

/** Why the program that was there has been put back, and why the app does not run with it again; null if it does. */
export interface FailedExchange {
  readonly problem: string;
  readonly restartProblem: string | null;
}

/** Resolves with null if the new program is in place, and the app runs with it. Throws if nothing was changed. */
export async function exchangeProgram(
  exchange: ProgramExchange,
  program: Uint8Array,
  version: string,
): Promise<FailedExchange | null> {
  const { binary, exec } = exchange;
  await replaceProgram(binary, { exec, platform: process.platform }, async (temporary) => {
    writeFileSync(temporary, program, { mode: 0o755 });
    const found = await readVersion(temporary, exec);
    if (found === null) throw new Error("the new program does not run here");
    if (found !== version) throw new Error(`the new program is beckon ${found}, not ${version}`);
  });
  const failed = await restartOrSwap(exchange);
  // It does not run here, so nobody goes back to it.
  if (failed) ignoreErrors(() => rmSync(previousPathOf(binary), { force: true }));
  return failed;
}

/** Puts the program back that was replaced last. The result is that of `exchangeProgram`. */
export async function rollBack(exchange: ProgramExchange): Promise<FailedExchange | null> {
  swapWithPrevious(exchange.binary);
  return restartOrSwap(exchange);
}

async function restartOrSwap({ binary, restart }: ProgramExchange): Promise<FailedExchange | null> {
  const problem = await tryRestart(restart);
  if (problem === null) return null;
  swapWithPrevious(binary);
  return { problem, restartProblem: await tryRestart(restart) };
}

/** Why it failed; null if it did not. */
async function tryRestart(restart: ProgramExchange["restart"]): Promise<string | null> {
  try {
    await restart?.();
    return null;
  } catch (error) {
    return readErrorMessage(error);
  }
}
