/** Which Claude Code is here: it refuses settings that name a hook it does not know, so the installer asks first. */
import { accessSync, constants, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { limits } from "../../../core/limits.ts";
import type { Exec } from "../../../core/ports.ts";
import { readSmallFile } from "../../../storage/files.ts";
import { type Env, homeOf } from "../../../system/home.ts";
import { parseStartTime } from "../../../system/processes.ts";
import { claudeFolder } from "./scope.ts";

export interface FindOptions {
  readonly env: Env;
  readonly exec: Exec;
  /** Of the last install. */
  readonly remembered: FoundClaude | null;
  /** Beyond the home; as on this system. */
  readonly usual?: readonly string[];
  readonly platform?: NodeJS.Platform;
  readonly timeoutMs?: number;
}

export interface ClaudeHere {
  /** null: no program was found, or none told its version. */
  readonly claude: FoundClaude | null;
  /** Programs that are there, but did not tell. */
  readonly silent: readonly string[];
}

/** A cold start on a slow disk takes a second or two. */
const askMs = 8_000;
const maxSessionFiles = 500;

export async function findClaude(options: FindOptions): Promise<ClaudeHere> {
  const { exec, platform = process.platform, timeoutMs = askMs } = options;
  const asked = new Set<string>();
  const silent: string[] = [];
  for (const place of places(options, platform)) {
    if (asked.has(place) || !isProgram(place, platform)) continue;
    asked.add(place);
    const version = versionIn((await exec([place, "--version"], { timeoutMs })).stdout);
    if (version) return { claude: { path: place, version }, silent };
    silent.push(place);
  }
  return { claude: null, silent };
}

/** `2.1.325 (Claude Code)`. */
function versionIn(said: string): string | null {
  return /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})(?:\s+\(Claude Code\))?\s*$/m.exec(said)?.[1] ?? null;
}

const usualPlaces = ["/usr/local/bin/claude", "/opt/homebrew/bin/claude", "/usr/bin/claude"];

function* places(options: FindOptions, platform: NodeJS.Platform): Generator<string> {
  const { env, remembered, usual = usualPlaces } = options;
  const windows = platform === "win32";
  const names = windows ? ["claude.exe", "claude.cmd"] : ["claude"];
  // A relative entry would have the current project's own program run.
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  // WSL puts Windows' folders into PATH: the Claude Code there has its settings there too.
  const own = isWsl(env) ? folders.filter((folder) => !/^\/mnt\/[a-z]\//.test(folder)) : folders;
  for (const folder of own) for (const name of names) yield join(folder, name);
  if (remembered) yield remembered.path;

  const home = homeOf(env, platform);
  yield join(home, ".local", "bin", names[0] ?? "");
  for (const name of names) yield join(claudeFolder(env, platform), "local", name);
  if (windows) {
    yield join(env.APPDATA ?? join(home, "AppData", "Roaming"), "npm", "claude.cmd");
  } else {
    const prefixes = [npmPrefix(env, home), join(home, ".npm-global"), join(home, ".bun")];
    for (const prefix of prefixes) if (prefix) yield join(prefix, "bin", "claude");
    yield* usual;
    yield* nodeVersions(home);
  }
  yield* runningOnes(claudeFolder(env, platform), platform);
}

const isWsl = (env: Env): boolean => Boolean(env.WSL_DISTRO_NAME || env.WSL_INTEROP);

/** Where `npm install --global` puts programs, if the person has chosen that. */
function npmPrefix(env: Env, home: string): string | null {
  if (env.npm_config_prefix && isAbsolute(env.npm_config_prefix)) return env.npm_config_prefix;
  try {
    const text = readSmallFile(join(home, ".npmrc"), limits.maxSmallFileBytes);
    const given = /^\s*prefix\s*=\s*"?([^"\n\r]+?)"?\s*$/m.exec(text)?.[1];
    const prefix = given?.replace(/^~(?=\/)|^\$\{?HOME\}?/, home) ?? "";
    return isAbsolute(prefix) ? prefix : null;
  } catch {
    return null;
  }
}

/** nvm is a function of the person's shell: a login item or a menu has no PATH with it. The newest first. */
function nodeVersions(home: string): string[] {
  const folder = join(home, ".nvm", "versions", "node");
  const numbers = (name: string) => name.slice(1).split(".").map(Number);
  return listed(folder)
    .filter((name) => /^v\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => {
      const [x, y] = [numbers(a), numbers(b)];
      const at = x.findIndex((n, i) => n !== y[i]);
      return at < 0 ? 0 : (y[at] ?? 0) - (x[at] ?? 0);
    })
    .map((name) => join(folder, name, "bin", "claude"));
}

/** The programs of sessions that run now. One under node is not told apart from node itself, and is passed over. */
function runningOnes(folder: string, platform: NodeJS.Platform): string[] {
  if (platform !== "linux") return [];
  return listed(join(folder, "sessions"))
    .slice(0, maxSessionFiles)
    .flatMap((name) => {
      const pid = /^([1-9]\d{0,9})\.json$/.exec(name)?.[1];
      if (!pid) return [];
      try {
        // A number that went to another process names another program.
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

function listed(folder: string): string[] {
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

export interface FoundClaude {
  readonly path: string;
  readonly version: string;
}
