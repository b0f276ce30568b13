/** What an alert says. The title names the session and what it wants; the body has the one thing to decide by. */
import type { Answer, AskDetails } from "../../session/ask-details.ts";
import { answerIdOf, sessionKeyOf } from "../../session/keys.ts";
import { type Ask, hasDied, isInterrupted, type Session } from "../../session/session.ts";
import { formatFirstQuestion, formatInterrupted, statusTexts } from "../../session/texts.ts";
import { measureProportionalWidth, wrapLine } from "../../text/fit.ts";
import { shortenHomePath } from "../../text/paths.ts";
import { measureWidth, toSingleLine, truncateEnd, truncateMiddle } from "../../text/text.ts";
import { nameTerminal } from "../terminal-name.ts";
import type { Alert, AlertButton } from "../view.ts";

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
export function formatAskAlert(
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
  const { lines, ...more } = createExactText(sessionKeyOf(session), ask, asked, reasons.filter(Boolean));
  return { ...plainly, body: [...lines, context].join("\n"), ...more };
}

/** What it wants, to be read after its name; then what there is to decide by. */
function wantOf(ask: Ask, session: Session, home: string): readonly [string, ...string[]] {
  const about = truncateEnd(unmarked(formatFirstQuestion(ask)), maxReason);
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
    ? `${truncateMiddle(name, maxTool)} (${truncateMiddle(server, maxTool)})`
    : truncateMiddle(tool, maxTool);
}

/** A command as it is; a file as it is called from where the session works. */
function subjectOf(summary: string, cwd: string | null, home: string): string {
  const isPath = /^(?:[/~]|[a-z]:\\)\S*$/i.test(summary);
  if (!isPath) return truncateEnd(summary, maxReason);
  const isInside =
    cwd !== null && summary.startsWith(cwd) && /^[\\/]./.test(summary.slice(cwd.length)) && cwd !== "";
  return truncateMiddle(isInside ? summary.slice(cwd.length + 1) : shortenHomePath(summary, home), maxReason);
}

function optionsOf(options: readonly string[]): string {
  const shown = options.slice(0, maxOptions).map((option) => truncateEnd(option, maxOption));
  const left = options.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].filter(Boolean).join(" · ");
}

/** Where to look for it: what its name does not say already. Then since when. */
function contextOf(session: Session, name: string, when: string, agentId: string | null = null): string {
  const child = session.children.find((c) => c.agentId === agentId);
  const subagent = agentId === null ? "" : `${truncateEnd(child?.type ?? "", maxTool)} subagent`.trim();
  const branch = session.gitBranch === "HEAD" ? "" : truncateMiddle(session.gitBranch ?? "", maxBranch);
  const topic = truncateEnd(session.title ?? "", maxTopic);
  const further = [branch, topic].filter((part) => part !== "" && !name.includes(part));
  return [subagent, ...further, session.ended ? null : nameTerminal(session.place), when]
    .filter(Boolean)
    .join(" · ");
}

export function formatFailedAlert(session: Session, name: string, when: string): AlertText {
  const error = truncateEnd(session.turn.error ?? "", maxReason);
  return words(`${name} stopped with an error`, [error, contextOf(session, name, when)]);
}

export function formatDiedAlert(session: Session, name: string, when: string): AlertText {
  const prompt = truncateEnd(session.lastPrompt ?? "", maxLastWords);
  const lost = prompt === "" ? "" : `It was at work on: ${prompt}`;
  return words(`${name} ended unexpectedly`, [
    lost || "It was in the middle of a turn.",
    contextOf(session, name, when),
  ]);
}

export function formatFinishedAlert(session: Session, name: string, when: string): AlertText {
  return words(`${name} is done`, [lastWords(session), contextOf(session, name, when)]);
}

function lastWords(session: Session): string {
  const said = isInterrupted(session) ? formatInterrupted(session.lastPrompt) : (session.lastResponse ?? "");
  return truncateEnd(unmarked(said), maxLastWords);
}

/** One of a list: its name and what there is to say of it in a few words. */
export interface AlertListItem {
  readonly name: string;
  readonly told: string;
}

export function createAskItem(ask: Ask, session: Session, name: string, home: string): AlertListItem {
  const [wants, about = ""] = wantOf(ask, session, home);
  return { name, told: about || wants };
}

export function createTurnEndItem(session: Session, name: string): AlertListItem {
  const { turn, lastResponse } = session;
  return {
    name,
    told: turn.error ?? (hasDied(session) ? statusTexts.died : unmarked(lastResponse ?? "")),
  };
}

