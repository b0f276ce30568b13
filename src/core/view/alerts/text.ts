/** The text of alerts. The title names the session and what it wants; the body has what the user needs to decide. */
import { createStep, judgeAnswer, listOffers, type Offer } from "../../answers/policy.ts";
import { nameApproval, nameDenial } from "../../answers/words.ts";
import type { Answer, AskDetails } from "../../session/ask-details.ts";
import { answerIdOf } from "../../session/keys.ts";
import { formatPrecedent } from "../../session/precedent.ts";
import { type Ask, hasDied, isInterrupted, type Session, type UntrackedEdit } from "../../session/session.ts";
import { sessionKeyOf } from "../../session/session-ref.ts";
import { dangerMark, formatFirstQuestion, formatInterrupted, statusTexts } from "../../session/texts.ts";
import { measureProportionalWidth, wrapLine } from "../../text/fit.ts";
import { shortenHomePath } from "../../text/paths.ts";
import { toSingleLine, truncateEnd, truncateMiddle } from "../../text/text.ts";
import { measureWidth } from "../../text/width.ts";
import { capitalize } from "../../text/words.ts";
import { formatPercent, nameAccount, type Quota, type QuotaWords, quotaWindows } from "../quotas.ts";
import { branchOf, fitSessionName, type SessionName } from "../session-names.ts";
import { nameTerminal } from "../terminal-name.ts";
import type { Alert, AlertButton } from "../view.ts";

export interface AlertText extends Pick<Alert, "isExact" | "buttons"> {
  readonly title: string;
  /** Plain text, a few short lines. */
  readonly body: string;
}

/** All in columns. Banners show about 45 of a title, so the session's name comes first and is short. */
const maxTitle = 64;
const maxVisibleTitle = 45;
const maxTool = 24;
const maxReason = 160;
const maxResponse = 120;
const maxOption = 24;
const maxOptions = 4;
const maxBranch = 28;
const maxTopic = 40;
const maxItemName = 28;
/** Most desktops break a longer line in two. */
const maxItem = 46;
const minItemText = 16;

/** `when` is the time it opened, not how long ago that was: an alert whose text changes is shown again. */
export function formatAskAlert(
  ask: Ask,
  session: Session,
  name: SessionName,
  when: string,
  { details, home }: { readonly details: AskDetails | null; readonly home: string } = {
    details: null,
    home: "",
  },
): AlertText {
  const [predicate, ...reasons] = describeAsk(ask, session, home);
  const shownName = fitName(name, predicate);
  const context = formatContext(session, name, shownName, `since ${when}`, ask.agentId);
  const summary = createText(`${shownName} ${predicate}`, [...reasons, context]);
  if (details === null) return summary;
  const { lines, ...exact } = createExactText(sessionKeyOf(session), ask, details, reasons.filter(Boolean));
  // Last, because a desktop may cut the end: it says nothing about this request.
  const before = details.precedent ? [formatPrecedent(details.precedent, session.project)] : [];
  return { ...summary, body: [...lines, context, ...before].join("\n"), ...exact };
}

/** Returns what it wants, to be read after the session's name, and what the user needs to decide. */
function describeAsk(ask: Ask, session: Session, home: string): readonly [string, ...string[]] {
  const subject = truncateEnd(stripMarkdown(formatFirstQuestion(ask)), maxReason);
  switch (ask.kind) {
    case "permission":
      return ask.tool
        ? [`wants to use ${formatTool(ask.tool)}`, formatSubject(ask.summary, session.cwd, home)]
        : ["needs your permission", subject];
    case "question":
      return [formatQuestionCount(ask), subject, formatOptions(ask.options)];
    case "plan":
      return ["has a plan to approve", subject];
    case "elicitation":
      return ["needs your input", subject];
    case "idle":
      return ["is ready for your next prompt", formatResponse(session)];
  }
}

const formatQuestionCount = ({ questions = 1 }: Ask): string =>
  questions > 1 ? `has ${questions} questions` : "has a question";

/** mcp__github__create_issue → "create_issue (github)" */
function formatTool(tool: string): string {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return server && name
    ? `${truncateMiddle(name, maxTool)} (${truncateMiddle(server, maxTool)})`
    : truncateMiddle(tool, maxTool);
}

/** A command as it is; a path relative to the session's folder if it is inside. */
function formatSubject(summary: string, cwd: string | null, home: string): string {
  const isPath = /^(?:[/~]|[a-z]:\\)\S*$/i.test(summary);
  if (!isPath) return truncateEnd(summary, maxReason);
  const isInside =
    cwd !== null && cwd !== "" && summary.startsWith(cwd) && /^[\\/]./.test(summary.slice(cwd.length));
  const path = isInside ? summary.slice(cwd.length + 1) : shortenHomePath(summary, home);
  return truncateMiddle(path, maxReason);
}

function formatOptions(options: readonly string[]): string {
  const listed = options.slice(0, maxOptions).map((option) => truncateEnd(option, maxOption));
  const left = options.length - listed.length;
  return [...listed, ...(left > 0 ? [`${left} more`] : [])].filter(Boolean).join(" · ");
}

