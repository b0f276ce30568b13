/** The real Claude Code CLI, each version fetched once into a cache folder. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { testWith } from "../needs.ts";
import { home } from "./namespace.ts";

/** Versions that `npm run test:drift` puts in place of the tested ones: agent → version. */
const otherVersions: Readonly<Record<string, string>> = JSON.parse(process.env.TEST_CLI_VERSIONS ?? "{}");
export const versionOf = (agent: string, tested: string): string => otherVersions[agent] ?? tested;

export const cliVersion = versionOf("claude", "2.1.326");

/** Before 2.1.101 the CLI refuses a whole settings file, with a dialog, for one event name that it does not know. */
export const oldVersions = ["2.0.76", "2.1.100"] as const;

/** The last version known to refuse a plugin's whole hook file for one unknown event name. */
export const strictVersion = "2.1.200";

export const packageName = "@anthropic-ai/claude-code";
export const cliCache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "beckon-test");
/** One of them took more than five minutes on a day when the registry was slow. */
const fetchTimeoutMs = 15 * 60_000;

/** What makes the command `claude` in a sandbox. */
export interface Cli {
  /** Path in the sandbox's home to a file or folder of this machine. */
  readonly files: Readonly<Record<string, string>>;
  /** The text of the command, if it is not one of the files; otherwise null. */
  readonly script: string | null;
}

export function findCli(version: string): Cli {
  const native = nativeIn(folderOf(version));
  if (existsSync(native)) return { files: { "bin/claude": native }, script: null };
  const files = { "claude-code": dirname(scriptIn(folderOf(version))) };
  return { files, script: `#!/bin/sh\nexec node ${home}/claude-code/cli.js "$@"\n` };
}

const folderOf = (version: string): string => join(cliCache, `claude-code-${version}`);

/** Newer versions are a native binary, in a package for each system. Older ones are a script for node. */
const nativeIn = (folder: string): string =>
  join(folder, "node_modules", `${packageName}-${process.platform}-${process.arch}`, "claude");

const scriptIn = (folder: string): string => join(folder, "node_modules", packageName, "cli.js");

/** What a sandbox needs of the machine. */
export const sandboxNeeds = ["linux", "root", "npm", "unshare", "nsenter", "ip", "tmux"] as const;

/** A `test` that runs the CLI in a sandbox; skipped, with the reason in its name, where that is not possible. */
export function testWithCli(...versions: readonly string[]): ReturnType<typeof testWith> {
  const missing = versions.filter((version) => !isCliCached(version));
  return testWith(...sandboxNeeds, ...missing.map((version) => `${packageName}@${version}`));
}

export function isCliCached(version: string): boolean {
  const folder = folderOf(version);
  return existsSync(nativeIn(folder)) || existsSync(scriptIn(folder));
}

export const fetchCli = (version: string): Promise<void> =>
  installPackages(folderOf(version), [`${packageName}@${version}`]);

/** Installs into a folder beside the final one and renames it: an interrupted download never counts as complete. */
export async function installPackages(folder: string, packages: readonly string[]): Promise<void> {
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  const install = ["npm", "install", "--prefix", partial, "--no-audit", "--no-fund", "--ignore-scripts"];
  const child = Bun.spawn([...install, ...packages], {
    cwd: partial,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: fetchTimeoutMs,
  });
  const [stderr, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code === 0) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
  } else {
    rmSync(partial, { recursive: true, force: true });
    const errors = stderr.split("\n").filter((line) => line.startsWith("npm error"));
    const reason = child.signalCode === null ? errors.slice(0, 4).join("\n") : `ended by ${child.signalCode}`;
    console.log(`npm could not install ${packages.join(" ")}:\n${reason}`);
  }
}
