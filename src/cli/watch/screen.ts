/** Draws the model: one text for each row of the terminal. Pure. */
import { type AnswerStep, findOffer, listOffers } from "../../core/answers/policy.ts";
import { nameApproval, nameDenial, notWhole } from "../../core/answers/words.ts";
import type { AskDetails } from "../../core/session/ask-details.ts";
import { formatPrecedent } from "../../core/session/precedent.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { formatFailure, summarizeAskInFull } from "../../core/session/texts.ts";
import { continuationMark } from "../../core/text/fit.ts";
import { shortenHomePath } from "../../core/text/paths.ts";
import { capitalize, formatCount } from "../../core/text/words.ts";
import { formatAge, formatUsage } from "../../core/view/figures.ts";
import { groupMarks, groups } from "../../core/view/group-names.ts";
import { describeRound } from "../../core/view/rounds.ts";
import { branchOf } from "../../core/view/session-names.ts";
import type { AskView, SessionView } from "../../core/view/session-view.ts";
import { formatAnswerCommand, isAnswerable } from "../asks.ts";
import { shortId } from "../find-session.ts";
import { bold, dim, red, stripControls, truncateToColumns, wrapText } from "../output.ts";
import { formatCompactRows, formatCounts, listSharedFiles } from "../status-table.ts";
import {
  type AskScreen,
  blockingAsks,
  countFolded,
  findDetails,
  findSelected,
  listSessions,
  type Model,
  nameAll,
} from "./model.ts";
import { createPromptLines, type PromptScreen } from "./prompt-box.ts";

type Style = "plain" | "bold" | "dim" | "danger" | "error" | "selected";

const codes: Readonly<Record<Style, string>> = {
  plain: "",
  bold,
  dim,
  danger: bold + red,
  error: red,
  selected: "\x1b[7m",
};

interface Line {
  readonly text: string;
  readonly style: Style;
}

const line = (text: string, style: Style = "plain"): Line => ({ text, style });

/** Exactly as many lines as the terminal has rows, none wider than the terminal. */
export function renderScreen(model: Model): string[] {
  const { rows } = model.size;
  const lines = renderBody(model);
  return [...lines, ...Array<string>(Math.max(0, rows - lines.length)).fill("")].slice(0, rows);
}

function renderBody(model: Model): string[] {
  switch (model.screen.kind) {
    case "help":
      return renderHelp(model, model.screen.top);
    case "ask":
      return renderAsk(model, model.screen);
    case "prompt":
      return renderPrompt(model, model.screen);
    case "list":
    case "filter":
      return renderList(model);
  }
}

/** Text of agents goes through here, so nothing in it can control the terminal. */
function paint({ text, style }: Line, { colour, size }: Pick<Model, "colour" | "size">): string {
  const shown = truncateToColumns(text, size.columns);
  return colour && style !== "plain" && shown !== "" ? `${codes[style]}${shown}\x1b[0m` : shown;
}

/** Rows of the list's parts. */
interface Layout {
  readonly notices: readonly Line[];
  /** Whether there is a blank line above the list. */
  readonly isAiry: boolean;
  readonly hasFilter: boolean;
  readonly listRows: number;
  /** 0: the selected session is not shown in detail. */
  readonly previewRows: number;
}

const minAiryRows = 20;
const minPreviewRows = 2;
const minListRows = 2;
const noticeShare = 8;
const previewShare = 0.4;

export function computeLayout(model: Model): Layout {
  const { rows } = model.size;
  const notices = formatNotices(model, Math.max(1, Math.floor(rows / noticeShare)));
  const isAiry = rows >= minAiryRows;
  const hasFilter = model.filter !== "" || model.screen.kind === "filter";
  // Counts above, keys below.
  const body = Math.max(1, rows - 2 - notices.length - Number(isAiry) - Number(hasFilter));
  const sessions = Math.max(1, listSessions(model).length + Number(countFolded(model) > 0));
  const wanted = Math.max(Math.floor(body * previewShare), body - sessions - 1);
  const hasRoom = wanted >= minPreviewRows && body - wanted - 1 >= Math.min(sessions, minListRows);
  const previewRows = hasRoom && findSelected(model) ? wanted : 0;
  const listRows = previewRows === 0 ? body : body - previewRows - 1;
  return { notices, isAiry, hasFilter, listRows, previewRows };
}

