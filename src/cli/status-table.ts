/** The table of `beckon status`. Pure: sessions in, lines out. */

import { isClearReason } from "../core/session/session.ts";
import { viewKeyOf } from "../core/session/session-ref.ts";
import {
  dangerMark,
  describeReady,
  formatFailure,
  statusTexts,
  summarizeAsk,
  summarizeAskInFull,
} from "../core/session/texts.ts";
import { shortenHomePath } from "../core/text/paths.ts";
import { truncateMiddle } from "../core/text/text.ts";
import { formatAge, formatRoughAge, formatUsage } from "../core/view/figures.ts";
import {
  formatGroupCount,
  type Group,
  groupLabels,
  groupMarks,
  groups,
  nameGroup,
} from "../core/view/group-names.ts";
import { sortViews } from "../core/view/order.ts";
import { branchOf, formatSessionName, nameViews, type SessionName } from "../core/view/session-names.ts";
import type { AskView, SessionView } from "../core/view/session-view.ts";
import { formatSharedFiles, formatStuck } from "../core/view/work-notes.ts";
import {
  bold,
  dim,
  findWidest,
  orange,
  padText,
  paint,
  red,
  stripControls,
  teal,
  truncateToColumns,
  wrapText,
} from "./output.ts";

export interface TableOptions {
  readonly now: number;
  readonly columns: number;
  readonly colour: boolean;
  /** The user's home folder. Empty if unknown. */
  readonly home: string;
  /** Lists the sessions that ended too. Otherwise they are one line. */
  readonly listsEnded?: boolean;
  /** It is a moment of the past. */
  readonly isPast?: boolean | undefined;
}

export function formatStatusTable(sessions: readonly SessionView[], options: TableOptions): string[] {
  if (sessions.length === 0) {
    const none = options.isPast ? "No sessions then." : "No sessions. Start an agent, and it appears here.";
    return wrapText(none, options.columns, 9);
  }
  const sorted = sortViews(sessions);
  const live = sorted.filter(({ group }) => group !== "ended");
  const hidden = options.listsEnded ? 0 : sorted.length - live.length;
  const rows = createRows(hidden > 0 ? live : sorted, options);
  const widths = computeWidths(rows, options.columns);
  return [
    ...formatCounts(sessions, options),
    "",
    ...rows.flatMap((row) => formatRow(row, widths, options)),
    ...(hidden > 0 ? [paint(formatFold(hidden, options.columns), dim, options)] : []),
  ];
}

const formatFold = (hidden: number, columns: number): string =>
  truncateToColumns(`${groupMarks.ended} ${hidden} ended: beckon status --all`, columns);

/** One line of the full width for each session, in the order given, without its terminal and subagents. */
export function formatCompactRows(sessions: readonly SessionView[], options: TableOptions): string[] {
  const rows = createRows(sessions, options, summarizeAsk).map((row) => ({
    ...row,
    terminal: "",
    details: [],
  }));
  const widths = computeWidths(rows, options.columns, true);
  return rows.map((row) => formatCells(row, widths, options).line);
}

/** Everything about each session that its row can show, for a search. */
export function listSearchTexts(sessions: readonly SessionView[], options: TableOptions): string[] {
  return createRows(sessions, options).map(({ group, longName, title, agent, activity, terminal }, n) =>
    [
      groupLabels[group],
      longName,
      title,
      agent,
      activity,
      terminal,
      sessions[n]?.sessionId,
      sessions[n]?.port?.id,
      sessions[n]?.port?.title,
    ].join(" "),
  );
}

