/** `beckon answer`: shows what a session asks, or answers it. */

import { closeSync, constants, openSync, readSync } from "node:fs";
import { type AnswerStep, createStep, findOffer, judgeAnswer, listOffers } from "../core/answers/policy.ts";
import { notWhole } from "../core/answers/words.ts";
import type { Answer, AskDetails, Question } from "../core/session/ask-details.ts";
import { viewKeyOf } from "../core/session/session-ref.ts";
import { findClosestText } from "../core/text/closest.ts";
import { capitalize, formatCount } from "../core/text/words.ts";
import { sortViews } from "../core/view/order.ts";
import type { AskView, SessionView } from "../core/view/session-view.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { parseArguments, usageError } from "./args.ts";
import {
  type AnswerableAsk,
  explainUnanswerable,
  formatAnswerCommand,
  isAnswerable,
  sendAnswer,
  subjectOf,
} from "./asks.ts";
import { fetchSessions } from "./client.ts";
import { answerCommand } from "./commands/answer.ts";
import { fetchSession, nameOf, shortId } from "./find-session.ts";
import { findWidest, print, stripControls } from "./output.ts";

interface AnswerArguments {
  /** null: the session that has waited longest. */
  readonly session: string | null;
  /** Empty: show what is asked. */
  readonly words: readonly string[];
  /** Index of the first word after `--`, which is taken literally. */
  readonly literalFrom: number;
  /** `--yes`: no confirmation. */
  readonly isConfirmed: boolean;
  /** null: the only open ask, if it was open when this command was started. */
  readonly askId: string | null;
}

export async function answer(args: string[]): Promise<number> {
  const parsed = readArguments(args);
  const paths = resolvePaths();
  const session = await findSession(paths, parsed.session);
  if (parsed.words.length === 0) {
    showAsks(session, parsed);
    return 0;
  }
  const ask = chooseAsk(session, parsed.askId);
  const given = parseAnswer(ask.asked, parsed.words, parsed.literalFrom);
  const step = takeStep(ask.asked, given, nameOf(session), parsed.isConfirmed);
  if (step === null) {
    print("Nothing was sent.\n");
    return 1;
  }
  print(`${await sendAnswer(paths, session, ask, given, step)}\n`);
  return 0;
}

function readArguments(args: readonly string[]): AnswerArguments {
  const parsed = parseArguments(args, answerCommand);
  const isNext = parsed.flags.has("--next");
  const [session = null] = isNext ? [] : parsed.rest;
  const words = parsed.rest.slice(isNext ? 0 : 1);
  // Another session may be the next one by the time that the user has read what this one asks.
  if (isNext && words.length > 0)
    throw usageError("answer --next only shows what is asked. Answer it with the command that it prints");
  if (!isNext && !session)
    throw usageError("answer takes a session, and then allow, always [N], deny [MESSAGE] or your reply");
  return {
    session,
    words,
    literalFrom: Math.max(0, parsed.literalFrom - 1),
    isConfirmed: parsed.flags.has("--yes"),
    askId: parsed.values["--ask"] ?? null,
  };
}

/** The session with this name: of several in a project, the only one that waits. */
async function findSession(paths: Paths, name: string | null): Promise<SessionView> {
  const live = await fetchSessions(paths);
  if (typeof live === "string") throw new Error(live);
  if (name === null) {
    const next = sortViews(live.sessions).find(({ group }) => group === "needs_you");
    if (!next) throw new Error("no session needs you now. See your sessions: beckon status");
    return fetchSession(paths, viewKeyOf(next));
  }
  const waiting = live.sessions.filter(({ project, asks }) => project === name && asks.some(isBlocking));
  const [only, ...others] = waiting;
  // An id comes before a project of the same name.
  const isId = live.sessions.some(({ sessionId }) => sessionId.toLowerCase().startsWith(name.toLowerCase()));
  return fetchSession(paths, only && others.length === 0 && !isId ? viewKeyOf(only) : name);
}

const isBlocking = ({ kind }: AskView): boolean => kind !== "idle";

