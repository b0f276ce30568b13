/** Finds Claude Code and its version. Older versions refuse settings with a hook they do not know, so install needs it. */
import { accessSync, constants, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { limits } from "../../../core/limits.ts";
import { readSmallFile } from "../../../storage/files.ts";
import { type Env, homeOf } from "../../../system/folders.ts";
import { parseStartTime } from "../../../system/processes.ts";
import type { FindProgramOptions, ProgramSearch } from "../../agent.ts";
import { hookTable } from "../hooks.ts";
import { claudeFolder } from "./folder.ts";

export interface FindClaudeOptions extends FindProgramOptions {
  /** Paths to try outside of the home folder. */
  readonly systemPaths?: readonly string[];
  readonly platform?: NodeJS.Platform;
}

/** A cold start on a slow disk takes a second or two. */
const versionTimeoutMs = 8_000;
const maxSessionFiles = 500;

export async function findProgram(options: FindClaudeOptions): Promise<ProgramSearch> {
  const { exec, platform = process.platform, timeoutMs = versionTimeoutMs } = options;
  const tried = new Set<string>();
  const silent: string[] = [];
  for (const path of listCandidates(options, platform)) {
    if (tried.has(path) || !isProgram(path, platform)) continue;
    tried.add(path);
    const version = parseVersion((await exec([path, "--version"], { timeoutMs })).stdout);
    if (version) return { program: { path, version }, silent };
    silent.push(path);
  }
  return { program: null, silent };
}

/** Parses `2.1.325 (Claude Code)`. */
function parseVersion(output: string): string | null {
  return /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})(?:\s+\(Claude Code\))?\s*$/m.exec(output)?.[1] ?? null;
}

export function describeProgram({ program, silent }: ProgramSearch, version: string | null): string[] {
  if (program) return [`Found Claude Code ${program.version} at ${program.path}.`];
  const notes = silent.map((path) => `${path} is there, but does not print its version.`);
  return [
    ...notes,
    version === null
      ? `Claude Code was not found: beckon registers the hooks that ${hookTable.assumedVersion} and later know. Run this again once Claude Code is installed, to register them all.`
      : `Claude Code was not found: beckon assumes ${version}, as at the last install.`,
  ];
}

const defaultSystemPaths = ["/usr/local/bin/claude", "/opt/homebrew/bin/claude", "/usr/bin/claude"];

function* listCandidates(options: FindClaudeOptions, platform: NodeJS.Platform): Generator<string> {
  const { env, remembered, systemPaths = defaultSystemPaths } = options;
  const isWindows = platform === "win32";
  const names = isWindows ? ["claude.exe", "claude.cmd"] : ["claude"];
  // A relative entry would run a program of the current project.
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  // WSL adds the folders of Windows to PATH: a Claude Code there has its settings there too.
  const own = isWsl(env) ? folders.filter((folder) => !/^\/mnt\/[a-z]\//.test(folder)) : folders;
  for (const folder of own) for (const name of names) yield join(folder, name);
  if (remembered) yield remembered.path;

  const home = homeOf(env, platform);
  yield join(home, ".local", "bin", names[0] ?? "");
  for (const name of names) yield join(claudeFolder(env, platform), "local", name);
  if (isWindows) {
    yield join(env.APPDATA ?? join(home, "AppData", "Roaming"), "npm", "claude.cmd");
  } else {
    const prefixes = [npmPrefix(env, home), join(home, ".npm-global"), join(home, ".bun")];
    for (const prefix of prefixes) if (prefix) yield join(prefix, "bin", "claude");
    yield* systemPaths;
    yield* nodeVersions(home);
  }
  yield* findRunning(claudeFolder(env, platform), platform);
}

const isWsl = (env: Env): boolean => Boolean(env.WSL_DISTRO_NAME || env.WSL_INTEROP);

/** The folder of `npm install --global`, if the user has set one. */
function npmPrefix(env: Env, home: string): string | null {
  if (env.npm_config_prefix && isAbsolute(env.npm_config_prefix)) return env.npm_config_prefix;
  try {
    const text = readSmallFile(join(home, ".npmrc"), limits.maxSmallFileBytes);
    const setting = /^\s*prefix\s*=\s*"?([^"\n\r]+?)"?\s*$/m.exec(text)?.[1];
    const prefix = setting?.replace(/^~(?=\/)|^\$\{?HOME\}?/, home) ?? "";
    return isAbsolute(prefix) ? prefix : null;
  } catch {
    return null;
  }
}

/** nvm changes PATH in the user's shell only: a login item or a menu does not have it. Newest first. */
function nodeVersions(home: string): string[] {
  const folder = join(home, ".nvm", "versions", "node");
  const numbers = (name: string) => name.slice(1).split(".").map(Number);
  return readFolder(folder)
    .filter((name) => /^v\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => {
      const [x, y] = [numbers(a), numbers(b)];
      const at = x.findIndex((n, i) => n !== y[i]);
      return at < 0 ? 0 : (y[at] ?? 0) - (x[at] ?? 0);
    })
    .map((name) => join(folder, name, "bin", "claude"));
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
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const program = readlinkSync(`/proc/${pid}/exe`);
        return String(procStart) === parseStartTime(stat) && /(^|\/)(claude|versions\/[\d.]+)$/.test(program)
          ? [program]
          : [];
      } catch {
        return [];
      }
    });
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isProgram(path: string, platform: NodeJS.Platform): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    if (platform !== "win32") accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
