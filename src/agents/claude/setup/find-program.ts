/** Finds Claude Code and its version. Older versions refuse settings with a hook they do not know, so install needs it. */
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { readStat } from "../../../system/processes.ts";
import type { ProgramSearch } from "../../agent.ts";
import { readFolder, type SearchOptions, searchProgram } from "../../setup/find-program.ts";
import { hookTable } from "../hooks.ts";
import { claudeFolder } from "./folder.ts";

const maxSessionFiles = 500;

export function findProgram(options: SearchOptions): Promise<ProgramSearch> {
  const { env, platform = process.platform } = options;
  const folder = claudeFolder(env, platform);
  const names = platform === "win32" ? ["claude.exe", "claude.cmd"] : ["claude"];
  return searchProgram(options, {
    program: "claude",
    // `2.1.325 (Claude Code)`
    versionPattern: /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})(?:\s+\(Claude Code\))?\s*$/m,
    ownPaths: names.map((name) => join(folder, "local", name)),
    listRunning: () => findRunning(folder, platform),
  });
}

export function describeProgram({ program, silent }: ProgramSearch, version: string | null): string[] {
  if (program) return [`Found Claude Code ${program.version} at ${program.path}.`];
  const [path] = silent;
  const problem =
    path === undefined
      ? "Claude Code was not found"
      : `Found Claude Code at ${path}, but it did not print its version`;
  if (version !== null) return [`${problem}: beckon assumes ${version}, as at the last install.`];
  const next = path === undefined ? "once Claude Code is installed" : "later";
  return [
    `${problem}: beckon registers the hooks that ${hookTable.assumedVersion} and later know. Run this again ${next}, to register them all.`,
  ];
}

/** The programs of running sessions. One that runs under node cannot be told from node itself, and is skipped. */
function findRunning(folder: string, platform: NodeJS.Platform): string[] {
  if (platform !== "linux") return [];
  return readFolder(join(folder, "sessions"))
    .slice(0, maxSessionFiles)
    .flatMap((name) => {
      const pid = /^([1-9]\d{0,9})\.json$/.exec(name)?.[1];
      if (!pid) return [];
      try {
        // The pid can belong to another process by now.
        const { procStart } = JSON.parse(readFileSync(join(folder, "sessions", name), "utf8"));
        const program = readlinkSync(`/proc/${pid}/exe`);
        return String(procStart) === readStat(Number(pid))?.start &&
          /(^|\/)(claude|versions\/[\d.]+)$/.test(program)
          ? [program]
          : [];
      } catch {
        return [];
      }
    });
}
