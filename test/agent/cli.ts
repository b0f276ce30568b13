/** The real Claude Code CLI, fetched once into a cache folder. */
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { testWith } from "../needs.ts";

export const cliVersion = "2.1.325";

const name = "@anthropic-ai/claude-code";
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "beckon-test");
const folder = join(cache, `claude-code-${cliVersion}`);
const fetchMs = 5 * 60_000;

/** The native binary comes in a package of its own, one per system. */
export const cliPath = join(folder, "node_modules", `${name}-${process.platform}-${process.arch}`, "claude");

/** A `test` for what runs the CLI in a world of its own; skipped, saying why, where that cannot be. */
export async function testWithCli(): Promise<ReturnType<typeof testWith>> {
  const needs = ["linux", "root", "npm", "unshare", "nsenter", "ip", "tmux"];
  const isThere = () => Bun.which(cliPath) !== null;
  if (process.platform === "linux" && process.getuid?.() === 0 && !isThere()) await fetchCli();
  return testWith(...needs, ...(isThere() ? [] : [`${name}@${cliVersion}`]));
}

/** Into a folder beside its place: one that was broken off is never taken for the whole. */
async function fetchCli(): Promise<void> {
  if (Bun.which("npm") === null) return;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  const install = ["npm", "install", "--prefix", making, "--no-audit", "--no-fund", "--ignore-scripts"];
  const child = Bun.spawn([...install, `${name}@${cliVersion}`], {
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
    console.log(`npm could not install ${name}@${cliVersion}:\n${errors.slice(0, 4).join("\n")}`);
  }
}