/** What the session wants must stay readable, so the name gives way. */
function fitName(name: SessionName, predicate: string): string {
  return fitSessionName(name, maxVisibleTitle - measureWidth(predicate) - 1);
}

/** "codex · Explore subagent · main · Rewrite the guide · tmux %3 · since 14:20", without what the name in the title says already. */
function formatContext(
  session: Session,
  name: SessionName,
  shownName: string,
  when: string,
  agentId: string | null = null,
): string {
  const child = session.children.find((one) => one.agentId === agentId);
  const subagent = agentId === null ? "" : `${truncateEnd(child?.type ?? "", maxTool)} subagent`.trim();
  const branch = truncateMiddle(branchOf(session.gitBranch), maxBranch);
  const topic = truncateEnd(session.title ?? "", maxTopic);
  const further = [branch, topic].filter((part) => part !== "" && !shownName.includes(part));
  const isPromptCut = topic === "" && name.difference.startsWith("“") && !shownName.endsWith(name.difference);
  const prompt = isPromptCut ? name.difference : "";
  const terminal = session.ended ? null : nameTerminal(session.place);
  const agent = toSingleLine(name.agent ?? "");
  return [agent, subagent, ...further, prompt, terminal, when].filter(Boolean).join(" · ");
}

export function formatFailedAlert(session: Session, name: SessionName, when: string): AlertText {
  const error = truncateEnd(session.turn.error ?? "", maxReason);
  return createTurnEndText(session, name, when, "stopped with an error", error);
}

export function formatDiedAlert(session: Session, name: SessionName, when: string): AlertText {
  const prompt = truncateEnd(session.lastPrompt ?? "", maxResponse);
  const task = prompt === "" ? "It was in the middle of a turn." : `It was at work on: ${prompt}`;
  return createTurnEndText(session, name, when, "ended unexpectedly", task);
}

export function formatFinishedAlert(session: Session, name: SessionName, when: string): AlertText {
  return createTurnEndText(session, name, when, "is done", formatResponse(session));
}

function createTurnEndText(
  session: Session,
  name: SessionName,
  when: string,
  predicate: string,
  text: string,
): AlertText {
  const shownName = fitName(name, predicate);
  return createText(`${shownName} ${predicate}`, [text, formatContext(session, name, shownName, when)]);
}

function formatResponse(session: Session): string {
  const text = isInterrupted(session) ? formatInterrupted(session.lastPrompt) : (session.lastResponse ?? "");
  return truncateEnd(stripMarkdown(text), maxResponse);
}

export function formatUntrackedAlert(
  session: Session,
  { path }: UntrackedEdit,
  name: SessionName,
  when: string,
): AlertText {
  const file = path === null ? "" : formatSubject(path, session.cwd, "");
  return createTurnEndText(session, name, when, statusTexts.untracked, file);
}

export const createUntrackedItem = ({ path }: UntrackedEdit, name: string): AlertListItem => ({
  name,
  text: path ?? "",
});

const describeContext = (percent: number): string => `has used ${formatPercent(percent)} of its context`;

export function formatContextAlert(
  session: Session,
  percent: number,
  name: SessionName,
  when: string,
): AlertText {
  return createTurnEndText(session, name, when, describeContext(percent), "");
}

export const createContextItem = (percent: number, name: string): AlertListItem => ({
  name,
  text: describeContext(percent),
});

/** A quota is nearly used up, or `isBack`. */
export function formatQuotaAlert(quota: Quota, isBack: boolean, words: QuotaWords): AlertText {
  const { name, text } = createQuotaItem(quota, isBack, words);
  const when = `${isBack ? "Reset" : "Resets"} ${words.formatTime(quota.resetsAt)}`;
  return createText(`${name}: ${text}`, [when]);
}

export function createQuotaItem(quota: Quota, isBack: boolean, words: QuotaWords): AlertListItem {
  const { window, usedPercent } = quota;
  const used = `${formatPercent(usedPercent)} of ${quotaWindows[window]} used`;
  return {
    name: nameAccount(quota, words),
    text: isBack ? `your limit of ${quotaWindows[window]} is back` : used,
  };
}

/** A line of an alert about several sessions. */
export interface AlertListItem {
  readonly name: string;
  readonly text: string;
}

export function createAskItem(
  ask: Ask,
  session: Session,
  name: string,
  { details, home }: { readonly details: AskDetails | null; readonly home: string },
): AlertListItem {
  const [predicate, subject = ""] = describeAsk(ask, session, home);
  const mark = details?.dangers.length ? dangerMark : "";
  // The first line of a plan alone looks like a command.
  const kind = ask.kind === "plan" && subject !== "" ? "Plan: " : "";
  return { name, text: mark + kind + (subject || predicate) };
}

export function createTurnEndItem(session: Session, name: string): AlertListItem {
  const { turn, lastResponse } = session;
  const ending = hasDied(session) ? statusTexts.died : stripMarkdown(lastResponse ?? "");
  return { name, text: turn.error ?? ending };
}

