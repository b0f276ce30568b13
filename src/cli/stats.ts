/** `beckon stats`: how long agents waited for you, and what they used, by day and project. */
import type { DayStats, PortStats, ProjectStats, Stats } from "../core/interfaces/wire.ts";
import { formatCount } from "../core/text/words.ts";
import { formatCost, formatExactDuration, formatTokens } from "../core/view/figures.ts";
import { resolvePaths } from "../storage/paths.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { notRunning } from "./client.ts";
import { statsCommand } from "./commands/stats.ts";
import {
  bold,
  dim,
  findWidest,
  formatJson,
  formatLine,
  hasColour,
  padText,
  paint,
  print,
  stripControls,
  terminalColumns,
  wrapText,
} from "./output.ts";
import { askHistory, formatQuery } from "./read-history.ts";

const defaultDays = 14;
const maxDays = 366;

export async function stats(args: string[]): Promise<number> {
  const { flags, values } = parseArguments(args, statsCommand);
  const days = readDays(values["--days"]);
  const answer = await askHistory<Stats>(resolvePaths(), `/api/stats${formatQuery({ days })}`, {
    name: "computeStats",
    days,
  });
  const isRunning = answer?.isRunning ?? false;
  if (flags.has("--json")) {
    if (!isRunning) process.stderr.write(`${formatLine(notRunning)}\n`);
    print(formatJson(answer?.result ?? {}));
    return 0;
  }
  const options = { columns: terminalColumns(), colour: hasColour() };
  const lines = answer ? formatStats(answer.result, options) : ["Nothing has been recorded yet."];
  const warning = isRunning ? [] : ["", ...wrapText(formatLine(notRunning), options.columns, 6)];
  print(`${[...lines, ...warning].join("\n")}\n`);
  return 0;
}

function readDays(days: string | undefined): number {
  if (days === undefined) return defaultDays;
  const number = /^\d{1,3}$/.test(days) ? Number(days) : 0;
  if (number < 1 || number > maxDays)
    throw usageError(`--days takes a number from 1 to ${maxDays}, but got ${quote(days)}`);
  return number;
}

interface StatsOptions {
  readonly columns: number;
  readonly colour: boolean;
}

