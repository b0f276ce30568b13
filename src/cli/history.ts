/** `beckon history`: searches what happened, or exports it. */

import { existsSync } from "node:fs";
import { formatEndingCell } from "../core/answers/words.ts";
import {
  type HistoryItem,
  type HistoryKind,
  type HistoryPage,
  type HistorySession,
  historyKinds,
} from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import { parseSessionKey } from "../core/session/session-ref.ts";
import { shortenHomePath } from "../core/text/paths.ts";
import { formatExactDuration } from "../core/view/figures.ts";
import { describeMoment, type MomentWords } from "../core/view/moment-words.ts";
import { nameWithMachine } from "../core/view/session-names.ts";
import { findAskedCalls, isAskKind } from "../core/view/story.ts";
import { resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { notRunning } from "./client.ts";
import { historyCommand, nameKind } from "./commands/history.ts";
import { ambiguousError } from "./find-session.ts";
import {
  bold,
  dim,
  findWidest,
  formatDay,
  formatJson,
  formatLine,
  hasColour,
  homeFolder,
  orange,
  padText,
  paint,
  print,
  red,
  stripControls,
  teal,
  terminalColumns,
  truncateToColumns,
  wrapText,
} from "./output.ts";
import { askHistory, formatQuery } from "./read-history.ts";

const defaultCount = 30;

export async function history(args: string[]): Promise<number> {
  const { flags, values, rest } = parseArguments(args, historyCommand);
  const paths = resolvePaths();
  const text = rest.join(" ").trim();
  if (flags.has("--export")) {
    if (flags.has("--json") || text !== "" || Object.keys(values).length > 0)
      throw usageError("--export writes everything, and takes nothing else");
    return exportAll(paths.history);
  }
  const query = {
    q: text === "" ? undefined : text,
    project: values["--project"],
    kind: readKind(values["--kind"]),
    session: values["--session"],
    limit: readCount(values["-n"]),
  };
  const known = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
  const answer = await askHistory<HistoryPage>(paths, `/api/history${formatQuery(query)}`, {
    name: "findItems",
    query: known,
  });
  const page = answer?.result ?? { enabled: true, total: 0, next: null, items: [] };
  if (page.candidates) throw noHistoryError(values["--session"] ?? "", page.candidates);
  if (flags.has("--json")) {
    if (!answer?.isRunning) process.stderr.write(`${formatLine(notRunning)}\n`);
    print(formatJson(page));
    return 0;
  }
  const lines = formatPage(page, { columns: terminalColumns(), colour: hasColour(), home: homeFolder() });
  const warning = answer?.isRunning ? [] : ["", ...wrapText(formatLine(notRunning), terminalColumns(), 6)];
  print(`${[...lines, ...warning].join("\n")}\n`);
  return 0;
}

/** No session in the history has that name, or several do. */
function noHistoryError(name: string, candidates: readonly HistorySession[]): Error {
  if (candidates.length === 0)
    return new Error(
      `the history has no session with the id or project ${quote(name)}. See all of it: beckon history`,
    );
  const isProject = candidates.some(({ project }) => project === name);
  return ambiguousError(name, candidates, isProject ? "All of the project: use --project" : null);
}

function readKind(kind: string | undefined): HistoryKind | undefined {
  if (kind === undefined) return undefined;
  const known = historyKinds.find((name) => nameKind(name) === kind);
  if (!known)
    throw usageError(`--kind takes one of ${historyKinds.map(nameKind).join(", ")}, but got ${quote(kind)}`);
  return known;
}

function readCount(count: string | undefined): number {
  if (count === undefined) return defaultCount;
  const number = /^\d{1,6}$/.test(count) ? Number(count) : 0;
  if (number < 1 || number > limits.maxHistoryPage)
    throw usageError(`-n takes a number from 1 to ${limits.maxHistoryPage}, but got ${quote(count)}`);
  return number;
}

async function exportAll(path: string): Promise<number> {
  if (!existsSync(path)) return 0;
  const { exportHistory } = await import("../history/read-only.ts");
  let batch = "";
  exportHistory(path, (event) => {
    batch += formatJson(event);
    if (batch.length < maxBatchLength) return;
    print(batch);
    batch = "";
  });
  print(batch);
  return 0;
}

const maxBatchLength = 65_536;

interface PageOptions {
  readonly columns: number;
  readonly colour: boolean;
  readonly home: string;
}

const timeColumns = "00:00".length;
const maxProjectColumns = 18;
const maxLabelColumns = 14;
const minTextColumns = 16;
const gap = "  ";

/** Oldest first: the newest is next to the prompt. */
export function formatPage(page: HistoryPage, options: PageOptions): string[] {
  const { columns, colour } = options;
  const problem = page.problem === undefined ? [] : wrapText(page.problem, columns, 6);
  if (!page.enabled) return ['The history is off: your settings have "history": "off".'];
  if (page.items.length === 0) return [...problem, "Nothing found."];
  const items = dropRepeated(page.items.toReversed());
  // A long name must not take the text's room on a narrow screen.
  const maxProject = Math.min(maxProjectColumns, Math.floor(columns / 6));
  const widths = {
    project: Math.min(maxProject, findWidest(items.map(nameProject))),
    label: Math.min(maxLabelColumns, findWidest(items.map((item) => describeItem(item).label))),
  };
  const lines = items.flatMap((item, index) => {
    const day = formatDay(item.at);
    const before = items[index - 1];
    const heading = before && formatDay(before.at) === day ? [] : [paint(day, bold, { colour })];
    return [...heading, formatItem(item, widths, options)];
  });
  const hidden = page.total - page.items.length;
  const more = hidden > 0 ? [paint(`${formatOlder(hidden)}: use -n`, dim, { colour })] : [];
  return [...problem, ...more, ...lines];
}

/** An ask, the call that it was about and the message that announced it are one moment. A page of messages alone was asked for. */
function dropRepeated(items: readonly HistoryItem[]): readonly HistoryItem[] {
  const sessions = Map.groupBy(
    items.map((item) => ({ ...item, isFailure: item.severity === "warn" })),
    ({ key }) => key,
  );
  const calls = new Set([...sessions.values()].flatMap((moments) => [...findAskedCalls(moments)]));
  const told = items.filter(({ id, kind }) => kind !== "notification" && !calls.has(id));
  return told.length === 0 ? items : told;
}

function formatOlder(count: number): string {
  return count === 1 ? "1 older entry" : `${count.toLocaleString("en-US")} older entries`;
}

/** The outcome of an ask is at the right edge. Anything else has the room for its text. */
function formatItem(
  item: HistoryItem,
  widths: { readonly project: number; readonly label: number },
  { columns, colour, home }: PageOptions,
): string {
  const described = describeItem(item);
  const start = [
    formatLocalTime(item.at, item.at),
    paint(padText(nameProject(item), widths.project), bold, { colour }),
    paint(padText(stripControls(described.label), widths.label), colourOf(item), { colour }),
  ];
  const room = columns - timeColumns - widths.project - widths.label - start.length * gap.length;
  const about = item.port === undefined || item.kind === "port" ? "" : `[${item.port}] `;
  const text = stripControls(about + shortenHomePath(described.text, home)).replace(/\s+/g, " ");
  const outcome = truncateToColumns(formatOutcome(item), Math.max(0, room - minTextColumns - gap.length));
  const textColumns = Math.max(
    minTextColumns,
    outcome === "" ? room : room - gap.length - Bun.stringWidth(outcome),
  );
  const cells = [
    ...start,
    padText(text, textColumns),
    ...(outcome === "" ? [] : [paint(outcome, dim, { colour })]),
  ];
  return cells.join(gap).trimEnd();
}

/** "Asked" "to run npm test": the words of the dashboard's story. */
const describeItem = ({ kind, text, how }: HistoryItem): MomentWords =>
  describeMoment({ kind, text, how, isOpen: how === null });

function nameProject({ project, key }: HistoryItem): string {
  return stripControls(nameWithMachine(project ?? key, parseSessionKey(key)?.machine ?? null));
}

function colourOf({ kind, severity }: HistoryItem): string {
  if (severity === "error" || severity === "warn") return red;
  if (isAskKind(kind)) return orange;
  return kind === "prompt" ? teal : dim;
}

/** `allowed · menu · 12s` */
function formatOutcome({ kind, how, where, waitedMs }: HistoryItem): string {
  if (waitedMs === null) return "";
  const ending = how === null ? "open" : formatEndingCell(how, kind, where);
  return stripControls(`${ending} · ${formatExactDuration(waitedMs)}`);
}
