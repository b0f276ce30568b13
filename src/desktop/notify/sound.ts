/** Plays the system's own alert sound on Linux, where the notification server plays none. */

import { existsSync } from "node:fs";
import type { Env } from "../../system/folders.ts";
import { soundName } from "./alert-text.ts";

const maxMs = 5_000;
const themeFile = `sounds/freedesktop/stereo/${soundName}.oga`;

/** By name if the player knows the user's sound theme, else the file of the theme that all others inherit from. */
function findPlayer(env: Env, which: (command: string) => string | null): readonly string[] | null {
  const canberra = which("canberra-gtk-play");
  if (canberra !== null) return [canberra, "--id", soundName];
  const folders = (env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":");
  const file = folders.map((folder) => `${folder}/${themeFile}`).find((path) => existsSync(path));
  const player = which("pw-play") ?? which("paplay");
  return file === undefined || player === null ? null : [player, file];
}

export interface SoundPlayer {
  /** Does not wait for the end, and does nothing while a sound plays. */
  play(): void;
  stop(): void;
}

export function createSoundPlayer(env: Env): SoundPlayer {
  let playing: Bun.Subprocess | null = null;
  return {
    play() {
      if (playing !== null) return;
      const argv = findPlayer(env, (command) => Bun.which(command, { PATH: env.PATH ?? "" }));
      if (argv === null) return;
      try {
        const child = Bun.spawn([...argv], {
          env: { ...env },
          stdio: ["ignore", "ignore", "ignore"],
          timeout: maxMs,
          killSignal: "SIGKILL",
          onExit: () => {
            playing = null;
          },
        });
        child.unref();
        playing = child;
      } catch {
        // The player was removed after it was found.
      }
    },
    stop: () => playing?.kill("SIGKILL"),
  };
}