/** How many sessions are in each group. It also explains the marks. */
export function formatCounts(sessions: readonly SessionView[], options: TableOptions): string[] {
  const parts = groups.flatMap((group) => {
    const count = sessions.filter((session) => session.group === group).length;
    if (count === 0)
      return group === "needs_you" ? [options.isPast ? "nothing needed you" : "nothing needs you"] : [];
    const mark = paint(groupMarks[group], markColours[group], options);
    return [`${mark} ${paint(formatGroupCount(group, count, options.isPast), textColours[group], options)}`];
  });
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1)}   ${part}`;
    if (lines.length > 0 && Bun.stringWidth(longer) <= options.columns) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

interface StatusRow {
  readonly group: Group;
  /** The project, and what distinguishes it from another session of the project. */
  readonly name: string;
  /** The end of `name`: what distinguishes it, and its machine. Empty if nothing has to. */
  readonly ending: string;
  /** The name with the branch. */
  readonly longName: string;
  readonly title: string;
  /** The agent's id. Empty if all listed sessions are of one agent. */
  readonly agent: string;
  readonly since: string;
  /** What the session does or wants. */
  readonly activity: string;
  readonly terminal: string;
  /** Tasks, context, tokens and cost. */
  readonly usage: string;
  readonly id: string;
  /** Further asks, and running subagents. */
  readonly details: readonly string[];
}

const idLength = 8;
const maxDetails = 4;

function createRows(
  sessions: readonly SessionView[],
  { now, home, isPast }: TableOptions,
  summarize: (ask: AskView) => string = summarizeAskInFull,
): StatusRow[] {
  const names = nameViews(sessions);
  const hasSeveralAgents = new Set(sessions.map(({ provider }) => provider)).size > 1;
  return sessions.map((session) => {
    const { group, sessionId, gitBranch } = session;
    const name: SessionName = names.get(viewKeyOf(session)) ?? { project: "", difference: "" };
    const { difference, machine } = name;
    const shortName = stripControls(formatSessionName(name));
    const branch = difference === "" ? branchOf(gitBranch) : "";
    return {
      group,
      name: shortName,
      ending: stripControls(
        [difference, machine === undefined ? "" : `on ${machine}`].filter(Boolean).join(" "),
      ),
      longName: branch === "" ? shortName : `${shortName} (${stripControls(branch)})`,
      // A title that is part of the name would be there twice.
      title: difference.startsWith("“") ? "" : stripControls(session.title ?? ""),
      agent: hasSeveralAgents ? stripControls(session.provider) : "",
      since: formatAge(now - session.since),
      activity: stripControls(describeActivity(session, { home, now, isPast }, summarize)),
      terminal: stripControls(describeTerminal(session)),
      usage: formatUsage(session),
      id: stripControls(sessionId.slice(0, idLength)),
      details: listDetails(session, home, now).map(stripControls),
    };
  });
}

const isWaiting = ({ group }: SessionView): boolean => group === "needs_you" || group === "set_aside";

const isCleared = ({ endReason }: SessionView): boolean => isClearReason(endReason);

const blockingAsks = ({ asks }: SessionView): AskView[] => asks.filter(({ kind }) => kind !== "idle");

const markDanger = (ask: AskView | undefined): string => (ask?.dangers?.length ? dangerMark : "");

function describeActivity(
  session: SessionView,
  { home, now, isPast = false }: Omit<TableOptions, "columns" | "colour">,
  summarize: (ask: AskView) => string,
): string {
  const silence = session.silence ? `(${session.silence}) ` : "";
  if (!isWaiting(session)) return silence + describeProgress(session, now);
  const [ask] = blockingAsks(session);
  const { detail } = session.status;
  const wanted = ask ? shortenHomePath(summarize(ask), home) : (detail ?? nameGroup(session.group, isPast));
  return markDanger(ask) + silence + wanted;
}

/** What a session does that asks for nothing. */
function describeProgress(session: SessionView, now: number): string {
  const { group } = session;
  const { detail } = session.status;
  if (session.stuck) return formatStuck(session.stuck, (at) => formatRoughAge(now - at));
  if (group === "working") return detail ?? statusTexts.thinking;
  if (group === "ended") {
    if (session.state !== "completed") return statusTexts.lost;
    if (session.died) return statusTexts.died;
    return isCleared(session) ? statusTexts.cleared : statusTexts.ended;
  }
  if (session.died) return statusTexts.died;
  if (session.error) return formatFailure(session.error);
  const { interrupted = false, turnCount, lastPrompt, lastResponse } = session;
  return describeReady({
    background: detail,
    isInterrupted: interrupted,
    hasTurns: turnCount > 0,
    lastPrompt,
    lastResponse,
  });
}

function listDetails(session: SessionView, home: string, now: number): string[] {
  const asks = isWaiting(session) ? blockingAsks(session).slice(1) : [];
  const children = session.children.filter((child) => child.state === "running");
  const { port, group } = session;
  const details = [
    ...(port && group !== "ended" ? [`port ${port.id}: ${port.title}`] : []),
    ...listSharedFiles(session, now),
    ...asks.map((ask) => `${markDanger(ask)}also ${shortenHomePath(summarizeAsk(ask), home)}`),
    ...children.map(
      ({ name, detail, startedAt }) =>
        `└ ${name} · ${formatAge(now - startedAt)} · ${detail ?? statusTexts.thinking}`,
    ),
  ];
  const hidden = details.slice(maxDetails);
  if (hidden.length === 0) return details;
  const mark = hidden.some((line) => line.startsWith(dangerMark)) ? dangerMark : "";
  return [...details.slice(0, maxDetails), `${mark}and ${hidden.length} more`];
}

export const listSharedFiles = ({ sharedFiles = [], cwd }: SessionView, now: number): string[] =>
  formatSharedFiles(sharedFiles, cwd, (at) => formatRoughAge(now - at));

function describeTerminal({ place, terminal, state, group, attach }: SessionView): string {
  if (!place || (state === "completed" && group !== "failed")) return "";
  if (attach !== null) return "background";
  const tty = place.tty?.replace(/^\/dev\//, "");
  // If nothing else is known, the name is the tty.
  return [terminal, terminal?.startsWith(tty ?? "") ? null : tty].filter(Boolean).join(" · ");
}

type Column = "name" | "longName" | "title" | "agent" | "since" | "activity" | "terminal" | "usage" | "id";
/** 0: the column is not shown. */
type Widths = Readonly<Record<Exclude<Column, "longName">, number>>;

const gap = 2;
const markWidth = 2;
/** A branch is not shown in less than this. */
const minBranch = 10;
const minProject = 6;

/**
 * As wide as their content, up to a limit. If that does not fit, columns go in this order: usage, title, terminal, branch, agent,
 * and last the id, which users need to answer a session.
 */
function computeWidths(rows: readonly StatusRow[], columns: number, isFull = false): Widths {
  const natural = (column: Column) => findWidest(rows.map((row) => row[column]));
  // What distinguishes two sessions is worth more room than a branch.
  const hasTwins = rows.some(({ ending }) => ending !== "");
  const maxName = Math.max(10, Math.min(hasTwins ? 44 : 28, Math.floor(columns * (hasTwins ? 0.4 : 0.3))));
  const name = Math.min(natural("name"), maxName);
  const since = natural("since");
  const widest = findWidest(rows.flatMap(({ activity, details }) => [activity, ...details]));
  let room = columns - markWidth - name - gap - since - gap;

  /** Takes the width of a column out of `room`. 0 if less than `min` is left once the activity has `leave`. */
  const fit = (
    width: number,
    { min, leave, before = gap }: Record<"min" | "leave", number> & { before?: number },
  ): number => {
    const fitting = Math.min(width, room - before - Math.min(widest, leave));
    if (fitting < Math.min(width, min) || fitting <= 0) return 0;
    room -= fitting + before;
    return fitting;
  };
  const id = fit(natural("id"), { min: 8, leave: 20 });
  const agent = fit(natural("agent"), { min: natural("agent"), leave: 24 });
  const branch = fit(Math.min(natural("longName"), maxName) - name, { min: minBranch, leave: 24, before: 0 });
  const terminal = fit(Math.min(natural("terminal"), 24), { min: 24, leave: 32 });
  const title = fit(Math.min(natural("title"), 40), { min: 16, leave: 56 });
  const usage = fit(natural("usage"), { min: natural("usage"), leave: 48 });
  const needed = Math.min(widest, Math.max(8, room));
  const activity = isFull ? Math.max(needed, room) : needed;
  return { name: name + branch, title, agent, since, terminal, usage, id, activity };
}

/** With the branch if enough of it can be read. What distinguishes the session, and its machine, are truncated last. */
function formatName({ name, longName, ending }: StatusRow, width: number): string {
  const nameWidth = Bun.stringWidth(name);
  if (nameWidth <= width || ending === "") {
    const branch = Bun.stringWidth(longName) - nameWidth;
    return padText(width - nameWidth >= Math.min(branch, minBranch) ? longName : name, width);
  }
  const project = name.slice(0, name.length - ending.length - 1);
  const room = Math.max(minProject, width - Bun.stringWidth(ending) - 1);
  return padText(`${truncateMiddle(project, room)} ${ending}`, width);
}

/** Users decide by this text, so it may take several lines. */
const maxActivityLines: Readonly<Partial<Record<Group, number>>> = { needs_you: 3, failed: 2 };

/** The first line of a row, and the rest of its activity. */
function formatCells(
  row: StatusRow,
  widths: Widths,
  options: TableOptions,
  maxLines = 1,
): { readonly line: string; readonly rest: readonly string[] } {
  const colour = textColours[row.group];
  const [activity = "", ...rest] = wrapText(row.activity, widths.activity, maxLines);
  const cells = [
    paint(formatName(row, widths.name), row.group === "ended" ? dim : bold, options),
    ...(widths.title > 0 ? [paint(padText(row.title, widths.title), dim, options)] : []),
    ...(widths.agent > 0 ? [paint(padText(row.agent, widths.agent), dim, options)] : []),
    row.since.padStart(widths.since),
    paint(padText(activity, widths.activity), colour, options),
    ...(widths.terminal > 0 ? [paint(padText(row.terminal, widths.terminal), dim, options)] : []),
    ...(widths.usage > 0 ? [paint(padText(row.usage, widths.usage), dim, options)] : []),
    ...(widths.id > 0 ? [paint(row.id, dim, options)] : []),
  ];
  return {
    line: `${paint(groupMarks[row.group], markColours[row.group], options)} ${cells.join(" ".repeat(gap))}`.trimEnd(),
    rest,
  };
}

function formatRow(row: StatusRow, widths: Widths, options: TableOptions): string[] {
  const colour = textColours[row.group];
  const { line, rest } = formatCells(row, widths, options, maxActivityLines[row.group]);
  const before = [widths.title, widths.agent].reduce((sum, width) => sum + (width > 0 ? width + gap : 0), 0);
  const indent = markWidth + widths.name + gap + before + widths.since + gap;
  const below = [
    ...rest.map((text) => paint(text, colour, options)),
    ...row.details.map((text) => paint(truncateToColumns(text, widths.activity), dim, options)),
  ];
  const target = formatTarget(row, widths);
  return [
    line,
    ...below.map((text) => " ".repeat(indent) + text),
    ...(target === ""
      ? []
      : [
          " ".repeat(markWidth) +
            paint(truncateToColumns(`└ ${target}`, options.columns - markWidth), dim, options),
        ]),
  ];
}

/** The id, the agent, and the terminal of a session that needs you, if they have no column. */
function formatTarget({ group, id, agent, terminal }: StatusRow, widths: Widths): string {
  if (group === "ended") return "";
  return [
    widths.agent === 0 ? agent : "",
    widths.id === 0 ? id : "",
    widths.terminal === 0 && group === "needs_you" ? terminal : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

const markColours: Readonly<Record<Group, string>> = {
  needs_you: bold + orange,
  failed: red,
  set_aside: dim,
  working: teal,
  ready: "",
  ended: dim,
};
const textColours: Readonly<Record<Group, string>> = {
  needs_you: bold,
  failed: red,
  set_aside: dim,
  working: "",
  ready: "",
  ended: dim,
};