function formatNotices({ data, size }: Model, maxRows: number): Line[] {
  const notices = data?.notices ?? [];
  const lines = notices
    .flatMap((notice) => wrapText(notice, size.columns, 2))
    .map((text) => line(text, "bold"));
  if (lines.length <= maxRows) return lines;
  return [...lines.slice(0, maxRows - 1), line("More to know: beckon status", "bold")];
}

function renderList(model: Model): string[] {
  const { size, data, filter, screen } = model;
  const layout = computeLayout(model);
  const sessions = listSessions(model);
  const shown = sessions.slice(model.top, model.top + layout.listRows);
  const rows = formatRows(model, sessions).slice(model.top, model.top + shown.length);
  const empty = line(
    data === null
      ? "…"
      : filter === ""
        ? "No sessions. Start an agent, and it appears here."
        : "No session matches.",
    "dim",
  );
  const cursor = screen.kind === "filter" ? "▏" : "";
  const matches = `${sessions.length} of ${data?.sessions.length ?? 0}`;
  const folded = countFolded(model);
  const isAtEnd = model.top + shown.length === sessions.length && shown.length < layout.listRows;
  const fold = folded > 0 && isAtEnd ? [paint(line(`  · ${folded} ended: press e`, "dim"), model)] : [];
  const list = sessions.length === 0 && folded === 0 ? [paint(empty, model)] : [...rows, ...fold];
  return [
    formatHeader(model),
    ...layout.notices.map((notice) => paint(notice, model)),
    ...(layout.hasFilter
      ? [paint(line(joinEnds(`/${filter}${cursor}`, matches, size.columns), "bold"), model)]
      : []),
    ...(layout.isAiry ? [""] : []),
    ...list,
    ...Array<string>(Math.max(0, layout.listRows - list.length)).fill(""),
    ...renderPreview(model, layout),
    formatFooter(model, screen.kind === "filter" ? filterHints : listHints(model)),
  ];
}

/** How many sessions are in each group: in words if there is room, otherwise with the marks only. */
function formatHeader(model: Model): string {
  const { now, home, colour, size, data } = model;
  const sessions = data?.sessions ?? [];
  const counts = formatCounts(sessions, { now, home, colour, columns: size.columns });
  const [first = ""] = counts;
  if (counts.length === 1) return sessions.length === 0 ? "" : first + formatRound(model, first);
  const short = groups.flatMap((group) => {
    const count = sessions.filter((session) => session.group === group).length;
    return count === 0 ? [] : [`${groupMarks[group]} ${count}`];
  });
  return paint(line(short.join("  "), "bold"), model);
}

/** "5 asks, about 90 s", if there is room for it. */
function formatRound(model: Model, before: string): string {
  const waiting = (model.data?.sessions ?? []).filter(({ group }) => group === "needs_you");
  const round = describeRound(waiting.flatMap(blockingAsks));
  const text = `   ${round}`;
  const isFitting = Bun.stringWidth(before) + text.length <= model.size.columns;
  return round !== "" && isFitting ? paint(line(text, "dim"), model) : "";
}

/** Narrower terminals have no room for the columns of a row. */
const minRowColumns = 32;

/** A row for each session; the selected one is marked. */
function formatRows(model: Model, sessions: readonly SessionView[]): string[] {
  const { now, home, colour, size, selected } = model;
  const columns = size.columns - 2;
  const isNarrow = columns < minRowColumns;
  const options = { now, home, columns: Math.max(columns, minRowColumns), colour: colour && !isNarrow };
  const rows = formatCompactRows(sessions, options);
  const index = sessions.findIndex((session) => viewKeyOf(session) === selected);
  return rows.map((row, n) => {
    if (n !== index) return isNarrow ? paint(line(`  ${row}`), model) : `  ${row}`;
    const text = truncateToColumns(`▸ ${stripControls(row)}`, size.columns);
    const fill = " ".repeat(Math.max(0, size.columns - Bun.stringWidth(text)));
    return colour ? `${codes.selected}${text}${fill}\x1b[0m` : text;
  });
}

