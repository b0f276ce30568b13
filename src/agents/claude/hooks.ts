/** The hooks that beckon registers with Claude Code: hooks/claude.json with types, and which of them a version of the CLI gets. */
import table from "../../../hooks/claude.json";
import type { HookEventName } from "./payload.ts";

/**
 * `timeout` in seconds. The forwarder gives up after one second by itself: 5 only limits a hook that hangs. A PermissionRequest
 * waits for the user's answer for up to an hour, so that they can be away; when it times out, the CLI's dialog stays (measured).
 * SessionEnd: the CLI's default is 1.5 s, but the forwarder needs one second and then the time for the spool.
 *
 * `async`: the CLI does not wait for the hook. Not for PermissionRequest, whose hook decides, and not for SessionEnd, because
 * the CLI may be gone before it has started the hook.
 */
export interface HookEntry {
  readonly event: HookEventName;
  /** Every tool, source and type if absent. */
  readonly matcher?: string;
  readonly timeout: number;
  readonly async: boolean;
  /** The CLI can run the program without a shell, and would not show that it failed. */
  readonly canExec: boolean;
}

export interface HookRow extends Omit<HookEntry, "canExec"> {
  /** The first version with this event. Before 2.1.101 the CLI refuses the whole settings file for an unknown event. */
  readonly since?: string;
  /**
   * Not registered with a CLI whose status file reports the same. PostToolBatch would cost every tool call one more hook, and
   * any hook on PreCompact or PostCompact prints a line into the user's terminal at every /compact (measured).
   */
  readonly replacedByStatusFile?: boolean;
}

interface Reason {
  readonly event: HookEventName;
  readonly why: string;
}

interface HookTable {
  readonly agent: string;
  /** Used if the version is unknown: the oldest that was tried. */
  readonly assumedVersion: string;
  /** The CLI knows `async` from 2.1.15 on, but before 2.1.75 each async hook leaves a line in the user's terminal. */
  readonly asyncSince: string;
  /** The first version that runs a hook with `args` without a shell. */
  readonly execSince: string;
  /** The first version that writes to its status file what it is doing. */
  readonly statusFileSince: string;
  readonly register: readonly HookRow[];
  /** Hooks on these would break or flood the session. */
  readonly never: readonly Reason[];
  /** Hooks on these would report nothing new. */
  readonly unused: readonly Reason[];
}

// The JSON's types are wider than the table's: a test checks that every event is in payload.ts.
export const hookTable = table as HookTable;

/** Registered with the work guard only. Before this version, the CLI refuses a settings file with an event that it does not know. */
export const guardDocumentsEvent = "InstructionsLoaded";
export const guardDocumentsSince = "2.1.101";

/** What to register with this version, as `claude --version` prints it. null if unknown. */
export function hooksFor(version: string | null): HookEntry[] {
  const cli = knownVersion(version);
  const canBeAsync = isAtLeast(cli, hookTable.asyncSince);
  const knowsArgs = isAtLeast(cli, hookTable.execSince);
  const hasStatusFile = isAtLeast(cli, hookTable.statusFileSince);
  return hookTable.register
    .filter((row) => isKnownTo(cli, row) && !(hasStatusFile && row.replacedByStatusFile))
    .map(({ since: _, replacedByStatusFile: __, ...entry }) => ({
      ...entry,
      async: entry.async && canBeAsync,
      canExec: entry.async && knowsArgs,
    }));
}

/** The events of the table that this version of the CLI knows. */
export function eventsKnownTo(version: string | null): ReadonlySet<string> {
  const cli = knownVersion(version);
  return new Set(hookTable.register.filter((row) => isKnownTo(cli, row)).map(({ event }) => event));
}

const knownVersion = (version: string | null): string =>
  version !== null && parseVersion(version) ? version : hookTable.assumedVersion;

const isKnownTo = (version: string, { since }: HookRow): boolean =>
  since === undefined || isAtLeast(version, since);

export function isAtLeast(version: string, wanted: string): boolean {
  const [a, b] = [parseVersion(version), parseVersion(wanted)];
  if (!a || !b) return false;
  const differing = a.numbers.findIndex((n, i) => n !== b.numbers[i]);
  // A pre-release comes before its release.
  if (differing < 0) return !a.isPreRelease || b.isPreRelease;
  return (a.numbers[differing] ?? 0) > (b.numbers[differing] ?? 0);
}

interface ParsedVersion {
  readonly numbers: readonly number[];
  readonly isPreRelease: boolean;
}

function parseVersion(version: string): ParsedVersion | null {
  const match = /^\s*v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-?)/.exec(version);
  return match && { numbers: match.slice(1, 4).map(Number), isPreRelease: match[4] === "-" };
}
