/** The command with which an agent's settings call beckon: how it is written, and how it is recognised. */
import { asList, asRecord } from "../core/json.ts";
import { quoteForShell } from "../core/text/shell-quote.ts";
import { parseSimpleCommands, type SimpleCommand } from "../shell/index.ts";
import { agentPidVariable } from "../system/process-stat.ts";
import { findShortPath } from "../system/short-path.ts";

export interface CommandParts {
  /** The absolute path of the binary. */
  readonly binary: string;
  readonly agent: string;
  /** BECKON_HOME as it was during the install, so that the hooks find the same folder. null if it was not set. */
  readonly home: string | null;
  /** An option of `beckon hook`. Absent for an event. */
  readonly option?: "--guard";
  /** The agent waits for every hook, and is to wait only for a shell that starts this one. Not on Windows. */
  readonly isDetached?: boolean;
}

/** A command as it stands in the settings: text for a shell, or with `args` a program that is run without one. */
export interface HookCommand {
  readonly command: string;
  readonly args?: readonly string[];
}

export interface FoundCommand extends Pick<CommandParts, "binary" | "home"> {
  /** null if the command names none. */
  readonly agent: string | null;
}

export type HookPlatform = "linux" | "darwin" | "win32";

export function createShellCommand(parts: CommandParts, platform: HookPlatform = "linux"): HookCommand {
  checkParts(parts, platform);
  return { command: platform === "win32" ? formatForWindows(parts) : formatForPosix(parts) };
}

export const envProgram = "/usr/bin/env";

/**
 * For hooks whose failure the agent does not show. Measured with Claude Code 2.1.325: an async hook whose program is missing,
 * crashes, fails or prints is invisible, but a file that the system cannot execute (another processor, cut off) is an error
 * line at every event. With `env` in between it is not. `env` replaces itself with the binary: 0.2 ms of CPU less than dash
 * takes, 1.2 ms less than bash. It takes no `cd /`: if the folder is gone, the CLI starts hooks in the home folder.
 *
 * On Windows, which has no `env`, the binary is run directly: a shell hook there is Git Bash or PowerShell, and whatever they
 * make of the path. BECKON_HOME needs a shell there.
 */
export function createExecCommand(parts: CommandParts, platform: HookPlatform = "linux"): HookCommand {
  checkParts(parts, platform);
  const { binary, agent, home } = parts;
  // The agent replaces ${…} in arguments, and env takes a path with = for a variable.
  if (/[$=]/.test(binary) || home?.includes("$")) return createShellCommand(parts, platform);
  if (platform !== "win32") {
    const setting = home === null ? [] : [`BECKON_HOME=${home}`];
    return { command: envProgram, args: [...setting, binary, "hook", agent] };
  }
  return home === null ? { command: binary, args: ["hook", agent] } : createShellCommand(parts, platform);
}

/** In WSL the platform is linux, and so is the binary: a path that only Windows knows is refused there. */
function checkParts({ binary, agent, home }: CommandParts, platform: HookPlatform): void {
  const isAbsolute = platform === "win32" ? /^(?:[A-Za-z]:)?[\\/]/ : /^\//;
  for (const path of home === null ? [binary] : [binary, home]) {
    if (!isAbsolute.test(path) || path.includes("\0")) {
      throw new Error(`the hooks cannot call ${path}: it is not an absolute path on this system`);
    }
  }
  if (!/^[a-z][a-z0-9-]*$/.test(agent)) throw new Error(`${agent} is not an agent's name`);
}

/**
 * Always exits with 0, silently: any other exit code is an error line in the user's terminal at every event, and exit code 2
 * blocks what the agent is doing. For a binary of another processor (a home folder shared between machines) busybox's sh
 * exits with 2, because it takes the file for a script; dash and bash exit with 126.
 * stderr is closed for the group, not for the program: the shell itself prints "not found" and "Segmentation fault".
 * `cd /`: a program that was built with Bun exits with 1 if it is started in a folder that is gone.
 * No exec and no trap for SIGTERM: Claude Code 2.1.325 gives each hook its own process group and ends all of it. Measured: the
 * program gets SIGTERM in this form as well as with exec or a trap; from 2.0.76 it gets it in no form. With exec the agent
 * would see the exit codes above.
 */