/** The first text at the left, the second at the right end; only the first if both do not fit. */
function joinEnds(left: string, right: string, columns: number, fill = " "): string {
  const room = columns - Bun.stringWidth(left) - Bun.stringWidth(right);
  return room < 2 ? truncateToColumns(left, columns) : left + fill.repeat(room) + right;
}

function renderPreview(model: Model, { previewRows }: Layout): string[] {
  const session = findSelected(model);
  if (!session || previewRows === 0) return [];
  const { columns } = model.size;
  const sessions = listSessions(model);
  const index = sessions.findIndex((other) => viewKeyOf(other) === model.selected);
  const position = ` ${index + 1}/${sessions.length} ──`;
  const title = truncateToColumns(
    `── ${describeName(model, session)} · ${describePlace(session)} `,
    Math.max(1, columns - position.length - 2),
  );
  const preview = createPreview(model, session);
  const hidden = preview.length - previewRows;
  const shown = hidden > 0 ? preview.slice(0, previewRows - 1) : preview;
  return [
    paint(line(joinEnds(title, position, columns, "─"), "dim"), model),
    ...shown.map((text) => paint(text, model)),
    ...(hidden > 0 ? [paint(line(`  … ${hidden + 1} more lines`, "dim"), model)] : []),
    ...Array<string>(Math.max(0, previewRows - shown.length - Number(hidden > 0))).fill(""),
  ];
}

function describeName(model: Model, session: SessionView): string {
  const name = nameAll(model)(session);
  const branch = branchOf(session.gitBranch);
  return branch === "" || name.endsWith(`(${branch})`) ? name : `${name} (${branch})`;
}

function describePlace(session: SessionView): string {
  const terminal = session.state === "completed" ? null : session.terminal;
  return [terminal, shortId(session)].filter(Boolean).join(" · ");
}

/** What the user needs to decide about the session, most important first. */
function createPreview(model: Model, session: SessionView): Line[] {
  const asks = blockingAsks(findDetails(model, session) ?? session);
  const isWaiting = session.group === "needs_you" || session.group === "set_aside";
  const [ask, ...others] = isWaiting ? asks : [];
  if (!ask) return describeSession(model, session);
  const more = others.map((other) => line(`also ${summarizeAskInFull(other)}`, "dim"));
  return [...describeAsk(model, ask), ...more, line(""), ...describeSession(model, session)];
}

const indent = "  ";

function describeAsk(model: Model, ask: AskView): Line[] {
  const { columns } = model.size;
  if (isAnswerable(ask)) return createAskLines(ask.asked, columns);
  const why = ask.why === undefined ? [] : wrapText(`Not answerable from here: ${ask.why}.`, columns, 3);
  return [
    ...wrapText(summarizeAskInFull(ask), columns, 4).map((text) => line(text, "bold")),
    ...why.map((text) => line(text, "dim")),
  ];
}

/** Everything that is asked. Nothing is shortened: a text that is too wide continues on the next line. */
function createAskLines(asked: AskDetails, columns: number): Line[] {
  const dangers = asked.dangers.flatMap((danger) =>
    wrapText(danger, Math.max(1, columns - 2), Number.POSITIVE_INFINITY).map(
      (text, n) => (n === 0 ? "⚠ " : indent) + text,
    ),
  );
  return [
    ...wrapExact(asked.heading, columns).map((text) => line(text, "bold")),
    ...dangers.map((text) => line(text, "danger")),
    ...asked.lines.flatMap((text) => wrapExact(indent + text, columns)).map((text) => line(text)),
  ];
}

