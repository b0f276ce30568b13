/** Windows: a value of the Run key, in the person's own part of the registry. */
import { existsSync } from "node:fs";
import { type LoginCommand, type LoginItem, loginArgs, notThere } from "./login.ts";

const runKey = "Software\\Microsoft\\Windows\\CurrentVersion\\Run";
/** Where Task Manager and Settings note what the person turned off: an odd first byte. */
const approvedKey = "Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run";
const name = "beckon";
/** Windows passes over a longer value without a word. */
const maxLength = 260;

/** Below HKEY_CURRENT_USER. */
export interface Registry {
  read(key: string, name: string): Buffer | null;
  /** What went wrong, or null. */
  write(key: string, name: string, text: string): string | null;
  remove(key: string, name: string): void;
}

/** conhost has no window with --headless, and ours is a console program. */
export function runValue(wish: LoginCommand, systemRoot: string): string {
  const command = [wish.binary, ...loginArgs(wish)].map(quoted);
  return [`${systemRoot}\\System32\\conhost.exe`, "--headless", ...command].join(" ");
}

/** A path holds no quotes on Windows; one that ends with a backslash would quote our own. */
function quoted(argument: string): string {
  return /^[\w-]+$/.test(argument) ? argument : `"${argument.replace(/\\+$/, "$&$&")}"`;
}

function binaryIn(value: string): string | null {
  return /--headless\s+"([^"]+)"/.exec(value)?.[1] ?? /^"([^"]+)"/.exec(value)?.[1] ?? null;
}

export function runKeyLogin(registry: Registry, systemRoot: string): LoginItem {
  const readValue = (): string | null => {
    const data = registry.read(runKey, name);
    return data === null ? null : data.toString("utf16le").replace(/\0+$/, "");
  };
  const isTurnedOff = () => ((registry.read(approvedKey, name)?.[0] ?? 0) & 1) === 1;

  return {
    async enable(wish) {
      const value = runValue(wish, systemRoot);
      if (
        value.includes('""') ||
        /["\p{Cc}]/u.test(`${wish.binary}${wish.home ?? ""}`) ||
        value.length > maxLength
      ) {
        throw new Error(
          `beckon cannot start at login: Windows takes no command longer than ${maxLength} characters, or with quotes in a path: ${value}`,
        );
      }
      const failed = registry.write(runKey, name, value);
      if (failed) throw new Error(`beckon cannot start at login: ${failed}`);
      registry.remove(approvedKey, name);
      return `beckon starts when you log in (HKCU\\${runKey})`;
    },

    async disable() {
      const isThere = readValue() !== null;
      registry.remove(runKey, name);
      registry.remove(approvedKey, name);
      return isThere ? `beckon no longer starts when you log in (HKCU\\${runKey})` : null;
    },

    async state() {
      const value = readValue();
      if (value === null) return notThere;
      const binary = binaryIn(value);
      if (isTurnedOff()) {
        const problem =
          "you turned it off in Task Manager or Settings. To turn it on: beckon --install --login";
        return { on: false, turnedOff: true, binary, problem };
      }
      const isGone = binary !== null && !existsSync(binary);
      const problem = isGone ? `it would start ${binary}, which is not there. Run: beckon --install` : null;
      return { on: true, turnedOff: false, binary, problem };
    },
  };
}
