/** The real Claude Code CLI, each version fetched once into a cache folder. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { hasAll, testWith } from "../needs.ts";
import { home } from "./namespace.ts";

export const cliVersion = "2.1.325";

/** Before 2.1.101 an event name the CLI does not know makes it refuse the whole settings file, with a dialog. */
export const oldVersions = ["2.0.76", "2.1.100"] as const;

const name = "@anthropic-ai/claude-code";
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "beckon-test");
const fetchMs = 5 * 60_000;

/** What makes the command `claude` in a world. */
export interface Cli {
  /** Place in the home → file or folder of this side. */
  readonly files: Readonly<Record<string, string>>;
  /** Where the command is no such file: its text. */
  readonly script: string | null;
}

export function cliOf(version: string): Cli {
  const native = nativeIn(folderOf(version));
  if (existsSync(native)) return { files: { "bin/claude": native }, script: null };
  const files = { "claude-code": dirname(scriptIn(folderOf(version))) };
  return { files, script: `#!/bin/sh\nexec node ${home}/claude-code/cli.js "$@"\n` };
}

const folderOf = (version: string): string => join(cache, `claude-code-${version}`);

/** Newer ones come as a native binary, in a package of its own for each system; older ones are a script for node. */
const nativeIn = (folder: string): string =>
  join(folder, "node_modules", `${name}-${process.platform}-${process.arch}`, "claude");

const scriptIn = (folder: string): string => join(folder, "node_modules", name, "cli.js");

/** What a world needs of the machine. */
export const needs = ["linux", "root", "npm", "unshare", "nsenter", "ip", "tmux"] as const;

/** A `test` for what runs the CLI in a world of its own; skipped, saying why, where that cannot be. */
export async function testWithCli(...versions: readonly string[]): Promise<ReturnType<typeof testWith>> {
  const missing: string[] = [];
  for (const version of versions) if (!(await hasCli(version))) missing.push(`${name}@${version}`);
  return testWith(...needs, ...missing);
}

/** Fetches it, where worlds can be made and it is not there yet. */
export async function hasCli(version: string): Promise<boolean> {
  const isThere = () => existsSync(nativeIn(folderOf(version))) || existsSync(scriptIn(folderOf(version)));
  if (!isThere() && hasAll(needs)) await fetchCli(version);
  return isThere();
}

/** Into a folder beside its place: one that was broken off is never taken for the whole. */
async function fetchCli(version: string): Promise<void> {
  const folder = folderOf(version);
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  const install = ["npm", "install", "--prefix", making, "--no-audit", "--no-fund", "--ignore-scripts"];
  const child = Bun.spawn([...install, `${name}@${version}`], {
    cwd: making,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: fetchMs,
  });
  const [complaint, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code === 0) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } else {
    rmSync(making, { recursive: true, force: true });
    const errors = complaint.split("\n").filter((line) => line.startsWith("npm error"));
    console.log(`npm could not install ${name}@${version}:\n${errors.slice(0, 4).join("\n")}`);
  }
}
