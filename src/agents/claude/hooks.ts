/** The hooks that beckon registers with Claude Code: hooks/claude.json, typed, and fitted to a version of the CLI. */
import table from "../../../hooks/claude.json";
import type { HookEventName } from "./payload.ts";

/**
 * timeout, in seconds: the forwarder gives up after one second by itself, 5 only bounds what went wrong.
 * PermissionRequest will hold the line for an answer: an hour, so that someone away from the desk can still answer, and
 * a line that nobody ends is not held for ever; at its end the CLI's dialog stays (measured). SessionEnd: the CLI gives
 * 1.5 s by default, the forwarder needs its second and then the spool.
 *
 * async: the CLI goes on without waiting. Not where the hook decides (PermissionRequest), and not for SessionEnd, as
 * nothing may be left to run it once the CLI is gone.
 */
export interface HookEntry {
  readonly event: HookEventName;
  /** Absent: every tool, source and type. */
  readonly matcher?: string;
  readonly timeout: number;
  readonly async: boolean;
}

interface Row extends HookEntry {
  /** The first CLI that has it. Before 2.1.101 a name it does not know makes it refuse the whole settings file. */
  readonly since?: string;
}

interface Reason {
  readonly event: HookEventName;
  readonly why: string;
}

interface HookTable {
  readonly agent: string;
  /** What a CLI of unknown version is taken for: the oldest that was tried. */
  readonly assumedVersion: string;
  /** Known to the CLI from 2.1.15, but before 2.1.75 each one leaves a line in the person's terminal. */
  readonly asyncSince: string;
  readonly register: readonly Row[];
  /** Would break or flood the session. */
  readonly never: readonly Reason[];
  /** Would tell nothing that is not known otherwise. */
  readonly unused: readonly Reason[];
}

// JSON's types are wider than the table's: the test holds every row to wire.ts.
export const hookTable = table as HookTable;

/** What to register with a CLI of this version (as `claude --version` prints it); null: not known. */
export function hooksFor(version: string | null): HookEntry[] {
  const cli = parse(version ?? "") ? (version ?? "") : hookTable.assumedVersion;
  const mayAsync = isAtLeast(cli, hookTable.asyncSince);
  return hookTable.register
    .filter(({ since }) => since === undefined || isAtLeast(cli, since))
    .map(({ since: _, ...entry }) => ({ ...entry, async: entry.async && mayAsync }));
}

export function isAtLeast(version: string, wanted: string): boolean {
  const [a, b] = [parse(version), parse(wanted)];
  if (!a || !b) return false;
  const differing = a.numbers.findIndex((n, i) => n !== b.numbers[i]);
  // A pre-release comes before its release.
  if (differing < 0) return !a.pre || b.pre;
  return (a.numbers[differing] ?? 0) > (b.numbers[differing] ?? 0);
}

function parse(version: string): { readonly numbers: readonly number[]; readonly pre: boolean } | null {
  const found = /^\s*v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-?)/.exec(version);
  return found && { numbers: found.slice(1, 4).map(Number), pre: found[4] === "-" };
}