/** Keeps every character, unlike `wrapText`. */
function wrapExact(text: string, columns: number): string[] {
  const clean = stripControls(text.replaceAll("\t", "    "));
  if (Bun.stringWidth(clean) <= columns) return [clean];
  const lines: string[] = [];
  let current = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(clean)) {
    const segmentWidth = Bun.stringWidth(segment);
    if (width + segmentWidth > columns && current !== continuationMark) {
      lines.push(current);
      current = continuationMark;
      width = Bun.stringWidth(continuationMark);
    }
    current += segment;
    width += segmentWidth;
  }
  return [...lines, current];
}

const maxTextLines = 20;

/** What the session was asked last, and what it said. */
function describeSession({ size, home, now }: Model, session: SessionView): Line[] {
  const { title, lastPrompt, lastResponse, error, cwd, children, group, interrupted } = session;
  const paragraph = (
    label: string,
    text: string | null,
    style: Style = "plain",
    maxLines = maxTextLines,
  ): Line[] =>
    (text ?? "").trim() === ""
      ? []
      : (text ?? "")
          .trim()
          .split(/\r?\n/)
          .flatMap((part, n) => wrapText(n === 0 ? label + part : part, size.columns, maxLines))
          .slice(0, maxLines)
          .map((wrapped) => line(wrapped, style));
  const running = children.filter(({ state }) => state === "running");
  const response = group === "ready" && !interrupted ? paragraph("", lastResponse) : [];
  return [
    ...paragraph("", error && formatFailure(error), "error", 4),
    ...listSharedFiles(session, now).flatMap((text) => paragraph("", text, "plain", 2)),
    ...running.map(({ name, detail, startedAt }) =>
      line(`└ ${name} · ${formatAge(now - startedAt)}${detail ? ` · ${detail}` : ""}`),
    ),
    ...paragraph("Prompt: ", lastPrompt, "dim", 3),
    ...(response.length > 0 ? [line(""), ...response, line("")] : []),
    ...paragraph("Title: ", title, "dim", 1),
    ...paragraph("Used: ", formatUsage(session), "dim", 1),
    ...paragraph("Folder: ", cwd && shortenHomePath(cwd, home), "dim", 1),
  ];
}

/** Whether all of the only ask of the selected session can be read below the list. */
export function isAskShown(model: Model): boolean {
  const session = findSelected(model);
  const details = session && findDetails(model, session);
  const [ask] = details ? blockingAsks(details) : [];
  if (!session || !ask || !isAnswerable(ask)) return false;
  const { previewRows } = computeLayout(model);
  const needed = createAskLines(ask.asked, model.size.columns).length;
  // The last row may say how many lines are missing.
  return needed <= (createPreview(model, session).length > previewRows ? previewRows - 1 : previewRows);
}

/** Where there is no room for all hints, those with the highest rank go first. */
interface Hint {
  readonly key: string;
  readonly does: string;
  readonly rank: number;
}

const hint = (key: string, does: string, rank: number): Hint => ({ key, does, rank });

const wideColumns = 60;

function formatHints(hints: readonly Hint[], model: Model): string {
  const { columns } = model.size;
  const gap = columns < wideColumns ? "  " : "   ";
  let shown = hints;
  while (Bun.stringWidth(shown.map(({ key, does }) => `${key} ${does}`).join(gap)) > columns) {
    const last = Math.max(...shown.map(({ rank }) => rank));
    shown = shown.filter(({ rank }) => rank !== last);
  }
  const paintHint = ({ key, does }: Hint) =>
    `${paint(line(key, "bold"), model)} ${paint(line(does, "dim"), model)}`;
  return shown.map(paintHint).join(gap);
}

function formatFooter(model: Model, hints: readonly Hint[]): string {
  const { message } = model;
  return message
    ? paint(line(message.text, message.isError ? "error" : "bold"), model)
    : formatHints(hints, model);
}

const filterHints: readonly Hint[] = [
  hint("↑↓", "move", 3),
  hint("Enter", "done", 2),
  hint("Esc", "show all", 1),
];

