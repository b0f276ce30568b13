/** The command that an agent's settings call beckon with: how it is written, and how it is known again. */

import { parseSimpleCommands, quoteForShell, type SimpleCommand } from "../shell/index.ts";

export interface CommandParts {
  /** The binary, absolute. */
  readonly binary: string;
  readonly agent: string;
  /** Where beckon was installed with BECKON_HOME set: the hooks must find the same folder. */
  readonly home: string | null;
}

export interface FoundCommand extends Omit<CommandParts, "agent"> {
  /** null if the command names none. */
  readonly agent: string | null;
}

export type HookPlatform = "linux" | "darwin" | "win32";

/** In WSL the platform is linux, and so is the binary: a path that only Windows knows is refused there. */
export function hookCommand(parts: CommandParts, platform: HookPlatform = "linux"): string {
  const isWindows = platform === "win32";
  const isAbsolute = isWindows ? /^(?:[A-Za-z]:)?[\\/]/ : /^\//;
  for (const path of [parts.binary, ...(parts.home === null ? [] : [parts.home])]) {
    if (!isAbsolute.test(path) || path.includes("\0")) {
      throw new Error(`the hooks cannot call ${path}: that is no absolute path on this system`);
    }
  }
  if (!/^[a-z][a-z0-9-]*$/.test(parts.agent)) throw new Error(`${parts.agent} is no agent's name`);
  return isWindows ? forWindows(parts) : forPosix(parts);
}

/**
 * Whatever happens, 0 and silence: any other exit code is an error line in the person's terminal on every event, and
 * exit code 2 blocks what the agent is doing. busybox's sh ends with 2 (dash, bash: 126) for a binary of another machine's
 * architecture (a home folder shared between machines): it takes the file for a script.
 * The group, not the program, has its stderr closed: "not found" and "Segmentation fault" are said by the shell.
 * `cd /`: a program built by Bun ends with 1 when it is started in a folder that is gone.
 * No exec and no trap for SIGTERM: Claude Code 2.1.325 gives each hook a process group of its own and ends all of it
 * (measured: the program hears SIGTERM in this form as with exec or a trap; of 2.0.76 it hears it in none). With exec the
 * exit codes above would be the agent's to see.
 */
function forPosix({ binary, agent, home }: CommandParts): string {
  const setting = home === null ? "" : `BECKON_HOME=${quoteForShell(home)} `;
  return `{ cd / && ${setting}${quoteForShell(binary)} hook ${agent}; } 2>/dev/null; exit 0`;
}

/**
 * Claude Code on Windows gives the command to Git Bash, or to PowerShell where Git Bash is missing (its hooks reference);
 * early 2.1 versions gave it to cmd (reports). Not tried on a real Windows.
 * - Forward slashes: Git Bash takes a backslash for an escape.
 * - Without quotes where they are not needed: PowerShell takes a quoted path for a text, not for a program. A path with
 *   spaces runs in Git Bash and cmd only.
 * - ` ; exit 0` is the guard in Git Bash and PowerShell; cmd hands it over as further arguments, which are not looked at.
 *   So no redirection either: bash and PowerShell have no common name for nowhere, and with 0 nothing is shown.
 * - BECKON_HOME before the program is known to Git Bash only.
 */
function forWindows({ binary, agent, home }: CommandParts): string {
  const setting = home === null ? "" : `BECKON_HOME=${windowsQuote(home)} `;
  return `${setting}${windowsQuote(binary)} hook ${agent} ; exit 0`;
}

function windowsQuote(path: string): string {
  const slashed = path.replaceAll("\\", "/");
  if (/^[\p{L}\p{M}\p{N}_.:/@+%-]+$/u.test(slashed)) return slashed;
  return /[$`"!]/.test(slashed) ? quoteForShell(slashed) : `"${slashed}"`;
}

/** The release files have the names of their systems. */
const program = /^beckon(?:-(?:linux|darwin|windows)-(?:x64|arm64))?(?:\.exe)?$/i;
const script = /^beckon-hook\.sh$/;
const checkout = /(?:^|[\\/])beckon[^\\/]*[\\/]src[\\/]main\.ts$/;
const shells = /^(?:sh|bash|dash|ash|zsh|ksh)$/;
const runtimes = /^(?:node|bun)(?:\.exe)?$/;

const baseName = (path: string): string => path.split(/[\\/]/).at(-1) ?? "";

export const isOurCommand = (command: string): boolean => readHookCommand(command) !== null;

/**
 * What the command names, if calling beckon's hook is all it does: bare, or with a guard as we write it or wrote it.
 * Where a variable or ~ is in the path it is given as written. Null: not ours, also where it calls beckon among other things.
 */
export function readHookCommand(command: string): FoundCommand | null {
  // cmd does not know backslash as an escape.
  const text = /^"?[A-Za-z]:\\/.test(command) ? command.replaceAll("\\", "/") : command;
  const commands = parseSimpleCommands(text);
  if (commands === null) return null;
  const found = commands.flatMap((simple) => readSimple(simple) ?? []);
  const [parts] = found;
  if (parts === undefined || found.length > 1) return null;
  const others = commands.filter((simple) => readSimple(simple) === null);
  return others.every((simple) => isGuard(simple, parts.binary)) ? parts : null;
}

/** The form without a shell: `"command": "/…/beckon", "args": ["hook", "claude"]`. */
export const readHookArguments = (words: readonly string[]): FoundCommand | null =>
  readSimple({ assignments: new Map(), words });

/** What a person wrote around beckon, or something of that name: not ours to change, but worth a word in doctor. */
export const mentionsBeckon = (command: string): boolean =>
  /\bbeckon\b/i.test(command) && !isOurCommand(command);

function readSimple({ assignments, words }: SimpleCommand): FoundCommand | null {
  const called = words[0] === "exec" ? words.slice(1) : words;
  const first = called[0] ?? "";
  const parts = (binary: string, agent: string | undefined): FoundCommand => ({
    binary,
    agent: agent || assignments.get("BECKON_PROVIDER") || null,
    home: assignments.get("BECKON_HOME") || null,
  });
  if (program.test(baseName(first))) return called[1] === "hook" ? parts(first, called[2]) : null;
  if (script.test(baseName(first))) return parts(first, called[1]);
  if (shells.test(baseName(first))) {
    return script.test(baseName(called[1] ?? "")) ? parts(called[1] ?? "", called[2]) : null;
  }
  if (runtimes.test(baseName(first))) {
    const [path = "", verb, agent] = called[1] === "run" ? called.slice(2) : called.slice(1);
    return checkout.test(path) && verb === "hook" ? parts(path, agent) : null;
  }
  return null;
}

/** Does nothing but see to it that the hook can run, and that nobody hears of it where it cannot. */
function isGuard({ assignments, words }: SimpleCommand, binary: string): boolean {
  if (assignments.size > 0) return false;
  const line = words.filter((word) => word !== binary).join(" ");
  const isAboutIt = line.length < words.join(" ").length;
  if (isAboutIt) return /^(?:\[ -[xfre] \]|test -[xfre]|command -v)$/.test(line);
  return /^(?:cd \/|exit 0|true|:)$/.test(line);
}
