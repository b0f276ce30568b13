/** Sessions as a table for people: what needs you first, since when, where. Pure: sessions in, lines out. */

import { formatGroupCount, type Group, groupMarks, groups } from "../core/view/groups.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import { padText, truncate, wrapText } from "./output.ts";
import { rowOf, type StatusRow } from "./row.ts";

export interface TableOptions {
  readonly now: number;
  readonly columns: number;
  readonly colour: boolean;
  /** The person's own folder; empty: not known. */
  readonly home: string;
}

const bold = "\x1b[1m";
const dim = "\x1b[2m";
const colours: Readonly<Record<Group, string>> = {
  needs_you: "\x1b[1;33m",
  failed: "\x1b[31m",
  set_aside: dim,
  working: "\x1b[36m",
  ready: "",
  ended: dim,
};
/** A person decides by this text. */
const mostLines: Readonly<Partial<Record<Group, number>>> = { needs_you: 3, failed: 2 };
/** Of the sessions that ended only the newest are listed. */
const endedShown = 5;

export function table(sessions: readonly SessionSnapshot[], options: TableOptions): string[] {
  if (sessions.length === 0) {
    return wrapText("No sessions. Start an agent, and it appears here.", options.columns, 9);
  }
  const sorted = groups.flatMap((group) => sessions.filter((s) => s.group === group).sort(byUrgency(group)));
  const ended = sorted.filter((session) => session.group === "ended").length;
  const hidden = Math.max(0, ended - endedShown);
  const rows = sorted.slice(0, sorted.length - hidden).map((session) => rowOf(session, options));
  const widths = widthsOf(rows, options.columns);
  return [
    ...summary(sessions, options),
    "",
    ...rows.flatMap((row) => linesOf(row, widths, options)),
    ...(hidden > 0 ? [paint(`  and ${hidden} more that ended`, dim, options)] : []),
  ];
}

/** Who has waited longest comes first; of all others, who moved last. */
function byUrgency(group: Group): (a: SessionSnapshot, b: SessionSnapshot) => number {
  return group === "needs_you" ? (a, b) => a.since - b.since : (a, b) => b.lastEventAt - a.lastEventAt;
}

/** It also says what the marks mean. */
function summary(sessions: readonly SessionSnapshot[], options: TableOptions): string[] {
  const parts = groups.flatMap((group) => {
    const count = sessions.filter((session) => session.group === group).length;
    if (count === 0) return group === "needs_you" ? ["nothing needs you"] : [];
    return [paint(`${groupMarks[group]} ${formatGroupCount(group, count)}`, colours[group], options)];
  });
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1)}   ${part}`;
    if (lines.length > 0 && Bun.stringWidth(longer) <= options.columns) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

type Column = "name" | "project" | "title" | "since" | "what" | "where" | "id";
type Widths = Readonly<Record<Exclude<Column, "project">, number>>;

const gap = 2;
const markWidth = 2;
/** Less of a branch is not worth its room. */
const leastBranch = 10;

/**
 * As wide as their content, up to a limit. Where that is too much, the least needed goes, and the next: title, where, branch,
 * and last the id, by which a session is answered.
 */
function widthsOf(rows: readonly StatusRow[], columns: number): Widths {
  const natural = (column: Column) => Math.max(0, ...rows.map((row) => Bun.stringWidth(row[column])));
  const mostName = Math.max(10, Math.min(28, Math.floor(columns * 0.3)));
  const project = Math.min(natural("project"), mostName);
  const since = natural("since");
  const wanted = Math.max(
    natural("what"),
    ...rows.flatMap((row) => row.more.map((line) => Bun.stringWidth(line))),
  );
  let room = columns - markWidth - project - gap - since - gap;

  /** What is left for a column of this width once `what` has what it needs; 0: less than `least`. */
  const fit = (
    width: number,
    { least, leave, apart = gap }: Record<"least" | "leave", number> & { apart?: number },
  ) => {
    const left = Math.min(width, room - apart - Math.min(wanted, leave));
    if (left < Math.min(width, least) || left <= 0) return 0;
    room -= left + apart;
    return left;
  };
  const id = fit(natural("id"), { least: 8, leave: 20 });
  const branch = fit(Math.min(natural("name"), mostName) - project, {
    least: leastBranch,
    leave: 24,
    apart: 0,
  });
  const where = fit(Math.min(natural("where"), 24), { least: 24, leave: 32 });
  const title = fit(Math.min(natural("title"), 40), { least: 16, leave: 56 });
  return { name: project + branch, title, since, where, id, what: Math.min(wanted, Math.max(8, room)) };
}

/** With its branch, where enough of that can be read. */
function nameIn({ name, project }: StatusRow, width: number): string {
  const branch = Bun.stringWidth(name) - Bun.stringWidth(project);
  const isRoom = width - Bun.stringWidth(project) >= Math.min(branch, leastBranch);
  return padText(isRoom ? name : project, width);
}

function linesOf(row: StatusRow, widths: Widths, options: TableOptions): string[] {
  const colour = colours[row.group];
  const [what = "", ...rest] = wrapText(row.what, widths.what, mostLines[row.group] ?? 1);
  const cells = [
    paint(nameIn(row, widths.name), row.group === "ended" ? dim : bold, options),
    ...(widths.title > 0 ? [paint(padText(row.title, widths.title), dim, options)] : []),
    row.since.padStart(widths.since),
    paint(padText(what, widths.what), colour, options),
    ...(widths.where > 0 ? [paint(padText(row.where, widths.where), dim, options)] : []),
    ...(widths.id > 0 ? [paint(row.id, dim, options)] : []),
  ];
  const before =
    markWidth + widths.name + gap + (widths.title > 0 ? widths.title + gap : 0) + widths.since + gap;
  const below = [
    ...rest.map((line) => paint(line, colour, options)),
    ...row.more.map((line) => paint(truncate(line, widths.what), dim, options)),
  ];
  const how = howToReach(row, widths);
  return [
    `${paint(groupMarks[row.group], colour, options)} ${cells.join(" ".repeat(gap))}`.trimEnd(),
    ...below.map((line) => " ".repeat(before) + line),
    ...(how === ""
      ? []
      : [" ".repeat(markWidth) + paint(truncate(`└ ${how}`, options.columns - markWidth), dim, options)]),
  ];
}

/** What there is no room for in a column: of what needs you, you want to know where; the id is how to go there at all. */
function howToReach({ group, id, where }: StatusRow, widths: Widths): string {
  if (group === "ended") return "";
  return [widths.id === 0 ? id : "", widths.where === 0 && group === "needs_you" ? where : ""]
    .filter(Boolean)
    .join(" · ");
}

function paint(text: string, code: string, options: TableOptions): string {
  if (!options.colour || code === "" || text.trim() === "") return text;
  // The spaces that fill a column are left outside, so that a line does not end in them.
  const end = text.trimEnd();
  return `${code}${end}\x1b[0m${text.slice(end.length)}`;
}
