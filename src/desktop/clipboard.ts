/** Puts a text on the person's clipboard with whatever program this system has for it. */
import type { Exec } from "../core/ports.ts";

const programs: readonly {
  readonly on: (platform: NodeJS.Platform, env: Env) => boolean;
  readonly argv: readonly string[];
}[] = [
  { on: (platform) => platform === "darwin", argv: ["pbcopy"] },
  { on: (platform) => platform === "win32", argv: ["clip.exe"] },
  { on: (_, env) => Boolean(env.WAYLAND_DISPLAY), argv: ["wl-copy"] },
  { on: (_, env) => Boolean(env.DISPLAY), argv: ["xclip", "-selection", "clipboard"] },
  { on: (_, env) => Boolean(env.DISPLAY), argv: ["xsel", "--clipboard", "--input"] },
];

type Env = Readonly<Record<string, string | undefined>>;

/** false: there is none, or it failed. */
export async function copy(
  text: string,
  exec: Exec,
  env: Env = process.env,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  for (const { on, argv } of programs) {
    if (on(platform, env) && (await exec(argv, { input: text })).code === 0) return true;
  }
  return false;
}
