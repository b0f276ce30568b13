/** Copies a text to the user's clipboard with the program that this system has for it. */

import type { Exec } from "../core/interfaces/index.ts";
import type { Env } from "../system/folders.ts";

const programs: readonly {
  readonly isFor: (platform: NodeJS.Platform, env: Env) => boolean;
  readonly argv: readonly string[];
}[] = [
  { isFor: (platform) => platform === "darwin", argv: ["pbcopy"] },
  { isFor: (platform) => platform === "win32", argv: ["clip.exe"] },
  { isFor: (_, env) => Boolean(env.WAYLAND_DISPLAY), argv: ["wl-copy"] },
  { isFor: (_, env) => Boolean(env.DISPLAY), argv: ["xclip", "-selection", "clipboard"] },
  { isFor: (_, env) => Boolean(env.DISPLAY), argv: ["xsel", "--clipboard", "--input"] },
];

/** Returns false if there is no such program, or it failed. */
export async function copy(
  text: string,
  exec: Exec,
  env: Env = process.env,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  for (const { isFor, argv } of programs) {
    if (isFor(platform, env) && (await exec(argv, { input: text })).code === 0) return true;
  }
  return false;
}
