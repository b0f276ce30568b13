/** Finds an agent's program and asks it for its version, wherever it is usually installed. */
import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { limits } from "../../core/limits.ts";
import { readOr, readSmallFile } from "../../storage/files.ts";
import { type Env, homeOf } from "../../system/folders.ts";
import type { FindProgramOptions, ProgramSearch } from "../agent.ts";

export interface SearchOptions extends FindProgramOptions {
  /** Paths to try outside of the home folder. */
  readonly systemPaths?: readonly string[];
  readonly platform?: NodeJS.Platform;
}

/** What to look for. */
export interface ProgramDescription {
  /** The program's name in a folder of PATH, without an extension. */
  readonly program: string;
  /** Finds the version, as its first group, in what `--version` prints. */
  readonly versionPattern: RegExp;
  /** Where the agent's own installer puts it: tried after PATH. */
  readonly ownPaths?: readonly string[];
  /** Tried last. */
  readonly listRunning?: () => readonly string[];
}

/** A cold start on a slow disk takes a second or two. */
const versionTimeoutMs = 8_000;

export async function searchProgram(
  options: SearchOptions,
  description: ProgramDescription,
): Promise<ProgramSearch> {
  const { exec, platform = process.platform, timeoutMs = versionTimeoutMs } = options;
  const tried = new Set<string>();
  const silent: string[] = [];
  for (const path of listCandidates(options, platform, description)) {
    if (tried.has(path) || !isProgram(path, platform)) continue;
    tried.add(path);
    const { stdout } = await exec([path, "--version"], { timeoutMs });
    const version = description.versionPattern.exec(stdout)?.[1] ?? null;
    if (version) return { program: { path, version }, silent };
    silent.push(path);
  }
  return { program: null, silent };
}

const systemFolders = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];

function* listCandidates(
  options: SearchOptions,
  platform: NodeJS.Platform,
  { program, ownPaths = [], listRunning = () => [] }: ProgramDescription,
): Generator<string> {
  const { env, remembered, systemPaths = systemFolders.map((folder) => `${folder}/${program}`) } = options;
  const isWindows = platform === "win32";
  const names = isWindows ? [`${program}.exe`, `${program}.cmd`] : [program];
  // A relative entry would run a program of the current project.
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  // WSL adds the folders of Windows to PATH: an agent there has its settings there too.
  const own = isWsl(env) ? folders.filter((folder) => !/^\/mnt\/[a-z]\//.test(folder)) : folders;
  for (const folder of own) for (const name of names) yield join(folder, name);
  if (remembered) yield remembered.path;

  const home = homeOf(env, platform);
  for (const folder of [join(home, ".local", "bin"), join(home, "bin")]) yield join(folder, names[0] ?? "");
  yield* ownPaths;
  if (isWindows) {
    yield join(env.APPDATA ?? join(home, "AppData", "Roaming"), "npm", `${program}.cmd`);
  } else {
    const prefixes = [npmPrefix(env, home), join(home, ".npm-global"), join(home, ".bun")];
    for (const prefix of prefixes) if (prefix) yield join(prefix, "bin", program);
    yield* systemPaths;
    yield* nodeVersions(home, program);
  }
  yield* listRunning();
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
function nodeVersions(home: string, program: string): string[] {
  const folder = join(home, ".nvm", "versions", "node");
  const numbers = (name: string) => name.slice(1).split(".").map(Number);
  return readFolder(folder)
    .filter((name) => /^v\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => {
      const [x, y] = [numbers(a), numbers(b)];
      const at = x.findIndex((n, i) => n !== y[i]);
      return at < 0 ? 0 : (y[at] ?? 0) - (x[at] ?? 0);
    })
    .map((name) => join(folder, name, "bin", program));
}

export const readFolder = (folder: string): string[] => readOr(() => readdirSync(folder), []);

function isProgram(path: string, platform: NodeJS.Platform): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    if (platform !== "win32") accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
