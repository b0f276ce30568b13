/** `beckon log`: what was asked, answered and alerted, and why an alert was not shown. */

import { readAnswerLog } from "../answers/log.ts";
import { parseSessionKey } from "../core/session/session-ref.ts";
import { shortenHomePath } from "../core/text/paths.ts";
import { truncateMiddle } from "../core/text/text.ts";
import { nameWithMachine } from "../core/view/session-names.ts";
import { resolvePaths } from "../storage/paths.ts";
import type { AnswerLogEntry } from "../streams/answer-log-entry.ts";
import { formatLocalTime } from "../system/clock.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { notRunning } from "./client.ts";
import { logCommand } from "./commands/log.ts";
import {
  findWidest,
  formatDay,
  formatJson,
  formatLine,
  homeFolder,
  padText,
  print,
  stripControls,
  terminalColumns,
  truncateToColumns,
  wrapText,
} from "./output.ts";

const defaultCount = "30";

export async function log(args: string[]): Promise<number> {
  const { flags, values } = parseArguments(args, logCommand);
  const { "-n": count = defaultCount } = values;
  if (!/^[1-9]\d{0,6}$/.test(count)) throw usageError(`-n takes a number of lines, but got ${quote(count)}`);
  const paths = resolvePaths();
  const entries = readAnswerLog(paths.answerLog).slice(-Number(count));
  const isRunning = readEndpoint(paths) !== null;
  if (flags.has("--json")) {
    if (!isRunning) process.stderr.write(`${formatLine(notRunning)}\n`);
    print(entries.map((entry) => formatJson(entry)).join(""));
    return 0;
  }
  const columns = terminalColumns();
  // At the end: a long list scrolls its beginning out of sight.
  const warning = isRunning ? [] : ["", ...wrapText(formatLine(notRunning), columns, 6)];
  print(`${[...formatEntries(entries, columns), ...warning].join("\n")}\n`);
  return 0;
}

const maxProjectColumns = 18;
const maxOutcomeColumns = 44;
const maxByColumns = 30;
const minAskedColumns = 16;
const timeColumns = "00:00".length;
const gap = "  ";

interface LogRow {
  readonly day: string;
  readonly time: string;
  readonly project: string;
  readonly asked: string;
  readonly outcome: string;
  /** Who answered: ` (command line)`, or empty. */
  readonly by: string;
}

function formatEntries(entries: readonly AnswerLogEntry[], columns: number): string[] {
  if (entries.length === 0) return ["Nothing has been asked or shown yet."];
  const home = homeFolder();
  const rows = entries.map((entry) => createRow(entry, home));
  const project = Math.min(maxProjectColumns, findWidest(rows.map((row) => row.project)));
  const outcome = Math.min(maxOutcomeColumns, findWidest(rows.map((row) => row.outcome + row.by)));
  const asked = columns - timeColumns - project - outcome - 3 * gap.length;
  const isAllToday = rows.every(({ day }) => day === formatDay(Date.now()));
  const formatRow = asked >= minAskedColumns ? formatWide : formatNarrow;
  return rows.flatMap((row, n) => {
    const heading = isAllToday || row.day === rows[n - 1]?.day ? [] : [row.day];
    return [...heading, ...formatRow(row, { columns, project, asked, outcome })];
  });
}

type Widths = Readonly<Record<"columns" | "project" | "asked" | "outcome", number>>;

function formatWide(row: LogRow, { project, asked, outcome }: Widths): string[] {
  const [first = "", ...more] = formatOutcome(row, outcome);
  const cells = [row.time, padText(row.project, project), padText(row.asked, asked), first];
  const indent = " ".repeat(timeColumns + project + asked + 3 * gap.length);
  return [cells.join(gap).trimEnd(), ...more.map((line) => indent + line)];
}

/** The outcome has lines of its own. */
function formatNarrow(row: LogRow, { columns }: Widths): string[] {
  const room = Math.max(minAskedColumns, columns - timeColumns - gap.length);
  return [
    `${row.time}${gap}${truncateToColumns(`${row.project}: ${row.asked}`, room)}`,
    ...formatOutcome(row, room).map((line) => " ".repeat(timeColumns) + gap + line),
  ];
}

function createRow(entry: AnswerLogEntry, home: string): LogRow {
  const { what, outcome, by } = entry;
  return {
    day: formatDay(entry.at),
    time: formatLocalTime(entry.at, entry.at),
    project: stripControls(
      nameWithMachine(entry.project ?? entry.session, parseSessionKey(entry.session)?.machine ?? null),
    ),
    asked: stripControls(shortenHomePath(entry.asked, home)),
    outcome: stripControls(what === "not shown" ? `no alert: ${outcome}` : outcome),
    by: by === null ? "" : ` (${truncateMiddle(stripControls(by), maxByColumns)})`,
  };
}

/** A rule for the future or a message must be readable, so that an outcome can take several lines. */
const maxOutcomeLines = 4;

/** The outcome is truncated before the text that says who answered. */
function formatOutcome({ outcome, by }: LogRow, columns: number): string[] {
  const lines = wrapText(outcome, columns, maxOutcomeLines);
  const last = lines.pop() ?? "";
  if (Bun.stringWidth(last + by) <= columns) return [...lines, last + by];
  return [...lines, last, truncateToColumns(by.trim(), columns)];
}
