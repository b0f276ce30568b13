/** One sound of the system's own, where the notification server plays none. */
import { existsSync } from "node:fs";
import { soundName } from "./message.ts";

type Env = Readonly<Record<string, string | undefined>>;

const maxMs = 5_000;
const themed = `sounds/freedesktop/stereo/${soundName}.oga`;

/** By name where the player knows the person's sound theme, else the file of the theme that every other inherits. */
function playerArgv(env: Env, which: (command: string) => string | null): readonly string[] | null {
  const canberra = which("canberra-gtk-play");
  if (canberra !== null) return [canberra, "--id", soundName];
  const folders = (env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":");
  const file = folders.map((folder) => `${folder}/${themed}`).find((path) => existsSync(path));
  const player = which("pw-play") ?? which("paplay");
  return file === undefined || player === null ? null : [player, file];
}

export interface Sound {
  /** Does not wait for it; while one plays, another is not heard anyway. */
  play(): void;
  stop(): void;
}

export function systemSound(env: Env): Sound {
  let playing: Bun.Subprocess | null = null;
  return {
    play() {
      if (playing !== null) return;
      const argv = playerArgv(env, (command) => Bun.which(command, { PATH: env.PATH ?? "" }));
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
        // Removed between the look and the start: it stays silent.
      }
    },
    stop: () => playing?.kill("SIGKILL"),
  };
}