/** All open asks, or the one with this id. Throws if there is none. */
function openAsks(session: SessionView, askId: string | null): readonly AskView[] {
  const name = nameOf(session);
  const open = session.asks.filter(isBlocking);
  const asks = askId === null ? open : open.filter(({ answerId }) => answerId === askId);
  if (askId !== null && asks.length === 0)
    throw new Error(stripControls(`this ask is gone: ${name} has no open ask ${askId}`));
  if (asks.length === 0)
    throw new Error(stripControls(`nothing to answer: ${name} is not waiting for an answer`));
  return asks;
}

/** Never guesses between several asks, nor takes one that the user cannot have meant. */
export function chooseAsk(
  session: SessionView,
  askId: string | null,
  startedAt = performance.timeOrigin,
): AnswerableAsk {
  const asks = openAsks(session, askId);
  const answerable = asks.filter(isAnswerable);
  const [only] = answerable;
  if (!only) throw new Error(asks.slice(0, 1).map((ask) => explainUnanswerable(ask, session))[0]);
  if (asks.length > 1) {
    const rows = answerable.map((ask) => `  --ask ${ask.answerId}  ${subjectOf(ask)}`);
    const heading = `${nameOf(session)} asks ${asks.length} things. Add one of these to say which:`;
    throw new Error([heading, ...rows].map(stripControls).join("\n"));
  }
  if (askId === null && only.openedAt > startedAt)
    throw new Error(
      `${nameOf(session)} asks something new since you ran this. See it with: ${formatAnswerCommand(shortId(session), only)}`,
    );
  return only;
}

function showAsks(session: SessionView, { session: typed, askId }: AnswerArguments): void {
  const asks = openAsks(session, askId);
  // By the time of the answer, a project's name could mean another session.
  const name = typed === null || typed === session.project ? shortId(session) : typed;
  const parts = asks.map((ask) =>
    isAnswerable(ask)
      ? formatAsk(ask.asked, nameOf(session), formatAnswerCommand(name, ask))
      : [explainUnanswerable(ask, session)],
  );
  print(`${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`);
}

/** Everything that is asked, with the dangers first. */
function formatDetails(details: AskDetails, sessionName: string): string[] {
  return [
    `${sessionName} asks: ${details.heading}`,
    ...details.dangers.map((danger) => `⚠ ${danger}`),
    "",
    ...details.lines.map((line) => `  ${line}`),
    "",
  ].map((line) => stripControls(line).trimEnd());
}

/** `answerCommand` is what the words of an answer follow. */
function formatAsk(details: AskDetails, sessionName: string, answerCommand: string): string[] {
  const choices = choicesOf(details).map(([words, about]) => [`  ${answerCommand} ${words}`, about] as const);
  const columns = findWidest(choices.map(([command]) => command));
  return [
    ...formatDetails(details, sessionName),
    ...(details.isWhole ? [] : [`${capitalize(notWhole)}.`]),
    "Answer with:",
    ...choices.map(([command, about]) => {
      const fill = " ".repeat(columns - Bun.stringWidth(command));
      return about === "" ? command : `${command}${fill}   ${stripControls(about)}`;
    }),
  ];
}

type Choice = readonly [words: string, about: string];

const denials: Partial<Record<AskDetails["kind"], Choice>> = {
  plan: ['"smaller steps"', "sends it back, with your text"],
  question: ["deny", "declines to answer"],
};

/** A session that has to wait is denied, and told so. */
const denyChoice = ({ otherChangesAt }: AskDetails): Choice =>
  otherChangesAt === undefined
    ? ["deny", 'or with a message: deny "use pnpm"']
    : ["wait", 'until that change is committed; or with a message: deny "use b.ts"'];

/** The words that answer it. */
export function choicesOf(details: AskDetails): Choice[] {
  const { kind, always, questions } = details;
  const offers = listOffers(details, firstStep(false));
  const rules = findOffer(offers, "always") ? always : [];
  return [
    ...(findOffer(offers, "allow") ? [["allow", ""] as const] : []),
    ...rules.map((text, n): Choice => [always.length === 1 ? "always" : `always ${n + 1}`, text]),
    ...(findOffer(offers, "reply") ? questionChoices(questions) : []),
    denials[kind] ?? denyChoice(details),
  ];
}

