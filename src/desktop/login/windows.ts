/** Windows: a value of the Run key in the user's part of the registry. */
import { existsSync } from "node:fs";
import { consolePathOf, windowlessPathOf } from "../../system/windowless.ts";
import { formatLoginArgs, type LoginCommand, type LoginItem, loginOff } from "./login-item.ts";

const runKey = "Software\\Microsoft\\Windows\\CurrentVersion\\Run";
/** Task Manager and Settings record here what the user turned off: the first byte is odd. */
const approvedKey = "Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run";
const name = "beckon";
/** Windows silently ignores a longer value. */
const maxLength = 260;

/** Keys below HKEY_CURRENT_USER. */
export interface Registry {
  read(key: string, name: string): Buffer | null;
  /** Returns what went wrong, or null. */
  write(key: string, name: string, text: string): string | null;
  remove(key: string, name: string): void;
}

/** beckon.exe is a console program: its twin starts without a window. */
export function formatRunValue(command: LoginCommand): string {
  const program = windowlessPathOf(command.binary) ?? command.binary;
  return [program, ...formatLoginArgs(command)].map(quoteArgument).join(" ");
}

/** A path on Windows has no quotes. Backslashes at the end are doubled, or they would escape the closing quote. */
function quoteArgument(argument: string): string {
  return /^[\w-]+$/.test(argument) ? argument : `"${argument.replace(/\\+$/, "$&$&")}"`;
}

function parseRunValue(value: string): string | null {
  return /^"([^"]+)"/.exec(value)?.[1] ?? null;
}

export function createWindowsLoginItem(registry: Registry): LoginItem {
  const readValue = (): string | null => {
    const data = registry.read(runKey, name);
    return data === null ? null : data.toString("utf16le").replace(/\0+$/, "");
  };
  const isTurnedOff = () => ((registry.read(approvedKey, name)?.[0] ?? 0) & 1) === 1;

  return {
    async enable(command) {
      const value = formatRunValue(command);
      if (
        value.includes('""') ||
        /["\p{Cc}]/u.test(`${command.binary}${command.home ?? ""}`) ||
        value.length > maxLength
      ) {
        throw new Error(
          `beckon cannot start at login: Windows does not accept a command of more than ${maxLength} characters, or with quotes in a path: ${value}`,
        );
      }
      const failure = registry.write(runKey, name, value);
      if (failure) throw new Error(`beckon cannot start at login: ${failure}`);
      registry.remove(approvedKey, name);
      return `beckon starts when you log in (HKCU\\${runKey})`;
    },

    async disable() {
      const isInstalled = readValue() !== null;
      registry.remove(runKey, name);
      registry.remove(approvedKey, name);
      return isInstalled ? `beckon no longer starts when you log in (HKCU\\${runKey})` : null;
    },

    async state() {
      const value = readValue();
      if (value === null) return loginOff;
      const started = parseRunValue(value);
      const binary = started === null ? null : consolePathOf(started);
      if (isTurnedOff()) {
        const problem =
          "you turned it off in Task Manager or Settings. To turn it on: beckon --install --login";
        return { on: false, turnedOff: true, binary, problem };
      }
      const isGone = started !== null && !existsSync(started);
      const problem = isGone
        ? `it would start ${started}, which does not exist. Run: beckon --install`
        : null;
      return { on: true, turnedOff: false, binary, problem };
    },
  };
}
