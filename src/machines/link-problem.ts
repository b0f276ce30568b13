/** Why a machine is not linked: told apart by what ssh and shells print, with what the user can do about it. */
import type { MachineSettings } from "../core/config/machines.ts";
import { quoteIfNeeded } from "../core/text/shell-quote.ts";
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import { ConnectionError } from "../system/keep-connected.ts";
import type { ShellMachine } from "./link-command.ts";

export type LinkProblem = "down" | "auth-failed" | "host-key" | "too-old" | "not-installed" | "refused";

/** Only the user can change these: another attempt would fail in the same way, and a server may lock out who fails too often. */
const notRetried: ReadonlySet<LinkProblem> = new Set(["auth-failed", "host-key"]);

export class LinkError extends ConnectionError {
  readonly problem: LinkProblem;

  constructor(problem: LinkProblem, text: string) {
    // A machine that answers and cannot be linked is a problem at once; one that goes away may be back in a moment.
    super(text, {
      isPermanent: notRetried.has(problem),
      ...(problem === "refused" ? { isRoutine: false } : {}),
    });
    this.problem = problem;
  }
}

export const tooOld = (): LinkError => new LinkError("too-old", "the beckon there is too old");

/** By what the command that reaches the machine has printed on stderr, and its exit code. */
export function explainEnd(code: number | null, errors: string): LinkError {
  if (/REMOTE HOST IDENTIFICATION HAS CHANGED/i.test(errors))
    return new LinkError("host-key", "its host key has changed");
  if (/Host key verification failed/i.test(errors))
    return new LinkError("host-key", "its host key is not known yet");
  // With the methods that were tried, as in "Permission denied (publickey)": a file that may not be run is something else.
  if (/Permission denied \(|Too many authentication failures/i.test(errors))
    return new LinkError("auth-failed", "ssh may not log in there without a password");
  if (code === 127 || /beckon: (?:command )?not found|No such file or directory/i.test(errors))
    return new LinkError("not-installed", "beckon is not installed there");
  if (/no such command|unknown command/i.test(errors)) return tooOld();
  const last = truncateEnd(toSingleLine(errors.trim().split("\n").at(-1) ?? ""), 200);
  return new LinkError("down", last === "" ? `the link has ended (exit code ${code})` : last);
}

/** How the machine is added, with these settings. */
export function formatAdd(name: string, settings: ShellMachine): string {
  const { program, ...reached } = settings;
  const more = program === undefined ? "" : ` --program ${quoteIfNeeded(program)}`;
  const [[way, target] = ["", ""]] = Object.entries(reached);
  if (way === "ssh") {
    const asName = target === name ? "" : ` --name ${name}`;
    return `beckon machine add ${quoteIfNeeded(target)}${asName}${more}`;
  }
  return `beckon machine add ${name} --${way} ${quoteIfNeeded(target)}${more}`;
}

/**
 * What the user can do, with the exact command. `again` is the command that was tried; without it, the app goes on trying by itself.
 * null if there is nothing to do.
 */
export function suggestFix(
  problem: LinkProblem,
  name: string,
  settings: MachineSettings,
  again: string | null = null,
): string | null {
  const test = again ?? `beckon machine test ${name}`;
  const login = "ssh" in settings ? `ssh ${quoteIfNeeded(settings.ssh)}` : null;
  switch (problem) {
    case "down":
      return again === null ? `It is tried again by itself. To try now: ${test}` : null;
    case "auth-failed":
      return `${login === null ? "Let it log in" : `To see why: ${login}`}. Then: ${test}`;
    case "host-key":
      return `${login === null ? "Compare its key" : `To compare it: ${login}`}. Then: ${test}`;
    case "too-old":
      return "command" in settings ? "Update the beckon there" : `Run: beckon machine update ${name}`;
    case "refused":
      return null;
    case "not-installed":
      return "command" in settings ? "Install beckon there" : `Run: ${formatAdd(name, settings)}`;
  }
}
