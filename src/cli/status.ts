/** `beckon status`: lists every session and what it needs. */
import { version } from "../../package.json";
import type { Quiet } from "../core/config/quiet.ts";
import { capitalize, formatCount } from "../core/text/words.ts";
import { formatAge } from "../core/view/figures.ts";
import { groupMarks, groups } from "../core/view/group-names.ts";
import { sortViews } from "../core/view/order.ts";
import type { SessionView } from "../core/view/session-view.ts";
import { readInstallRecord } from "../setup/install-record.ts";
import { findVersionDifference, type VersionDifference } from "../setup/versions.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { readOpenHookErrors } from "../storage/hook-log.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { pause } from "../system/schedule.ts";
import { parseArguments, usageError } from "./args.ts";
import { fetchSessions, notRunning } from "./client.ts";
import { statusCommand } from "./commands/status.ts";
import { createNoMachineError } from "./find-machine.ts";
import { formatJson, formatLine, hasColour, homeFolder, print, terminalColumns, wrapText } from "./output.ts";
import { formatQuiet } from "./quiet.ts";
import { formatStatusTable } from "./status-table.ts";
import type { WatchData } from "./watch/model.ts";

export async function status(args: string[]): Promise<number> {
  const { flags, values } = parseArguments(args, statusCommand);
  const paths = resolvePaths();
  const machine = values["--machine"];
  if (machine !== undefined) checkMachine(paths, machine);
  const wanted: Wanted = {
    paths,
    isShown: (session) => machine === undefined || session.machine === machine,
  };
  const [asJson, isShort] = [flags.has("--json"), flags.has("--short")];
  const listsEnded = flags.has("--all");
  const at = values["--at"];
  if (at !== undefined) {
    if (isShort || flags.has("--watch")) throw usageError("status --at takes neither --short nor --watch");
    const { printMoment } = await import("./moment.ts");
    return printMoment(at, { ...wanted, asJson, listsEnded });
  }
  if (asJson && isShort) throw usageError("status takes --json or --short, not both");
  const format = () =>
    asJson ? formatAsJson(wanted) : isShort ? formatShort(wanted) : formatText(wanted, listsEnded);
  const isScreen = process.stdout.isTTY === true && process.env.TERM !== "dumb" && !asJson && !isShort;
  if (!flags.has("--watch")) print(await format());
  else if (isScreen)
    await (await import("./watch/index.ts")).watchSessions({
      paths,
      listsEnded,
      read: () => readForScreen(wanted),
    });
  else await printChanges(format);
  return 0;
}

/** Whose sessions, and which of them. */
interface Wanted {
  readonly paths: Paths;
  readonly isShown: (session: SessionView) => boolean;
}

function checkMachine(paths: Paths, name: string): void {
  const known = Object.keys(readConfigFile(paths.config).config.machines);
  if (!known.includes(name)) throw createNoMachineError(name, known);
}

async function readForScreen(wanted: Wanted): Promise<WatchData> {
  const known = await readSessions(wanted);
  const { warnings, notices } = listNotices(wanted.paths, known, Date.now());
  return {
    isRunning: known.running,
    sessions: sortViews(known.sessions),
    notices: [...warnings, ...notices.flat()].map(formatLine),
  };
}

interface KnownSessions {
  readonly sessions: readonly SessionView[];
  /** Why the list may be old or incomplete. */
  readonly warnings: readonly string[];
  readonly running: boolean;
  readonly quiet?: Quiet;
  /** What the running beckon reports: missing hooks, wrong settings. */
  readonly problems?: readonly string[];
  readonly workGuard?: readonly string[];
}

/** From the running beckon, or from its files if it does not run. */
async function readSessions({ paths, isShown }: Wanted): Promise<KnownSessions> {
  const live = await fetchSessions(paths);
  if (typeof live !== "string")
    return { warnings: [], running: true, ...live, sessions: live.sessions.filter(isShown) };
  const { readSavedSessions } = await import("./saved-sessions.ts");
  const { sessions, warnings } = readSavedSessions(paths);
  return { sessions: sessions.filter(isShown), warnings: [live, ...warnings], running: false };
}

