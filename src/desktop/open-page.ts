/**
 * Opens beckon's page in the user's browser. The address has a code in it, and other users can see the command lines of this
 * machine's programs:
 * - Linux: beckon accepts a code only from a connection of this user (src/system/peers.ts).
 * - macOS: the address goes to osascript on its stdin, and from there to the browser in an Apple event.
 * - Windows: other users cannot see command lines.
 */
import { openWithProgram, waitForFailure } from "./open-file.ts";

/** Resolves with null, or with the reason why the page could not be opened. */
export async function openPage(
  url: string,
  platform: NodeJS.Platform = process.platform,
): Promise<string | null> {
  return platform === "darwin" ? openOnMac(url) : openWithProgram(url);
}

async function openOnMac(url: string): Promise<string | null> {
  const { spawn } = await import("node:child_process");
  const child = spawn("/usr/bin/osascript", ["-"], { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(`open location ${JSON.stringify(url)}\n`);
  return waitForFailure(child);
}
