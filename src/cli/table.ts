/** Sessions as a table for people: what needs you first, since when, where. Pure: sessions in, lines out. */
import { counted, type Group, groups, marks } from "../core/groups.ts";
import type { SessionSnapshot } from "../core/snapshot.ts";
import { groupOf, type Row, rowOf } from "./row.ts";
import { cut, pad, wrap } from "./text.ts";

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
  "needs you": "\x1b[1;33m",
  failed: "\x1b[31m",
  "set aside": dim,
  working: "\x1b[36m",
  ready: "",
  ended: dim,
};
/** A person decides by this text. */
const mostLines: Readonly<Partial<Record<Group, number>>> = { "needs you": 3, failed: 2 };
/** Of the sessions that ended only the newest are listed. */
const endedShown = 5;

export function table(sessions: readonly SessionSnapshot[], options: TableOptions): string[] {
  if (sessions.length === 0) return ["No sessions. Start an agent, and it appears here."];
  const sorted = groups.flatMap((group) =>
    sessions.filter((s) => groupOf(s) === group).sort(byUrgency(group)),
  );
  const ended = sorted.filter((session) => groupOf(session) === "ended").length;
  const hidden = Math.max(0, ended - endedShown);
  const rows = sorted.slice(0, sorted.length - hidden).map((session) => rowOf(session, options));
  const widths = widthsOf(rows, options.columns);
  return [
    summary(sessions, options),
    "",
    ...rows.flatMap((row) => linesOf(row, widths, options)),
    ...(hidden > 0 ? [paint(`  and ${hidden} more that ended`, dim, options)] : []),
  ];
}

/** Who has waited longest comes first; of all others, who moved last. */
function byUrgency(group: Group): (a: SessionSnapshot, b: SessionSnapshot) => number {
  return group === "needs you" ? (a, b) => a.since - b.since : (a, b) => b.lastEventAt - a.lastEventAt;
}

/** It also says what the marks mean. */
function summary(sessions: readonly SessionSnapshot[], options: TableOptions): string {
  const parts = groups.flatMap((group) => {
    const count = sessions.filter((session) => groupOf(session) === group).length;
    if (count === 0) return group === "needs you" ? ["nothing needs you"] : [];
    return [paint(`${marks[group]} ${counted(group, count)}`, colours[group], options)];
  });
  return parts.join("   ");
}

type Column = "name" | "title" | "since" | "what" | "where" | "id";
type Widths = Readonly<Record<Column, number>>;

const gap = 2;
const markWidth = 2;

/** As wide as their content, up to a limit. Where that is too much, the least needed column goes, and the next. */
function widthsOf(rows: readonly Row[], columns: number): Widths {
  const natural = (column: Column) => Math.max(0, ...rows.map((row) => Bun.stringWidth(row[column])));
  const name = Math.min(natural("name"), Math.max(10, Math.min(28, Math.floor(columns * 0.3))));
  const since = natural("since");
  const wanted = Math.max(
    natural("what"),
    ...rows.flatMap((row) => row.more.map((line) => Bun.stringWidth(line))),
  );
  let room = columns - markWidth - name - gap - since - gap;

  /** What is left of a column once `what` has what it needs; no column is narrower than `least`. */
  const fit = (
    column: Column,
    { most, least, leave }: { most: number; least: number; leave: number },
  ): number => {
    const width = Math.min(natural(column), most, room - gap - Math.min(wanted, leave));
    if (width < Math.min(natural(column), least) || width <= 0) return 0;
    room -= width + gap;
    return width;
  };
  const where = fit("where", { most: 24, least: 24, leave: 26 });
  const id = fit("id", { most: 8, least: 8, leave: 32 });
  const title = fit("title", { most: 40, least: 16, leave: 56 });
  return { name, title, since, where, id, what: Math.min(wanted, Math.max(8, room)) };
}

function linesOf(row: Row, widths: Widths, options: TableOptions): string[] {
  const colour = colours[row.group];
  const [what = "", ...rest] = wrap(row.what, widths.what, mostLines[row.group] ?? 1);
  const cells = [
    paint(pad(row.name, widths.name), row.group === "ended" ? dim : bold, options),
    ...(widths.title > 0 ? [paint(pad(row.title, widths.title), dim, options)] : []),
    row.since.padStart(widths.since),
    paint(pad(what, widths.what), colour, options),
    ...(widths.where > 0 ? [paint(pad(row.where, widths.where), dim, options)] : []),
    ...(widths.id > 0 ? [paint(row.id, dim, options)] : []),
  ];
  const before =
    markWidth + widths.name + gap + (widths.title > 0 ? widths.title + gap : 0) + widths.since + gap;
  // Where there is no room for the column: of what needs you, you want to know where.
  const below = [
    ...rest.map((line) => paint(line, colour, options)),
    ...(widths.where === 0 && row.group === "needs you" && row.where !== ""
      ? [paint(cut(`└ ${row.where}`, widths.what), dim, options)]
      : []),
    ...row.more.map((line) => paint(cut(line, widths.what), dim, options)),
  ];
  return [
    `${paint(marks[row.group], colour, options)} ${cells.join(" ".repeat(gap))}`.trimEnd(),
    ...below.map((line) => " ".repeat(before) + line),
  ];
}

function paint(text: string, code: string, options: TableOptions): string {
  if (!options.colour || code === "" || text.trim() === "") return text;
  // The spaces that fill a column are left outside, so that a line does not end in them.
  const end = text.trimEnd();
  return `${code}${end}\x1b[0m${text.slice(end.length)}`;
}