function formatForPosix({ binary, agent, home, option, isDetached = false }: CommandParts): string {
  const setting = home === null ? "" : `BECKON_HOME=${quoteForShell(home)} `;
  const args = option === undefined ? agent : `${agent} ${option}`;
  const call = `${setting}${quoteForShell(binary)} hook ${args}`;
  return isDetached ? detachedStart + call + detachedEnd : `{ cd / && ${call}; } 2>/dev/null; exit 0`;
}

/**
 * Around a call that the agent does not wait for: the shell exits at once. The call gets stdin by another number, because a shell gives
 * its jobs an empty one, and the agent's pid, because its parent is gone. It cannot print. Grok Build 1.0.41 fills in variables itself, and
 * runs no hook with one that it does not have: so `$` stands alone.
 */
const detachedStart = `{ cd / && eval export ${agentPidVariable}='$'PPID && `;
const detachedEnd = " <&3 & } 3<&0 >/dev/null 2>&1; exit 0";

const removeDetaching = (command: string): string =>
  command.startsWith(detachedStart) && command.endsWith(detachedEnd)
    ? command.slice(detachedStart.length, -detachedEnd.length)
    : command;

/**
 * Claude Code on Windows gives the command to Git Bash, or to PowerShell if Git Bash is missing (its hooks reference); early
 * 2.1 versions gave it to cmd (reports). Not tried on a real Windows.
 * - Forward slashes: to Git Bash a backslash is an escape.
 * - No quotes: to PowerShell a quoted path is a string, not a program, and `cmd /C` of Codex gets them as \\". A path with spaces
 *   or foreign letters is written by its 8.3 name. Where the disk keeps none, it is quoted, and runs in Git Bash and cmd only.
 * - ` ; exit 0` guards in Git Bash and PowerShell; cmd passes it on as further arguments, which beckon ignores. There is no
 *   redirection, because bash and PowerShell have no common null device; with exit code 0 nothing is shown.
 * - Only Git Bash knows BECKON_HOME in front of the program.
 */
function formatForWindows({ binary, agent, home, option }: CommandParts): string {
  const setting = home === null ? "" : `BECKON_HOME=${quoteForWindows(home)} `;
  const args = option === undefined ? agent : `${agent} ${option}`;
  return `${setting}${quoteForWindows(binary)} hook ${args} ; exit 0`;
}

/** Every shell takes such a path for one word, and reads it the same in every code page. */
const plainPath = /^[\w.:/@+~-]+$/;