function questionChoices(questions: readonly Question[]): Choice[] {
  const [first, ...others] = questions;
  if (!first) return [];
  const example = questions.map(({ isMultiple, options }) =>
    options.length === 0 ? '"…"' : isMultiple && options.length > 1 ? "1,2" : "1",
  );
  const about = others.length > 0 ? "a name or number for each question" : "an option's name or number";
  const ownText = questions.map(() => '"your own text"').join(" ");
  return [
    [example.join(" "), first.options.length === 0 ? "" : about],
    [`-- ${ownText}`, ""],
  ];
}

/** `beckon answer` shows nothing before it answers, unless it asks again. */
const firstStep = (isConfirmed: boolean): AnswerStep =>
  createStep(process.stdin.isTTY && process.stdout.isTTY ? "command line" : "API", { isConfirmed });

/**
 * In a terminal, a yes to something long or dangerous is asked for again below the full text. Without a terminal nobody may
 * have read it, so something dangerous needs --yes. Returns null if the user has thought better of it.
 */
function takeStep(
  details: AskDetails,
  given: Answer,
  sessionName: string,
  isConfirmed: boolean,
): AnswerStep | null {
  const step = firstStep(isConfirmed);
  if (judgeAnswer(details, given, step).kind !== "needs confirmation") return step;
  if (step.front === "API")
    throw usageError(
      `this request is marked ⚠ ${stripControls(details.dangers[0] ?? "")}. Without a terminal, it is allowed only with --yes`,
    );
  const always =
    given.do === "always" ? [stripControls(`From now on: ${details.always[given.choice] ?? ""}`)] : [];
  print(`${[...formatDetails(details, sessionName), ...always].join("\n")}\n`);
  discardTypedAhead();
  return confirm("Allow it?") ? { ...step, isWholeShown: true, isConfirmed: true } : null;
}

/** What was typed before the text was on the screen is not an answer to it. */
function discardTypedAhead(): void {
  if (process.platform === "win32") return;
  let terminal: number | null = null;
  try {
    terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    // In raw mode an unfinished line can be read too.
    process.stdin.setRawMode(true);
    const buffer = new Uint8Array(4_096);
    while (readSync(terminal, buffer) > 0);
  } catch {
    // EAGAIN: nothing is left.
  } finally {
    process.stdin.setRawMode(false);
    if (terminal !== null) closeSync(terminal);
  }
}

/** `literalFrom`: the words from this index on came after `--`, and are the user's own text whatever they say. */
export function parseAnswer(
  details: AskDetails,
  words: readonly string[],
  literalFrom = Number.POSITIVE_INFINITY,
): Answer {
  const [first = "", ...others] = words;
  if (details.kind === "question") return parseReplies(details.questions, words, literalFrom);
  switch (first.toLowerCase()) {
    case "wait":
      if (details.otherChangesAt === undefined || others.length > 0) break;
      return { do: "deny", message: null };
    case "deny":
      return { do: "deny", message: messageOf(others) };
    case "allow":
      if (others.length > 0) throw usageError("allow takes no text. To send a message, use deny MESSAGE");
      return { do: "allow" };
    case "always":
      return { do: "always", choice: parseAlwaysChoice(details.always, others) };
  }
  if (details.kind === "plan") return parsePlanAnswer(words, literalFrom);
  throw usageError(
    `a permission is answered with allow, always [N] or deny [MESSAGE], not ${quoteText(first)}`,
  );
}

/** Text sends a plan back, so text that sounds like a yes is refused. */
const soundsLikeYes = /^(?:yes|yep|yeah|y|ok|okay|sure|go|lgtm|fine|good|great|approved?)\b/i;

function parsePlanAnswer(words: readonly string[], literalFrom: number): Answer {
  const text = words.join(" ").trim();
  const isLiteral = literalFrom === 0;
  if (!isLiteral && /^approved?$/i.test(text)) return { do: "allow" };
  if (!isLiteral && soundsLikeYes.test(text))
    throw usageError(
      `${quoteText(text)} would send the plan back. To approve it: allow. To send it back with this text: put deny or -- before it`,
    );
  return { do: "deny", message: messageOf(words) };
}

/** A usage error with the list of what would be right. */
const choiceError = (text: string, choices: readonly string[]): Error =>
  wrongAnswer([`${text}:`, ...choices].join("\n"));