function listHints(model: Model): readonly Hint[] {
  const session = findSelected(model);
  const ask = session && blockingAsks(session).find(({ answerId }) => answerId !== undefined);
  const isLive = session !== null && session.group !== "ended";
  return [
    ...(ask ? [hint("a", nameApproval(ask.kind), 3), hint("d", "deny", 4)] : []),
    ...(session ? [hint("Enter", "go there", 5)] : []),
    ...(isLive ? [hint("p", "next prompt", 9)] : []),
    hint("/", "filter", 6),
    ...(isLive ? [hint("m", session.silenceKind === "muted" ? "unmute" : "mute", 7)] : []),
    ...(isLive ? [hint("s", session.silenceKind === "snoozed" ? "end snooze" : "snooze", 8)] : []),
    hint("?", "help", 1),
    hint("q", "quit", 2),
  ];
}

const helpRows: readonly (readonly [key: string, does: string])[] = [
  ["↑ ↓  j k", "move"],
  ["PgUp PgDn", "move by a page"],
  ["Home End", "first and last session"],
  ["Enter", "go to the session's terminal"],
  ["a", "allow what it asks, or read all of it"],
  ["d", "deny it"],
  ["p", "write its next prompt: Enter sends it, or queues it while it works"],
  ["m", "mute, or end it"],
  ["s", "snooze for 15 minutes, or end it"],
  ["x", "dismiss what it asks, or its failure"],
  ["e", "list the sessions that ended, or fold them again"],
  ["/", "filter by text; Esc shows all"],
  ["Ctrl-L", "draw the screen again"],
  ["q", "quit"],
];

const helpNotes = [
  "A long or dangerous request is shown in full first. Then y allows it, once you have seen all of it.",
];

function createHelpLines({ size }: Model): Line[] {
  const width = Math.max(...helpRows.map(([key]) => key.length));
  return [
    line("Keys", "bold"),
    line(""),
    ...helpRows.flatMap(([key, does]) => {
      const [first = "", ...more] = wrapText(does, Math.max(8, size.columns - width - 4), 3);
      return [
        line(`${indent}${key.padEnd(width)}  ${first}`),
        ...more.map((text) => line(" ".repeat(width + 4) + text)),
      ];
    }),
    line(""),
    ...helpNotes.flatMap((note) => wrapText(note, size.columns, 9)).map((text) => line(text)),
  ];
}

export const countHelpLines = (model: Model): number => createHelpLines(model).length;

function renderHelp(model: Model, top: number): string[] {
  const room = Math.max(1, model.size.rows - 1);
  const lines = createHelpLines(model);
  const shown = lines.slice(top, top + room);
  const footer = lines.length > room ? "↑↓ scroll   any other key goes back" : "Any key goes back";
  return [
    ...shown.map((text) => paint(text, model)),
    ...Array<string>(Math.max(0, room - shown.length)).fill(""),
    paint(line(footer, "dim"), model),
  ];
}

/** Above the text: the session and a rule. Below it: a rule and the keys. */
const askFrameRows = 4;

function renderPrompt(model: Model, screen: PromptScreen): string[] {
  const { columns, rows } = model.size;
  const room = Math.max(1, rows - askFrameRows);
  const shown = createPromptLines(screen, columns).slice(-room);
  const way = screen.known?.way ?? "";
  return [
    paint(
      line(joinEnds(`Next prompt for ${describeName(model, screen.session)}`, way, columns), "bold"),
      model,
    ),
    paint(line("─".repeat(columns), "dim"), model),
    ...shown.map((text) => paint(text, model)),
    ...Array<string>(Math.max(0, room - shown.length)).fill(""),
    paint(line("─".repeat(columns), "dim"), model),
    formatFooter(model, promptHints(screen)),
  ];
}

function promptHints({ known, text }: PromptScreen): readonly Hint[] {
  const back = hint("Esc", "back", 1);
  if (known && known.obstacle !== null) return [back];
  const canTakeBack = text === "" && (known?.prompts.length ?? 0) > 0;
  return [
    hint("Enter", "send", 2),
    ...(canTakeBack ? [hint("Backspace", "change the last one", 3)] : []),
    back,
  ];
}