/** `items` are the first of `count` sessions. */
export function formatListAlert(title: string, items: readonly AlertListItem[], count: number): AlertText {
  const lines = items.map(({ name, text }) => {
    const shortName = truncateEnd(name, maxItemName);
    const room = maxItem - measureWidth(`${shortName}: `);
    const shortText = truncateEnd(text, Math.max(minItemText, room));
    return shortText === "" ? shortName : `${shortName}: ${shortText}`;
  });
  const left = count - lines.length;
  return createText(title, left > 0 ? [...lines, `and ${left} more`] : lines);
}

function createText(title: string, lines: readonly string[]): AlertText {
  return { title: truncateEnd(title, maxTitle), body: lines.filter((line) => line !== "").join("\n") };
}

const maxMarkdown = 2_000;

function stripMarkdown(text: string): string {
  return toSingleLine(
    text
      .slice(0, maxMarkdown)
      .replace(/^\s*(?:```.*|#+|[-*+>]|\d+\.)(?=\s|$)/gm, "")
      .replace(/\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
      .replace(/\*\*|`/g, ""),
  );
}

export const probeText: AlertText = {
  title: "beckon doctor: a test",
  body: "It goes away by itself.",
};

/** The exact text of an ask that can be answered in the alert, and the buttons that go with it. */
interface ExactText extends Pick<Alert, "isExact" | "buttons"> {
  readonly lines: readonly string[];
}

/**
 * Narrow enough that no desktop wraps a row again: xfce4-notifyd hyphenates words that it splits, and cuts a line that takes
 * more than six rows.
 */
const exactColumns = 40;
/** More than most desktops show. A button that needs the whole body is not offered there. */
const maxExactRows = 12;
/** Buttons are side by side. */
const maxButtons = 3;
const maxButtonLabel = 20;
const maxDanger = 80;

/** `summary` is shown instead if there is no room for the exact text. */
function createExactText(
  session: string,
  ask: Ask,
  details: AskDetails,
  summary: readonly string[],
): ExactText {
  const answerId = answerIdOf(ask);
  const texts = details.isWhole ? listExactTexts(details) : [];
  const exact = texts.map(wrapLines).find((rows) => rows.length <= maxExactRows);
  const warnings = details.dangers.map((danger) => truncateEnd(dangerMark + danger, maxDanger));
  const step = createStep("notification", { isWholeShown: exact !== undefined });
  const button: CreateButton = (id, label, answer) => ({
    id: `${id}@${answerId}`,
    label,
    action: { do: "answer", session, ask: answerId, answer, step },
    needsAll: judgeAnswer(details, answer, { ...step, isWholeShown: false }).kind !== "allowed",
  });
  const buttons = createButtons(details, listOffers(details, step), button);
  if (exact === undefined || buttons.length === 0) return { lines: [...warnings, ...summary], buttons };
  return { lines: [...warnings, ...exact], isExact: true, buttons };
}

/** Desktops differ in the width of a tab. */
function wrapLines(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) =>
    wrapLine(line.replaceAll("\t", "    "), exactColumns, measureProportionalWidth),
  );
}

/** Everything that is needed to decide, longest first: a question is enough without its options, which are the buttons. */
function listExactTexts(details: AskDetails): readonly (readonly string[])[] {
  const { kind, heading, lines, questions, isGenericHeading } = details;
  if (kind === "question") {
    return questions.length === 1 ? [lines, [questions[0]?.question ?? ""]] : [lines];
  }
  return [kind === "plan" || isGenericHeading ? lines : [heading, ...lines]];
}

type CreateButton = (id: string, label: string, answer: Answer) => AlertButton;

function createButtons(
  details: AskDetails,
  offers: readonly Offer[],
  button: CreateButton,
): readonly AlertButton[] {
  const deny = button("deny", nameDenial(details), { do: "deny", message: null });
  const [first] = offers;
  switch (first?.do) {
    case "reply":
      return createReplyButtons(details, button);
    case "allow":
      return [button("allow", capitalize(nameApproval(details.kind)), { do: "allow" }), deny];
    // What was not shown can be denied, but there is no reason to send a plan back or to decline a question.
    default:
      return details.kind === "permission" ? [deny] : [];
  }
}

/** The labels are quoted, so that no option looks like one of beckon's buttons. */
function createReplyButtons({ questions }: AskDetails, button: CreateButton): readonly AlertButton[] {
  const [only, ...others] = questions;
  if (!only || others.length > 0 || only.isMultiple || only.options.length > maxButtons) return [];
  const labels = only.options.map(({ label }) => label);
  const isShort = (label: string) =>
    label !== "" && toSingleLine(label) === label && measureWidth(label) <= maxButtonLabel;
  if (!labels.every(isShort)) return [];
  return labels.map((label, n) => button(`reply-${n}`, `“${label}”`, { do: "reply", replies: [[label]] }));
}

/** Selects the buttons for a place that shows this many rows of the body. */
export function selectButtons({ body, isExact, buttons = [] }: Alert, rows: number): readonly AlertButton[] {
  const showsAll = isExact === true && body.split("\n").length <= rows;
  return buttons.filter(({ needsAll }) => showsAll || !needsAll);
}
