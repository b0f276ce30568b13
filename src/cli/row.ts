/** A session in a person's words: what it is called, what it does or wants, since when, where. */

import {
  formatFailure,
  formatInterrupted,
  statusTexts,
  summarizeAsk,
  summarizeAskInFull,
} from "../core/session/texts.ts";
import { shortenHomePath } from "../core/text/paths.ts";
import { extractFirstLine } from "../core/text/text.ts";
import { type Group, groupLabels } from "../core/view/groups.ts";
import type { AskSnapshot, SessionSnapshot } from "../core/view/snapshot.ts";
import { nameTerminal } from "../core/view/terminal-name.ts";
import { formatDuration, stripControls } from "./output.ts";

export interface StatusRow {
  readonly group: Group;
  /** project (branch) */
  readonly name: string;
  readonly project: string;
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

export function rowOf(
  session: SessionSnapshot,
  { now, home }: { readonly now: number; readonly home: string },
): StatusRow {
  const { group } = session;
  const more = moreOf(session, home);
  const left = more.length - maxMore;
  return {
    group,
    name: stripControls(projectOf(session, home) + branchOf(session)),
    project: stripControls(projectOf(session, home)),
    title: stripControls(session.title ?? ""),
    since: formatDuration(now - session.since),
    what: stripControls(whatOf(session, home)),
    where: stripControls(whereOf(session)),
    id: stripControls(session.sessionId.slice(0, idLength)),
    more: (left > 0 ? [...more.slice(0, maxMore), andMore(more.slice(maxMore))] : more).map(stripControls),
  };
}

/** Stands at the start of a text, where nothing is cut away. */
const danger = "⚠ ";
const dangerOf = (ask: AskSnapshot | undefined): string => (ask?.dangers?.length ? danger : "");

function andMore(left: readonly string[]): string {
  const isDanger = left.some((line) => line.startsWith(danger));
  return `${isDanger ? danger : ""}and ${left.length} more`;
}

function projectOf({ project, cwd, sessionId }: SessionSnapshot, home: string): string {
  return project ?? (cwd && shortenHomePath(cwd, home)) ?? sessionId.slice(0, idLength);
}

const branchOf = ({ gitBranch }: SessionSnapshot): string =>
  gitBranch && gitBranch !== "HEAD" ? ` (${gitBranch})` : "";

const isWaiting = ({ group }: SessionSnapshot): boolean => group === "needs_you" || group === "set_aside";

function blocking(session: SessionSnapshot): AskSnapshot[] {
  return session.asks.filter((ask) => ask.kind !== "idle");
}

function whatOf(session: SessionSnapshot, home: string): string {
  const { group } = session;
  const { detail } = session.status;
  if (isWaiting(session)) {
    const [ask] = blocking(session);
    const said = session.silence ? `(${session.silence}) ` : "";
    return (
      dangerOf(ask) +
      said +
      (ask ? shortenHomePath(summarizeAskInFull(ask), home) : (detail ?? groupLabels[group]))
    );
  }
  if (group === "working") return detail ?? statusTexts.thinking;
  if (group === "ended") {
    if (session.state !== "completed") return statusTexts.lost;
    return session.died ? statusTexts.died : statusTexts.ended;
  }
  if (session.error) return formatFailure(session.error);
  return (
    detail ??
    (session.interrupted ? formatInterrupted(session.lastPrompt) : null) ??
    (extractFirstLine(session.lastResponse).trim() || null) ??
    (session.turnCount > 0 ? statusTexts.done : statusTexts.ready)
  );
}

function moreOf(session: SessionSnapshot, home: string): string[] {
  const asks = isWaiting(session) ? blocking(session).slice(1) : [];
  const children = session.children.filter((child) => child.state === "running");
  return [
    ...asks.map((ask) => `${dangerOf(ask)}also ${shortenHomePath(summarizeAsk(ask), home)}`),
    ...children.map((child) => `└ ${child.type || "Subagent"} · ${child.detail ?? statusTexts.thinking}`),
  ];
}

function whereOf({ place, state }: SessionSnapshot): string {
  if (!place || state === "completed") return "";
  const name = nameTerminal(place);
  const tty = place.tty?.replace(/^\/dev\//, "");
  // Where nothing else is known, the terminal is called by its tty already.
  return [name, name?.startsWith(tty ?? "") ? null : tty].filter(Boolean).join(" · ");
}
