/** Sessions as a table for people: what needs you first, since when, where. Pure: text in, lines out. */
import type { SessionSnapshot } from "../core/snapshot.ts";

export interface TableOptions {
  readonly now: number;
  readonly columns: number;
  readonly colour: boolean;
}

type Group = "needs you" | "working" | "waiting for your next prompt" | "done";

const order: readonly Group[] = ["needs you", "working", "waiting for your next prompt", "done"];
const marks: Readonly<Record<Group, string>> = {
  "needs you": "●",
  working: "◐",
  "waiting for your next prompt": "○",
  done: "·",
};
const colours: Readonly<Record<Group, string>> = {
  "needs you": "\x1b[1;33m",
  working: "\x1b[36m",
  "waiting for your next prompt": "",
  done: "\x1b[2m",
};
/** Of the sessions that are over only the newest are listed. */
const doneShown = 5;

export function groupOf(session: SessionSnapshot): Group {
  if (session.status.kind === "attention") return "needs you";
  if (session.status.kind === "working") return "working";
  return session.state === "completed" || session.state === "stale" ? "done" : "waiting for your next prompt";
}

export function table(sessions: readonly SessionSnapshot[], options: TableOptions): string[] {
  if (sessions.length === 0) return ["No sessions. Start an agent, and it appears here."];
  const lines: string[] = [];
  for (const group of order) {
    const members = sessions.filter((s) => groupOf(s) === group).sort(byUrgency(group));
    const shown = group === "done" ? members.slice(0, doneShown) : members;
    for (const session of shown) {
      lines.push(...rowOf(session, group, options));
    }
    if (shown.length < members.length) lines.push(dim(`  and ${members.length - shown.length} more that are over`, options));
  }
  return lines;
}

/** Who has waited longest comes first; of all others, who moved last. */
function byUrgency(group: Group): (a: SessionSnapshot, b: SessionSnapshot) => number {
  return group === "needs you" ? (a, b) => a.since - b.since : (a, b) => b.lastEventAt - a.lastEventAt;
}

const nameWidth = 24;
const sinceWidth = 8;
const idWidth = 8;

function rowOf(session: SessionSnapshot, group: Group, options: TableOptions): string[] {
  const name = pad(nameOf(session), nameWidth);
  const since = pad(ago(options.now - session.since), sinceWidth);
  const id = session.sessionId.slice(0, idWidth).padEnd(idWidth);
  const place = placeOf(session);
  const room = Math.max(20, options.columns - nameWidth - sinceWidth - idWidth - 8);
  const placeRoom = place && room - place.length >= 30 ? place.length + 2 : 0;
  const what = pad(whatOf(session, group), room - placeRoom);
  const end = placeRoom > 0 ? `  ${dim(place, options)}` : "";
  const mark = paint(marks[group], colours[group], options);
  const first = `${mark} ${dim(id, options)}  ${paint(name, group === "done" ? colours.done : "\x1b[1m", options)}  ${since}  ${paint(what, colours[group], options)}${end}`;
  const others = session.asks.slice(1).map((ask) => `${ask.tool ?? ask.kind}: ${ask.summary}`);
  const children = session.children
    .filter((child) => child.state === "running")
    .map((child) => `${child.type || "subagent"}${child.detail ? ` · ${child.detail}` : ""}`);
  const indent = " ".repeat(nameWidth + sinceWidth + idWidth + 8);
  const more = [...(group === "needs you" ? others.map((o) => `also ${o}`) : []), ...children.map((c) => `└ ${c}`)];
  return [first.trimEnd(), ...more.slice(0, 4).map((line) => dim(`${indent}${cut(line, room)}`, options))];
}

function nameOf(session: SessionSnapshot): string {
  const project = session.project ?? session.cwd ?? session.sessionId.slice(0, idWidth);
  return session.gitBranch && session.gitBranch !== "HEAD" ? `${project} (${session.gitBranch})` : project;
}

function whatOf(session: SessionSnapshot, group: Group): string {
  const { status } = session;
  const [ask] = session.asks;
  if (group === "needs you") {
    const asked = ask && ask.kind === "permission" && ask.summary ? `: ${ask.summary}` : "";
    return `${status.detail ?? "needs you"}${asked}`;
  }
  if (group === "working") return status.detail ?? "working";
  if (status.detail) return status.detail;
  if (session.state === "completed") return "ended";
  if (session.state === "stale") return "nothing for hours";
  return session.title ?? firstLine(session.lastResponse) ?? "ready";
}

function firstLine(text: string | null): string | null {
  const line = text?.split("\n").find((l) => l.trim().length > 0);
  return line === undefined ? null : line.trim();
}

function placeOf(session: SessionSnapshot): string {
  const { place } = session;
  if (!place) return "";
  const pane = place.env.TMUX_PANE ? `tmux ${place.env.TMUX_PANE}` : (place.env.TERM_PROGRAM ?? "");
  const tty = place.tty?.replace(/^\/dev\//, "") ?? "";
  return clean([pane, tty].filter(Boolean).join(" · "));
}

/** How long, in one or two units: 8s, 12m, 3h 05m, 2d. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${String(minutes % 60).padStart(2, "0")}m` : `${Math.floor(hours / 24)}d`;
}

/** What comes from an agent may hold anything: nothing of it may steer the terminal. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ");
}

/** Cut to a width on the screen, where some characters take two columns. */
function cut(text: string, width: number): string {
  const line = clean(text);
  if (Bun.stringWidth(line) <= width) return line;
  let kept = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    used += Bun.stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function pad(text: string, width: number): string {
  const kept = cut(text, width);
  return kept + " ".repeat(Math.max(0, width - Bun.stringWidth(kept)));
}

function paint(text: string, code: string, options: TableOptions): string {
  return options.colour && code ? `${code}${text}\x1b[0m` : text;
}

function dim(text: string, options: TableOptions): string {
  return paint(text, "\x1b[2m", options);
}
