/** Linux: an entry in the person's autostart folder, which every desktop reads. */
import { existsSync, lstatSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { alertIcon } from "../notify/icon.ts";
import { putFile } from "../put-file.ts";
import { entryText, readEntry } from "./desktop-entry.ts";
import { type LoginItem, notThere } from "./login.ts";

type Env = Readonly<Record<string, string | undefined>>;

export function autostartPath(env: Env): string {
  const given = env.XDG_CONFIG_HOME;
  const folder = given?.startsWith("/") ? given : join(env.HOME ?? "/", ".config");
  return join(folder, "autostart", "beckon.desktop");
}

/** `folder`: where the icon is put, so that the desktop's settings can show it. */
export function xdgLogin(env: Env, folder: string): LoginItem {
  const path = autostartPath(env);
  const read = () => readEntry(readFileSync(path, "utf8"));
  const isThere = () => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

  return {
    async enable(wish) {
      // A line break would be another key to whoever reads the file by lines, "=" a variable to `env`.
      if (/\p{Cc}/u.test(`${wish.binary}${wish.home ?? ""}`) || /%.*=|=.*%/.test(wish.binary)) {
        throw new Error(
          `beckon cannot start at login: desktops misread a path with a line break, or with both % and =: ${JSON.stringify(wish)}`,
        );
      }
      // Whoever keeps their dotfiles elsewhere has a link here.
      const target = existsSync(path) ? realpathSync(path) : path;
      const made = existsSync(path) ? read().madeFolders : missing(dirname(target));
      putFile(target, Buffer.from(entryText(wish, alertIcon(folder), made)), 0o600);
      return `beckon starts when you log in (${path})`;
    },

    async disable() {
      if (!isThere()) return null;
      const { binary, madeFolders } = existsSync(path) ? read() : { binary: null, madeFolders: 0 };
      if (binary !== null && !basename(binary).startsWith("beckon")) return null;
      rmSync(path);
      removeEmpty(dirname(path), madeFolders);
      return `beckon no longer starts when you log in (${path} is removed)`;
    },

    async state() {
      if (!existsSync(path)) return notThere;
      const { binary, isTurnedOff } = read();
      if (isTurnedOff) {
        const problem = `you turned it off in your desktop's settings (${path}). To turn it on: beckon --install --login`;
        return { on: false, turnedOff: true, binary, problem };
      }
      const isGone = binary?.startsWith("/") && !existsSync(binary);
      const problem = isGone ? `${path} starts ${binary}, which is not there. Run: beckon --install` : null;
      return { on: binary !== null, turnedOff: false, binary, problem };
    },
  };
}

/** How many folders on the way are not there. */
const missing = (folder: string): number => (existsSync(folder) ? 0 : 1 + missing(dirname(folder)));

/** As many as were made, as far as nobody else uses them. */
function removeEmpty(lowest: string, count: number): void {
  try {
    for (let folder = lowest, left = count; left > 0; folder = dirname(folder), left--) rmdirSync(folder);
  } catch {
    // Somebody does.
  }
}