const wrongAnswer = (text: string): Error => Object.assign(new Error(text), { exitCode: 2 });

const quoteText = (text: string): string => JSON.stringify(stripControls(text).slice(0, 100));

const messageOf = (words: readonly string[]): string | null => words.join(" ").trim() || null;

function parseAlwaysChoice(always: readonly string[], words: readonly string[]): number {
  if (always.length === 0) throw new Error("this request cannot be allowed for good. Use allow");
  const [first, ...others] = words;
  if (first === undefined && always.length === 1) return 0;
  const number = Number(first);
  const isValid = others.length === 0 && Number.isInteger(number) && number >= 1 && number <= always.length;
  if (first !== undefined && isValid) return number - 1;
  throw choiceError(
    "always takes the number of one of these",
    always.map((text, n) => `  ${n + 1}  ${stripControls(text)}`),
  );
}

function parseReplies(questions: readonly Question[], words: readonly string[], literalFrom: number): Answer {
  const [first = "", ...others] = words;
  const isDeny =
    literalFrom > 0 &&
    first.toLowerCase() === "deny" &&
    questions.every((question) => findLabel(question, first) === null);
  if (isDeny) return { do: "deny", message: messageOf(others) };
  // The reply to a single question needs no quotes.
  const texts = questions.length === 1 ? [words.join(" ")] : words;
  if (texts.length !== questions.length) {
    const answers = formatCount(texts.length, "answer");
    throw choiceError(
      `${questions.length} questions, but ${answers}. Answer each with one word, or put quotes around your text`,
      questions.map(formatQuestion),
    );
  }
  return {
    do: "reply",
    replies: questions.map((question, n) => parseReply(question, texts[n] ?? "", n >= literalFrom)),
  };
}

function formatQuestion({ question, options }: Question, n: number): string {
  const labels = options.map(({ label }, at) => `${at + 1} ${label}`).join(", ");
  return stripControls(`  ${n + 1}  ${question} (${labels})`);
}

/** The option with this name (in any case) or number. Null if there is none. */
function findLabel({ options }: Question, text: string): string | null {
  const wanted = text.trim().toLowerCase();
  const byName = options.find(({ label }) => label.toLowerCase() === wanted);
  return byName?.label ?? (/^\d{1,3}$/.test(wanted) ? options[Number(wanted) - 1]?.label : null) ?? null;
}

/** The options that the text is most likely a typo of; null if it is free text. */
function findIntended(question: Question, text: string): string | null {
  const labels = question.options.map(({ label }) => label);
  const parts = question.isMultiple ? text.split(",") : [text];
  const intended = parts.map((part) => findLabel(question, part) ?? findClosestText(part.trim(), labels));
  return intended.includes(null) ? null : intended.join(",");
}

/** Numbers of options, and the answers to other kinds of asks: almost certainly not meant as free text. */
const looksLikeChoice = /^(?:\d+(?:\s*,\s*\d+)*|allow|always|yes|no)$/i;

/** The labels chosen, or the text as it is. */
function parseReply(question: Question, text: string, isLiteral: boolean): string[] {
  if (isLiteral && text.trim() !== "") return [text];
  const single = findLabel(question, text);
  if (single !== null) return [single];
  const parts = question.isMultiple ? text.split(",").map((part) => findLabel(question, part)) : [];
  const labels = parts.filter((label) => label !== null);
  if (labels.length > 0 && labels.length === parts.length) return [...new Set(labels)];
  if (text.trim() === "") throw usageError(`the answer to ${quoteText(question.question)} is empty`);
  if (looksLikeChoice.test(text.trim()))
    throw choiceError(
      `${quoteText(text)} is not one of the options. Choose one, or put -- before your own text`,
      question.options.map(({ label }, n) => `  ${n + 1}  ${stripControls(label)}`),
    );
  const intended = findIntended(question, text);
  if (intended !== null)
    throw wrongAnswer(
      `${quoteText(text)} is not one of the options: did you mean ${stripControls(intended)}? To send it as it is: -- ${/\s/.test(text) ? quoteText(text) : stripControls(text)}`,
    );
  return [text];
}