const createAskBody = ({ size }: Model, { session, ask }: AskScreen): Line[] => {
  const { asked } = ask;
  const [first, ...others] = asked.questions;
  const isLong = first !== undefined && (others.length > 0 || first.isMultiple);
  const severalAnswers = `Several answers: give them in its terminal, or with ${formatAnswerCommand(shortId(session), ask)}`;
  const note = asked.isWhole ? (isLong ? severalAnswers : null) : `${capitalize(notWhole)}.`;
  return [
    ...createAskLines(asked, size.columns),
    ...(note === null
      ? []
      : [line(""), ...wrapText(note, size.columns, 3).map((text) => line(text, "danger"))]),
  ];
};

/** How many lines an ask has, and how many are on the screen at once. */
export function countAskLines(
  model: Model,
  screen: AskScreen,
): { readonly lines: number; readonly room: number } {
  return {
    lines: createAskBody(model, screen).length,
    room: Math.max(1, model.size.rows - askFrameRows),
  };
}

/** The full text on a screen of its own is the second step: a yes in the list has opened it, or the user has. */
export const createAskStep = (model: Model, screen: AskScreen): AnswerStep => ({
  front: "list",
  isWholeShown: screen.seenTo >= countAskLines(model, screen).lines,
  shownMs: model.now - screen.openedAt,
  isConfirmed: true,
});

/** The question, if a digit can answer it. */
export function findSingleQuestion({ ask: { asked } }: AskScreen): AskDetails["questions"][number] | null {
  const [question, ...others] = asked.questions;
  return question && others.length === 0 && !question.isMultiple ? question : null;
}

function renderAsk(model: Model, screen: AskScreen): string[] {
  const { columns } = model.size;
  const { session, ask, top } = screen;
  const body = createAskBody(model, screen);
  const { room } = countAskLines(model, screen);
  const shown = body.slice(top, top + room);
  const below = body.length - top - shown.length;
  const asks = session.asks.filter(isAnswerable);
  const count = `ask ${asks.findIndex(({ id }) => id === ask.id) + 1} of ${asks.length}`;
  const aside = asks.length > 1 ? count : describePlace(session);
  const { precedent } = ask.asked;
  const before = precedent ? ` ${stripControls(formatPrecedent(precedent, session.project))} ──` : "";
  const rest = below > 0 ? ` ↓ ${formatCount(below, "more line")} ──` : "";
  return [
    paint(line(joinEnds(`${describeName(model, session)} asks`, aside, columns), "bold"), model),
    paint(
      line(joinEnds("", Bun.stringWidth(before) < columns - 1 ? before : "", columns, "─"), "dim"),
      model,
    ),
    ...shown.map((text) => paint(text, model)),
    ...Array<string>(Math.max(0, room - shown.length)).fill(""),
    paint(line(joinEnds("", rest, columns, "─"), "dim"), model),
    formatFooter(model, askHints(model, screen, asks.length)),
  ];
}

function askHints(model: Model, screen: AskScreen, asks: number): readonly Hint[] {
  const yes = createYesHint(model, screen);
  return [
    ...(yes ? [hint(...yes, 1)] : []),
    hint("d", nameDenial(screen.ask.asked).toLowerCase(), 2),
    ...(asks > 1 ? [hint("Tab", "next ask", 4)] : []),
    hint("Enter", "go there", 5),
    hint("Esc", "back", 3),
  ];
}

/** null if it cannot be allowed here. */
function createYesHint(model: Model, screen: AskScreen): readonly [key: string, does: string] | null {
  const { asked } = screen.ask;
  const offers = listOffers(asked, createAskStep(model, screen));
  if (asked.kind === "question") {
    if (asked.isWhole && !findOffer(offers, "reply")) return ["↓", "read on"];
    const count = Math.min(9, findSingleQuestion(screen)?.options.length ?? 0);
    return count === 0 ? null : [count === 1 ? "1" : `1-${count}`, "answer"];
  }
  if (!asked.isWhole) return null;
  const isOffered = findOffer(offers, "allow") !== null;
  return isOffered ? ["y", nameApproval(asked.kind)] : ["↓", "read on"];
}
