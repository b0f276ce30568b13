/**
 * Sets beckon up on another machine, over the same way that links it: looks at it (setup-probe.ts), chooses a program that runs there
 * (setup-binary.ts), copies it (setup-copy.ts) and runs it. No step needs root, and none opens a port or copies a token.
 */
import { dirname } from "node:path/posix";
import type { Exec } from "../core/interfaces/index.ts";
import type { ExecResult } from "../core/terminals/plan.ts";
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import { createShellCommand, type ShellMachine } from "./link-command.ts";
import { explainEnd, LinkError } from "./link-problem.ts";
import type { ChosenProgram } from "./setup-binary.ts";
import { type CopyOutcome, copyScript, readCopy } from "./setup-copy.ts";
import { type MachineFacts, probeScript, readProbe } from "./setup-probe.ts";
import { runScript } from "./setup-script.ts";

export interface RemoteMachine {
  readonly machine: ShellMachine;
  readonly exec: Exec;
}

/** ssh asks several servers on its way, and programs there may start from a cold disk. */
const commandMs = 45_000;
/** 126 MB over a slow line. A connection that is lost ends earlier. */
const copyMs = 30 * 60_000;

/** Changes nothing. `agents` are the names of programs to look for. Resolves with why it cannot be reached. */
export async function probeMachine(
  { machine, exec }: RemoteMachine,
  agents: readonly string[],
): Promise<MachineFacts | LinkError> {
  const argv = createShellCommand(machine, probeScript, [machine.program ?? "", ...agents]);
  const { code, stdout, stderr } = await exec(argv, { timeoutMs: commandMs });
  const facts = readProbe(stdout);
  if (facts) return facts;
  if (code === null) return new LinkError("down", stderr.trim() || "it does not answer");
  if (code === 126 || code === 127)
    return new LinkError("down", `it cannot run a shell script: ${shorten(stderr)}`);
  return explainEnd(code, stderr);
}

/** What there is to do with the program. */
export type ProgramPlan =
  | { readonly do: "copy"; readonly replaces: string | null }
  /** `isNewer` than the one here. */
  | { readonly do: "keep"; readonly path: string; readonly version: string; readonly isNewer: boolean };

/** A text says why beckon cannot be put there. A program that the user named is always copied. */
export function planProgram(
  { program, beckon }: Pick<MachineFacts, "program" | "beckon">,
  ownVersion: string,
  isNamed: boolean,
): ProgramPlan | string {
  if (beckon === null) return { do: "copy", replaces: null };
  const { path, version } = beckon;
  if (version === null && path !== program) return { do: "copy", replaces: null };
  if (version === null)
    return `${path} there is another program. Move it away, or choose another place with --program`;
  const order = Bun.semver.order(version, ownVersion);
  if (isNamed || order < 0) return { do: "copy", replaces: version };
  return { do: "keep", path, version, isNewer: order > 0 };
}

/** Why a program of this size cannot be put there; null if nothing is known that keeps it from there. */
export function findObstacle(facts: MachineFacts, bytes: number): string | null {
  const { noexecMount, readOnlyFolder, freeBytes } = facts;
  const folder = dirname(facts.program);
  const elsewhere = "Choose another place with --program";
  if (noexecMount !== null)
    return `programs may not be run in ${noexecMount} there (it is mounted with noexec). ${elsewhere}`;
  if (readOnlyFolder !== null)
    return `${facts.user || "the user"} may not write to ${readOnlyFolder} there. ${elsewhere}`;
  if (freeBytes !== null && freeBytes < bytes)
    return `${folder} has ${formatMegabytes(freeBytes)} free there, and beckon needs ${formatMegabytes(bytes)}`;
  return null;
}

export const formatMegabytes = (bytes: number): string =>
  bytes < 10e9 ? `${Math.round(bytes / 1e6)} MB` : `${Math.round(bytes / 1e9)} GB`;

export async function copyProgram(
  { machine, exec }: RemoteMachine,
  { path, bytes }: ChosenProgram,
  facts: Pick<MachineFacts, "program">,
): Promise<CopyOutcome> {
  const argv = createShellCommand(machine, copyScript, [machine.program ?? "", String(bytes)]);
  const run = await exec(argv, { timeoutMs: copyMs, inputFile: path });
  return readCopy(run, dirname(facts.program));
}

/** Runs beckon there. */
export function runThere(
  { machine, exec }: RemoteMachine,
  args: readonly string[],
  timeoutMs = commandMs,
): Promise<ExecResult> {
  return exec(createShellCommand(machine, runScript, [machine.program ?? "", ...args]), { timeoutMs });
}

/** The last line that a command there has printed, for the user. */
export const shorten = (text: string): string =>
  truncateEnd(toSingleLine(text.trim().split("\n").at(-1) ?? ""), 200).replace(/^beckon: /, "");