async function formatAsJson(wanted: Wanted): Promise<string> {
  const { warnings, running, ...known } = await readSessions(wanted);
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  return formatJson(running ? known : { ...known, running });
}

const shortGroups = groups.filter((group) => group !== "ended");

/** One line for a status bar: `●2 ◌1 ◐4 ○3`. */
async function formatShort({ paths, isShown }: Wanted): Promise<string> {
  const live = await fetchSessions(paths);
  if (typeof live === "string") return live === notRunning ? "stopped\n" : "no answer\n";
  const counts = shortGroups.flatMap((group) => {
    const count = live.sessions.filter((session) => session.group === group && isShown(session)).length;
    return count === 0 ? [] : [`${groupMarks[group]}${count}`];
  });
  return `${counts.length === 0 ? `${groupMarks.ready}0` : counts.join(" ")}\n`;
}

const maxLines = 6;

async function formatText(wanted: Wanted, listsEnded: boolean): Promise<string> {
  const known = await readSessions(wanted);
  const { sessions, running } = known;
  const now = Date.now();
  const { warnings, notices } = listNotices(wanted.paths, known, now);
  const columns = terminalColumns();
  const colour = hasColour();
  const wrapAll = (texts: readonly string[]) =>
    texts.flatMap((text) => wrapText(formatLine(text), columns, maxLines));
  const table =
    running || sessions.length > 0
      ? formatStatusTable(sessions, { now, columns, colour, home: homeFolder(), listsEnded })
      : [];
  const parts = [wrapAll(warnings), table, ...notices.map(wrapAll)].filter((lines) => lines.length > 0);
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

interface Notices {
  /** Why the list may be old or incomplete. */
  readonly warnings: readonly string[];
  /** By topic. */
  readonly notices: readonly (readonly string[])[];
}

function listNotices(
  paths: Paths,
  { running, warnings, quiet, problems = [], workGuard = [] }: KnownSessions,
  now: number,
): Notices {
  const difference = running ? findDifference(paths) : null;
  const versions = difference === null ? [] : [`${capitalize(difference.text)}. Run: ${difference.fix}`];
  const guard = workGuard.length === 0 ? [] : [`The work guard is on: ${workGuard.join(", ")}.`];
  return {
    warnings,
    notices: [
      quiet ? [formatQuiet(quiet, now)] : [],
      guard,
      versions,
      problems,
      formatHookErrors(paths, now),
    ],
  };
}

function findDifference(paths: Paths): VersionDifference | null {
  const endpoint = readEndpoint(paths);
  return findVersionDifference({
    own: version,
    running: endpoint === null ? null : endpoint.version,
    hooks: readInstallRecord(paths)?.version ?? null,
  });
}

/** Hooks print nothing, so their errors are shown here. */
function formatHookErrors(paths: Paths, now: number): string[] {
  const recent = readOpenHookErrors(paths, now);
  const last = recent.at(-1);
  if (!last) return [];
  const errors = formatCount(recent.length, "hook error");
  const event = last.event === "-" ? "" : ` (${last.event})`;
  return [
    `${errors} in the last 24 h. The latest, ${formatAge(now - last.at)} ago${event}: ${last.text}`,
    `All of them: ${paths.hookLog}. To test the hooks, run: beckon doctor`,
  ];
}

const readMs = 1_000;

/** Prints the text each time that it changes, until a signal or a closed stdout ends it. */
async function printChanges(format: () => Promise<string>): Promise<void> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  process.stdout.on("error", stop);
  for (let last = ""; !stopped.signal.aborted; ) {
    const text = await format();
    if (text !== last) process.stdout.write(text);
    last = text;
    await pause(readMs, stopped.signal);
  }
}