function quoteForWindows(path: string): string {
  const slashed = path.replaceAll("\\", "/");
  if (plainPath.test(slashed)) return slashed;
  const short = findShortPath(path).replaceAll("\\", "/");
  if (plainPath.test(short)) return short;
  if (/^[\p{L}\p{M}\p{N}_.:/@+~%-]+$/u.test(slashed)) return slashed;
  return /[$`"!]/.test(slashed) ? quoteForShell(slashed) : `"${slashed}"`;
}

/** The release files have the names of their systems. */
const program = /^beckon(?:-(?:linux|darwin|windows)-(?:x64|arm64))?(?:\.exe)?$/i;
const script = /^beckon-hook\.sh$/;
const checkout = /(?:^|[\\/])beckon[^\\/]*[\\/]src[\\/]main\.ts$/;
const shells = /^(?:sh|bash|dash|ash|zsh|ksh)$/;
const runtimes = /^(?:node|bun)(?:\.exe)?$/;

const baseName = (path: string): string => path.split(/[\\/]/).at(-1) ?? "";

/** As text for a shell that does the same, for display and for readHookCommand. */
export const formatAsShell = ({ command, args }: HookCommand): string =>
  args === undefined ? command : [command, ...args].map(quoteForShell).join(" ");

export const isOwnCommand = (hook: HookCommand): boolean =>
  hook.args === undefined
    ? readHookCommand(hook.command) !== null
    : readSimple({ assignments: new Map(), words: [hook.command, ...hook.args] }) !== null;

/**
 * What the command calls, if all that it does is to call beckon's hook: alone, or with a guard as beckon writes it or wrote
 * it. A path with a variable or ~ is returned as written. null if the command is not beckon's own, or does more.
 */
export function readHookCommand(command: string): FoundCommand | null {
  // PowerShell's call operator.
  const direct = removeDetaching(command).replace(/^& (?=["'])/, "");
  // To cmd a backslash is not an escape.
  const text = /^"?[A-Za-z]:\\/.test(direct) ? direct.replaceAll("\\", "/") : direct;
  const commands = parseSimpleCommands(text);
  if (commands === null) return null;
  const calls = commands.flatMap((simple) => readSimple(simple) ?? []);
  const [call] = calls;
  if (call === undefined || calls.length > 1) return null;
  const others = commands.filter((simple) => readSimple(simple) === null);
  return others.every((simple) => isGuard(simple, call.binary)) ? call : null;
}

/** True for a user's own command around beckon: left alone, but doctor mentions it. */
export const mentionsBeckon = (hook: HookCommand): boolean =>
  /\bbeckon\b/i.test(formatAsShell(hook)) && !isOwnCommand(hook);

function readSimple({ assignments, words }: SimpleCommand): FoundCommand | null {
  if (words[0] === envProgram) return readSimple(readEnvArguments(words.slice(1)));
  const call = words[0] === "exec" ? words.slice(1) : words;
  const first = call[0] ?? "";
  const found = (binary: string, agent: string | undefined): FoundCommand => ({
    binary,
    agent: agent || assignments.get("BECKON_PROVIDER") || null,
    home: assignments.get("BECKON_HOME") || null,
  });
  if (program.test(baseName(first))) return call[1] === "hook" ? found(first, call[2]) : null;
  if (script.test(baseName(first))) return found(first, call[1]);
  if (shells.test(baseName(first))) {
    return script.test(baseName(call[1] ?? "")) ? found(call[1] ?? "", call[2]) : null;
  }
  if (runtimes.test(baseName(first))) {
    const [path = "", verb, agent] = call[1] === "run" ? call.slice(2) : call.slice(1);
    return checkout.test(path) && verb === "hook" ? found(path, agent) : null;
  }
  return null;
}

function readEnvArguments(words: readonly string[]): SimpleCommand {
  const assignments = new Map<string, string>();
  let next = 0;
  for (; next < words.length; next++) {
    const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[next] ?? "");
    if (!assignment) break;
    assignments.set(assignment[1] ?? "", assignment[2] ?? "");
  }
  return { assignments, words: words.slice(next) };
}

/** True for what only checks that the hook can run, or hides that it cannot. */
function isGuard({ assignments, words }: SimpleCommand, binary: string): boolean {
  if (assignments.size > 0) return false;
  const withoutBinary = words.filter((word) => word !== binary).join(" ");
  const namesBinary = withoutBinary.length < words.join(" ").length;
  if (namesBinary) return /^(?:\[ -[xfre] \]|test -[xfre]|command -v)$/.test(withoutBinary);
  return /^(?:cd \/|exit 0|true|:)$/.test(withoutBinary);
}

/** A hook in the settings, with its event. */
export interface RegisteredHook extends HookCommand {
  readonly event: string;
}

/** The hooks in settings that are parsed already. hooks.ts also finds their positions, but its parser takes 5 MB of memory. */
export function listHooks(settings: unknown): readonly RegisteredHook[] {
  return Object.entries(asRecord(asRecord(settings).hooks)).flatMap(([event, groups]) =>
    asList(groups)
      .flatMap((group) => asList(asRecord(group).hooks))
      .flatMap((hook) => {
        const { command, args } = asRecord(hook);
        if (typeof command !== "string") return [];
        return [{ event, command, ...(args === undefined ? {} : { args: asList(args).map(String) }) }];
      }),
  );
}
