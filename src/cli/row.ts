/** A session in a person's words: what it is called, what it does or wants, since when, where. */
import type { AskSnapshot, SessionSnapshot } from "../core/snapshot.ts";
import { terminalName } from "../core/terminal-name.ts";
import { ago, clean } from "./text.ts";

/** "set aside": it waits for its person, who said not to be told, or has none. */
export type Group = "needs you" | "set aside" | "working" | "ready" | "over";

export interface Row {
  readonly group: Group;
  /** project (branch) */
  readonly name: string;
  readonly title: string;
  readonly since: string;
  readonly what: string;
  readonly where: string;
  readonly id: string;
  /** Further asks, and the subagents at work. */
  readonly more: readonly string[];
}

const idLength = 8;
const maxMore = 4;

export function groupOf(session: SessionSnapshot): Group {
  if (session.status.kind === "attention") return session.silence ? "set aside" : "needs you";
  if (session.status.kind === "working") return "working";
  return session.state === "completed" || session.state === "stale" ? "over" : "ready";
}

export function rowOf(session: SessionSnapshot, now: number): Row {
  const group = groupOf(session);
  const more = moreOf(session, group);
  const left = more.length - maxMore;
  return {
    group,
    name: clean(nameOf(session)),
    title: clean(session.title ?? ""),
    since: ago(now - session.since),
    what: clean(whatOf(session, group)),
    where: clean(whereOf(session)),
    id: clean(session.sessionId.slice(0, idLength)),
    more: (left > 0 ? [...more.slice(0, maxMore), andMore(more.slice(maxMore))] : more).map(clean),
  };
}

/** Stands at the start of a text, where nothing is cut away. */
const danger = "⚠ ";
const dangerOf = (ask: AskSnapshot | undefined): string => (ask?.dangers?.length ? danger : "");

function andMore(left: readonly string[]): string {
  const isDanger = left.some((line) => line.startsWith(danger));
  return `${isDanger ? danger : ""}and ${left.length} more`;
}

function nameOf({ project, cwd, sessionId, gitBranch }: SessionSnapshot): string {
  const name = project ?? cwd ?? sessionId.slice(0, idLength);
  return gitBranch && gitBranch !== "HEAD" ? `${name} (${gitBranch})` : name;
}

function blocking(session: SessionSnapshot): AskSnapshot[] {
  return session.asks.filter((ask) => ask.kind !== "idle");
}

function whatOf(session: SessionSnapshot, group: Group): string {
  const { detail } = session.status;
  if (group === "needs you" || group === "set aside") {
    const [ask] = blocking(session);
    // A question or an MCP server's wish is in the detail already.
    const isBare = ask && (ask.kind === "permission" || ask.kind === "plan") && ask.summary !== "";
    const asked = ask?.kind === "plan" ? ask.summary.replace(/^#+\s+/, "") : ask?.summary;
    const said = session.silence ? `(${session.silence}) ` : "";
    return `${dangerOf(ask)}${said}${detail ?? "needs you"}${isBare ? `: ${asked}` : ""}`;
  }
  if (group === "working") return detail ?? "working";
  if (detail !== null) return detail.startsWith("background: ") ? detail : `failed: ${detail}`;
  if (session.state === "completed") return "ended";
  if (session.state === "stale") return "silent for hours";
  return firstLine(session.lastResponse) ?? "ready";
}

/** Without its Markdown. */
function firstLine(text: string | null): string | null {
  const line = text?.split("\n").find((l) => l.trim() !== "");
  return (
    line
      ?.replace(/\*\*|__|`/g, "")
      .replace(/^\s*#+\s+/, "")
      .trim() || null
  );
}

function moreOf(session: SessionSnapshot, group: Group): string[] {
  const asks = group === "needs you" || group === "set aside" ? blocking(session).slice(1) : [];
  const children = session.children.filter((child) => child.state === "running");
  return [
    ...asks.map(
      (ask) => `${dangerOf(ask)}also ${ask.tool ?? ask.kind}${ask.summary === "" ? "" : `: ${ask.summary}`}`,
    ),
    ...children.map((child) => `└ ${child.type || "subagent"}${child.detail ? ` · ${child.detail}` : ""}`),
  ];
}

function whereOf({ place, state }: SessionSnapshot): string {
  if (!place || state === "completed") return "";
  return [terminalName(place), place.tty?.replace(/^\/dev\//, "")].filter(Boolean).join(" · ");
}
