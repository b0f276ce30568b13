/** What an alert says. The title names the session and what it wants; the body has the one thing to decide by. */

import type { AskDetails } from "../session/ask-details.ts";
import { firstQuestion } from "../session/ask-text.ts";
import { keyOfSession } from "../session/keys.ts";
import { type Ask, hasDied, isInterrupted, type Session } from "../session/session.ts";
import { interruptedText, statusTexts } from "../session/status-text.ts";
import { pathWithTilde } from "../text/home.ts";
import { cutEnd, cutMiddle, plain } from "../text/line.ts";
import { exactWords } from "./alert-answer.ts";
import { terminalName } from "./terminal-name.ts";
import type { Alert } from "./view.ts";

export interface AlertText extends Pick<Alert, "isExact" | "buttons"> {
  readonly title: string;
  /** Plain text, a few short lines. */
  readonly body: string;
}

/** In columns. Banners show about 40 of a title: the session's name comes first, and leaves room for what it wants. */
const maxTitle = 64;
const maxTool = 24;
const maxReason = 160;
const maxLastWords = 120;
const maxOption = 24;
const maxOptions = 4;
const maxBranch = 28;
const maxTopic = 40;
const maxListedName = 28;
const maxListedWords = 48;

/**
 * `when` it began, on the person's clock. Not how long ago: words that change are shown anew, each time. `asked`: what can
 * be answered on the spot.
 */
export function askWords(
  ask: Ask,
  session: Session,
  name: string,
  when: string,
  { asked, home }: { readonly asked: AskDetails | null; readonly home: string } = { asked: null, home: "" },
): AlertText {
  const [wants, ...reasons] = wantOf(ask, session, home);
  const context = contextOf(session, name, `since ${when}`, ask.agentId);
  const plainly = words(`${name} ${wants}`, [...reasons, context]);
  if (asked === null) return plainly;
  const { lines, ...more } = exactWords(keyOfSession(session), ask, asked, reasons.filter(Boolean));
  return { ...plainly, body: [...lines, context].join("\n"), ...more };
}

/** What it wants, to be read after its name; then what there is to decide by. */
function wantOf(ask: Ask, session: Session, home: string): readonly [string, ...string[]] {
  const about = cutEnd(unmarked(firstQuestion(ask)), maxReason);
  switch (ask.kind) {
    case "permission":
      return ask.tool
        ? [`wants to use ${toolName(ask.tool)}`, subjectOf(ask.summary, session.cwd, home)]
        : ["needs your permission", about];
    case "question":
      return [hasQuestions(ask), about, optionsOf(ask.options)];
    case "plan":
      return ["has a plan to approve", about];
    case "elicitation":
      return ["needs your input", about];
    case "idle":
      return ["is waiting for you", lastWords(session)];
  }
}

const hasQuestions = ({ questions = 1 }: Ask): string =>
  questions > 1 ? `has ${questions} questions` : "has a question";

/** "create_issue (github)" for mcp__github__create_issue. */
function toolName(tool: string): string {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return server && name
    ? `${cutMiddle(name, maxTool)} (${cutMiddle(server, maxTool)})`
    : cutMiddle(tool, maxTool);
}

/** A command as it is; a file as it is called from where the session works. */
function subjectOf(summary: string, cwd: string | null, home: string): string {
  const isPath = /^(?:[/~]|[a-z]:\\)\S*$/i.test(summary);
  if (!isPath) return cutEnd(summary, maxReason);
  const isInside =
    cwd !== null && summary.startsWith(cwd) && /^[\\/]./.test(summary.slice(cwd.length)) && cwd !== "";
  return cutMiddle(isInside ? summary.slice(cwd.length + 1) : pathWithTilde(summary, home), maxReason);
}

function optionsOf(options: readonly string[]): string {
  const shown = options.slice(0, maxOptions).map((option) => cutEnd(option, maxOption));
  const left = options.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].filter(Boolean).join(" · ");
}

/** Where to look for it: what its name does not say already. Then since when. */
function contextOf(session: Session, name: string, when: string, agentId: string | null = null): string {
  const child = session.children.find((c) => c.agentId === agentId);
  const subagent = agentId === null ? "" : `${cutEnd(child?.type ?? "", maxTool)} subagent`.trim();
  const branch = session.gitBranch === "HEAD" ? "" : cutMiddle(session.gitBranch ?? "", maxBranch);
  const topic = cutEnd(session.title ?? "", maxTopic);
  const further = [branch, topic].filter((part) => part !== "" && !name.includes(part));
  return [subagent, ...further, session.ended ? null : terminalName(session.place), when]
    .filter(Boolean)
    .join(" · ");
}

export function failedWords(session: Session, name: string, when: string): AlertText {
  const error = cutEnd(session.turn.error ?? "", maxReason);
  return words(`${name} stopped with an error`, [error, contextOf(session, name, when)]);
}

export function diedWords(session: Session, name: string, when: string): AlertText {
  const prompt = cutEnd(session.lastPrompt ?? "", maxLastWords);
  const lost = prompt === "" ? "" : `It was at work on: ${prompt}`;
  return words(`${name} ended unexpectedly`, [
    lost || "It was in the middle of a turn.",
    contextOf(session, name, when),
  ]);
}

export function finishedWords(session: Session, name: string, when: string): AlertText {
  return words(`${name} is done`, [lastWords(session), contextOf(session, name, when)]);
}

function lastWords(session: Session): string {
  const said = isInterrupted(session) ? interruptedText(session.lastPrompt) : (session.lastResponse ?? "");
  return cutEnd(unmarked(said), maxLastWords);
}

/** One of a list: its name and what there is to say of it in a few words. */
export interface AlertListItem {
  readonly name: string;
  readonly told: string;
}

export function listedAsk(ask: Ask, session: Session, name: string, home: string): AlertListItem {
  const [wants, about = ""] = wantOf(ask, session, home);
  return { name, told: about || wants };
}

export function listedEnd(session: Session, name: string): AlertListItem {
  const { turn, lastResponse } = session;
  return {
    name,
    told: turn.error ?? (hasDied(session) ? statusTexts.died : unmarked(lastResponse ?? "")),
  };
}

/** Several in one alert: the first few by name. */
export function listWords(title: string, listed: readonly AlertListItem[], count: number): AlertText {
  const lines = listed.map(({ name, told }) => {
    const about = cutEnd(told, maxListedWords);
    return about === "" ? cutEnd(name, maxListedName) : `${cutEnd(name, maxListedName)}: ${about}`;
  });
  const left = count - lines.length;
  return words(title, left > 0 ? [...lines, `and ${left} more`] : lines);
}

function words(title: string, lines: readonly string[]): AlertText {
  return { title: cutEnd(title, maxTitle), body: lines.filter((line) => line !== "").join("\n") };
}

/** Markdown's own signs say nothing in an alert. */
function unmarked(text: string): string {
  return plain(
    text
      .slice(0, maxLookedAt)
      .replace(/^\s*(?:```.*|#+|[-*+>]|\d+\.)(?=\s|$)/gm, "")
      .replace(/\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
      .replace(/\*\*|`/g, ""),
  );
}

const maxLookedAt = 2_000;

export const probeText: AlertText = {
  title: "beckon doctor: a test",
  body: "It goes away by itself.",
};