export function formatStats(result: Stats, options: StatsOptions): string[] {
  if (!result.enabled) return ['The history is off: your settings have "history": "off".'];
  const problem = result.problem === undefined ? [] : wrapText(result.problem, options.columns, 6);
  const parts = [
    problem,
    formatSummary(result, options),
    formatTable("day", result.days.filter(isUsed).map(toDayRow), options),
    formatTable("project", result.projects.slice(0, maxProjects).map(toProjectRow), options),
    formatPorts((result.ports ?? []).slice(0, maxProjects), options),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

function formatSummary({ today, days }: Stats, { columns, colour }: StatsOptions): string[] {
  const total = days.reduce((sum, day) => sum + day.waitedMs, 0);
  const period = days.length === 1 ? "" : `, ${formatExactDuration(total)} in ${days.length} days`;
  const median =
    today.medianMs === null ? [] : [`you answered in ${formatExactDuration(today.medianMs)} (median)`];
  const rules = today.byRules === 0 ? [] : [`${today.byRules} more answered by your rules`];
  const asks = `${formatCount(today.asks, "ask")} today`;
  const longest = today.longest && [
    `Longest today: ${formatExactDuration(today.longest.ms)} in ${stripControls(today.longest.project ?? today.longest.key)}`,
    today.longest.open ? ", and it still waits" : "",
    ".",
  ];
  return [
    paint(`Agents waited for you ${formatExactDuration(today.waitedMs)} today${period}.`, bold, { colour }),
    ...wrapText(`${[asks, ...median, ...rules].join(", ")}.`, columns, 3),
    ...(longest ? wrapText(longest.join(""), columns, 2) : []),
  ];
}

const maxProjects = 15;
const barColumns = 16;
const maxNameColumns = 22;
const gap = "  ";

interface Row
  extends Pick<DayStats, "waitedMs" | "asks" | "medianMs" | "tokens" | "costUsd" | "isCostPartial"> {
  readonly name: string;
}

const isUsed = ({ waitedMs, asks, tokens }: DayStats): boolean => waitedMs + asks + tokens > 0;

function toDayRow(day: DayStats): Row {
  const parts = { weekday: "short", day: "numeric", month: "short" } as const;
  const name = new Date(`${day.date}T12:00:00`).toLocaleDateString("en-GB", parts).replace(",", "");
  return { ...day, name };
}

function toProjectRow(project: ProjectStats): Row {
  return { ...project, name: stripControls(project.project || "(no project)") };
}

function formatTable(title: string, rows: readonly Row[], { columns, colour }: StatsOptions): string[] {
  if (rows.length === 0) return [];
  const longest = Math.max(...rows.map(({ waitedMs }) => waitedMs));
  const hasUsage = rows.some(({ tokens }) => tokens > 0);
  const name = Math.min(maxNameColumns, findWidest([title, ...rows.map((row) => row.name)]));
  const cells = (row: Row) => [
    formatExactDuration(row.waitedMs).padStart(7),
    String(row.asks).padStart(5),
    (row.medianMs === null ? "-" : formatExactDuration(row.medianMs)).padStart(7),
    ...(hasUsage ? [formatTokens(row.tokens).padStart(7), formatUsedCost(row).padStart(8)] : []),
  ];
  const heads = [
    "waited".padStart(7),
    "asks".padStart(5),
    "median".padStart(7),
    ...(hasUsage ? ["tokens".padStart(7), "cost".padStart(8)] : []),
  ];
  const fixed = name + heads.reduce((sum, head) => sum + gap.length + head.length, 0);
  const bar = Math.max(0, Math.min(barColumns, columns - fixed - gap.length));
  const heading = [title.padEnd(name), ...heads].join(gap);
  return [
    paint(heading.trimEnd(), dim, { colour }),
    ...rows.map((row) => {
      const line = [padText(row.name, name), ...cells(row)].join(gap);
      return bar < minBarColumns ? line : `${line}${gap}${formatBar(row.waitedMs, longest, bar)}`.trimEnd();
    }),
  ];
}

const minBarColumns = 4;

function formatUsedCost({
  tokens,
  costUsd,
  isCostPartial,
}: Pick<Row, "tokens" | "costUsd" | "isCostPartial">): string {
  return tokens === 0 ? "-" : formatCost(costUsd, isCostPartial);
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function formatBar(value: number, longest: number, columns: number): string {
  if (longest <= 0 || value <= 0) return "";
  const parts = Math.max(1, Math.round((value / longest) * columns * 8));
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
}

const minPortColumns = 10;

function formatPorts(ports: readonly PortStats[], { columns, colour }: StatsOptions): string[] {
  if (ports.length === 0) return [];
  const nameOf = ({ port, title }: PortStats) => stripControls(`${port}: ${title}`);
  const figureColumns = 8;
  const heads = ["worked", "waited", "tokens", "cost"];
  const room = columns - heads.length * (gap.length + figureColumns);
  const widest = findWidest(ports.map(nameOf));
  const width = Math.max(minPortColumns, Math.min(room, widest));
  const formatCells = (cells: readonly string[]) =>
    cells.map((cell) => cell.padStart(figureColumns)).join(gap);
  return [
    paint(`${padText("port", width)}${gap}${formatCells(heads)}`, dim, { colour }),
    ...ports.map((row) => {
      const { workedMs, waitedMs, tokens } = row;
      const cells = [
        formatExactDuration(workedMs),
        formatExactDuration(waitedMs),
        formatTokens(tokens),
        formatUsedCost(row),
      ];
      return `${padText(nameOf(row), width)}${gap}${formatCells(cells)}`;
    }),
  ];
}