/** Several in one alert: the first few by name. */
export function formatListAlert(title: string, listed: readonly AlertListItem[], count: number): AlertText {
  const lines = listed.map(({ name, told }) => {
    const about = truncateEnd(told, maxListedWords);
    return about === "" ? truncateEnd(name, maxListedName) : `${truncateEnd(name, maxListedName)}: ${about}`;
  });
  const left = count - lines.length;
  return words(title, left > 0 ? [...lines, `and ${left} more`] : lines);
}

function words(title: string, lines: readonly string[]): AlertText {
  return { title: truncateEnd(title, maxTitle), body: lines.filter((line) => line !== "").join("\n") };
}

/** Markdown's own signs say nothing in an alert. */
function unmarked(text: string): string {
  return toSingleLine(
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

/** An alert about something that can be answered on the spot: its exact words, and the buttons that go with them. */

/** What the body says of the ask, before where and when. */
export interface ExactText extends Pick<Alert, "isExact" | "buttons"> {
  readonly lines: readonly string[];
}

/**
 * Narrow enough that no desktop wraps a row again: xfce4-notifyd puts a hyphen into a word that it parts, and cuts a line
 * that takes more than six rows.
 */
const columns = 40;
/** More than most desktops show. What needs all of it is not offered there. */
const maxRows = 12;
const maxButtons = 3;
/** Three of them stand side by side. */
const maxButtonLabel = 20;
const maxDanger = 80;

/** `summary`: what is said of it where there is no room for all. */
function createExactText(
  session: string,
  ask: Ask,
  asked: AskDetails,
  summary: readonly string[],
): ExactText {
  const name = answerIdOf(ask);
  const button = (id: string, label: string, answer: Answer): AlertButton => ({
    id: `${id}@${name}`,
    label,
    action: { do: "answer", session, ask: name, answer, by: "notification" },
    needsAll: answer.do !== "deny",
  });
  const texts = asked.isWhole ? textsOf(asked) : [];
  const all = texts.map(rowsOf).find((rows) => rows.length <= maxRows);
  const warnings = asked.dangers.map((danger) => truncateEnd(`⚠ ${danger}`, maxDanger));
  const buttons = buttonsOf(asked, all !== undefined && warnings.length === 0, button);
  if (all === undefined || buttons.length === 0) return { lines: [...warnings, ...summary], buttons };
  return { lines: [...warnings, ...all], isExact: true, buttons };
}

/** Tabs are of whatever width a desktop makes them. */
function rowsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => wrapLine(line.replaceAll("\t", "    "), columns, measureProportionalWidth));
}

/** All that is to be decided by; of a question it can be less than all it says. */
function textsOf({ kind, heading, lines, questions }: AskDetails): readonly (readonly string[])[] {
  if (kind === "question")
    return [lines, ...(questions.length === 1 ? [[questions[0]?.question ?? ""]] : [])];
  const isInTitle = kind === "plan" || heading === "Run a command" || heading === "Fetch a page";
  return [isInTitle ? lines : [heading, ...lines]];
}

type Make = (id: string, label: string, answer: Answer) => AlertButton;

function buttonsOf(asked: AskDetails, isSafe: boolean, button: Make): readonly AlertButton[] {
  const { kind } = asked;
  const deny = (label: string) => button("deny", label, { do: "deny", message: null });
  if (kind === "question") return isSafe ? optionButtons(asked, button) : [];
  if (kind === "plan") return isSafe ? [button("allow", "Approve", { do: "allow" }), deny("Send back")] : [];
  return [...(isSafe ? [button("allow", "Allow", { do: "allow" })] : []), deny("Deny")];
}

/** In quotes: no option can pass for a button of ours. */
function optionButtons({ questions }: AskDetails, button: Make): readonly AlertButton[] {
  const [only, ...others] = questions;
  if (!only || others.length > 0 || only.isMultiple || only.options.length > maxButtons) return [];
  const isShort = ({ label }: { readonly label: string }) =>
    toSingleLine(label) === label && label !== "" && measureWidth(label) <= maxButtonLabel;
  if (!only.options.every(isShort)) return [];
  return only.options.map(({ label }, n) =>
    button(`reply-${n}`, `“${label}”`, { do: "reply", replies: [[label]] }),
  );
}

/** Of a place that shows so many rows of the body: what may be offered there. */
export function selectButtons({ body, isExact, buttons = [] }: Alert, rows: number): readonly AlertButton[] {
  const isAll = isExact === true && body.split("\n").length <= rows;
  return buttons.filter(({ needsAll }) => isAll || !needsAll);
}
