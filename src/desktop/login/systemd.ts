/** Linux without a desktop: a service of systemd's user manager, which starts it at the first login or, with lingering, at boot. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Exec } from "../../core/interfaces/index.ts";
import type { Env } from "../../system/folders.ts";
import { putFile } from "../put-file.ts";
import { formatLoginArgs, type LoginCommand, type LoginItem, loginOff } from "./login-item.ts";

export interface SystemdOptions {
  readonly env: Env;
  readonly exec: Exec;
  /** Whether systemd keeps the user's services running without a login. */
  readonly hasLinger?: () => boolean;
}

const unitName = "beckon.service";
const lingerAdvice = "To let it run from boot on, also while you are logged out, run: loginctl enable-linger";

function servicePath(env: Env): string {
  const configHome = env.XDG_CONFIG_HOME;
  const folder = configHome?.startsWith("/") ? configHome : join(env.HOME ?? "/", ".config");
  return join(folder, "systemd", "user", unitName);
}

/** Shells of su, cron and some of ssh do not have the variable. */
const findRuntimeFolder = ({ XDG_RUNTIME_DIR: folder }: Env): string =>
  folder?.startsWith("/") ? folder : `/run/user/${process.getuid?.()}`;

/** The user manager of this user runs. */
export const hasUserManager = (env: Env): boolean => existsSync(join(findRuntimeFolder(env), "systemd"));

/** logind keeps a file for each user. */
const readLinger = (): boolean => existsSync(join("/var/lib/systemd/linger", userInfo().username));

export function createSystemdLoginItem({ env, exec, hasLinger = readLinger }: SystemdOptions): LoginItem {
  const path = servicePath(env);
  // What `systemctl enable` writes. By hand it also works where the user manager cannot be reached, as in a container.
  const link = join(dirname(path), "default.target.wants", unitName);
  const systemctl = (...args: readonly string[]) =>
    exec(["systemctl", "--user", ...args], { env: { XDG_RUNTIME_DIR: findRuntimeFolder(env) } });

  return {
    async enable(command) {
      // Measured with systemd 252: "Executable name contains special characters".
      if (/\p{Cc}/u.test(`${command.binary}${command.home ?? ""}`) || /["'\\]/.test(command.binary))
        throw new Error(
          `systemd takes no program with a quote, backslash or line break in its path: ${command.binary}`,
        );
      putFile(path, Buffer.from(formatUnit(command)), 0o600);
      mkdirSync(dirname(link), { recursive: true, mode: 0o700 });
      rmSync(link, { force: true });
      symlinkSync(`../${unitName}`, link);
      await systemctl("daemon-reload");
      await systemctl("start", unitName);
      const done = `systemd starts beckon when you log in (${path})`;
      return hasLinger() ? done : `${done}. ${lingerAdvice}`;
    },

    async disable() {
      if (!existsSync(path)) return null;
      rmSync(link, { force: true });
      rmSync(path);
      await systemctl("daemon-reload");
      return `systemd no longer starts beckon (${path} is removed)`;
    },

    async state() {
      if (!existsSync(path)) return loginOff;
      const binary = parseBinary(readFileSync(path, "utf8"));
      const on = existsSync(link);
      if (!on)
        return {
          on,
          turnedOff: true,
          binary,
          problem: `${path} is disabled. To enable it: beckon --install --login`,
        };
      if (binary?.startsWith("/") && !existsSync(binary))
        return {
          on,
          turnedOff: false,
          binary,
          problem: `${path} starts ${binary}, which does not exist. Run: beckon --install --login`,
        };
      const problem = hasLinger()
        ? null
        : `systemd starts beckon (${basename(path)}) when you log in, and stops it when you log out. ${lingerAdvice}`;
      return { on, turnedOff: false, binary, problem };
    },
  };
}

/** Quotes an argument: `%` starts a specifier of systemd, `$` a variable. */
const quoteArgument = (argument: string): string =>
  `"${argument.replace(/["\\]/g, "\\$&").replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;

/** It is not started again after `beckon stop`, which ends it without an error. */
function formatUnit(command: LoginCommand): string {
  const [binary = "", ...args] = [command.binary, ...formatLoginArgs(command)].map(quoteArgument);
  return [
    "[Unit]",
    "Description=beckon tells you when a coding agent needs you",
    "",
    "[Service]",
    // systemd expands no variables in the program itself.
    `ExecStart=${[binary.replaceAll("$$", "$"), ...args].join(" ")}`,
    "Restart=on-failure",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

function parseBinary(unit: string): string | null {
  const quoted = /^ExecStart="((?:[^"\\]|\\.)*)"/m.exec(unit)?.[1];
  return quoted?.replace(/\\(.)/g, "$1").replaceAll("%%", "%") ?? null;
}
