/**
 * Opens beckon's page in the user's browser. The address has a code in it, and other users can see the command lines of this
 * machine's programs:
 * - Linux: beckon accepts a code only from a connection of this user (src/system/sockets.ts).
 * - macOS: the address goes to osascript on its stdin, and from there to the browser in an Apple event.
 * - Windows: other users cannot see command lines.
 */
import { openWithProgram, waitForFailure } from "./open-file.ts";

export interface OpenPageOptions {
  readonly platform?: NodeJS.Platform;
  readonly osascript?: string;
}

/** Resolves with null, or with the reason why the page could not be opened. */
export async function openPage(
  url: string,
  { platform = process.platform, osascript = "/usr/bin/osascript" }: OpenPageOptions = {},
): Promise<string | null> {
  if (platform !== "darwin") return openWithProgram(url);
  const { spawn } = await import("node:child_process");
  const child = spawn(osascript, ["-"], { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.on("error", () => {});
  child.stdin.end(`open location ${JSON.stringify(url)}\n`);
  return waitForFailure(child);
}
