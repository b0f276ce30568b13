/** What a person wrote behind `beckon answer SESSION`, made the answer to what is asked. */
import type { Answer, AskDetails, Question } from "../core/session/ask-details.ts";
import { usageError } from "./args.ts";
import { stripControls } from "./output.ts";

/** `ownFrom`: the first of the words that stand behind `--`, where a person's own words are not taken for anything else. */
export function readAnswerWords(
  asked: AskDetails,
  words: readonly string[],
  ownFrom = Number.POSITIVE_INFINITY,
): Answer {
  const [first = "", ...more] = words;
  const verb = first.toLowerCase();
  if (asked.kind === "question") return readReplies(asked.questions, words, ownFrom);
  if (verb === "deny") return { do: "deny", message: messageOf(more) };
  if (verb === "allow") {
    if (more.length > 0) throw usageError("allow takes nothing more: a message goes with deny");
    return { do: "allow" };
  }
  if (verb === "always") return { do: "always", choice: choiceOf(asked.always, more) };
  if (asked.kind === "plan") return readPlanWords(words, ownFrom);
  throw usageError(`a permission is answered with allow, always [N] or deny [MESSAGE], not ${quoted(first)}`);
}

/** Words send a plan back, so what sounds like a yes is none of them. */
const soundsLikeYes = /^(?:yes|yep|yeah|y|ok|okay|sure|go|lgtm|fine|good|great|approved?)\b/i;

function readPlanWords(words: readonly string[], ownFrom: number): Answer {
  const text = words.join(" ").trim();
  const isOwn = ownFrom === 0;
  if (!isOwn && /^approved?$/i.test(text)) return { do: "allow" };
  if (!isOwn && soundsLikeYes.test(text))
    throw usageError(
      `${quoted(text)} would send the plan back. To approve it: allow. To send it back with these words: deny, or -- before them`,
    );
  return { do: "deny", message: messageOf(words) };
}

/** A call that makes no sense, with what would. */
function wrongWords(text: string, list: readonly string[]): Error {
  return Object.assign(new Error([`${text}:`, ...list].join("\n")), { exitCode: 2 });
}

const quoted = (text: string): string => JSON.stringify(stripControls(text).slice(0, 100));

function messageOf(words: readonly string[]): string | null {
  return words.join(" ").trim() || null;
}

function choiceOf(always: readonly string[], more: readonly string[]): number {
  const list = always.map((text, n) => `  ${n + 1}  ${stripControls(text)}`);
  if (always.length === 0) throw new Error("nothing can be allowed for good here: use allow");
  const [given, ...others] = more;
  if (given === undefined && always.length === 1) return 0;
  const number = Number(given);
  const isOne = others.length === 0 && Number.isInteger(number) && number >= 1 && number <= always.length;
  if (given !== undefined && isOne) return number - 1;
  throw wrongWords("always takes the number of one of these", list);
}

function readReplies(questions: readonly Question[], words: readonly string[], ownFrom: number): Answer {
  const [first = "", ...more] = words;
  const isDeny =
    ownFrom > 0 && first.toLowerCase() === "deny" && !questions.some((one) => labelOf(one, first) !== null);
  if (isDeny) return { do: "deny", message: messageOf(more) };
  const [only, ...others] = questions;
  // One question, and nobody quotes what they say.
  const texts = only && others.length === 0 ? [words.join(" ")] : words;
  if (texts.length !== questions.length)
    throw wrongWords(
      `${questions.length} questions, and ${texts.length === 1 ? "1 answer" : `${texts.length} answers`}. Answer each in one word or in quotes`,
      questions.map(listed),
    );
  return {
    do: "reply",
    replies: questions.map((question, n) => replyOf(question, texts[n] ?? "", n >= ownFrom)),
  };
}

function listed({ question, options }: Question, n: number): string {
  const labels = options.map(({ label }, at) => `${at + 1} ${label}`).join(", ");
  return stripControls(`  ${n + 1}  ${question} (${labels})`);
}

/** A label, in whatever letters, or its number; null: neither. */
function labelOf({ options }: Question, text: string): string | null {
  const wanted = text.trim().toLowerCase();
  const byName = options.find(({ label }) => label.toLowerCase() === wanted);
  return byName?.label ?? (/^\d{1,3}$/.test(wanted) ? options[Number(wanted) - 1]?.label : null) ?? null;
}

/** Else it is free text. */
function replyOf(question: Question, text: string, isOwn: boolean): string[] {
  if (isOwn && text.trim() !== "") return [text];
  const whole = labelOf(question, text);
  if (whole !== null) return [whole];
  const parts = question.isMultiple ? text.split(",").map((part) => labelOf(question, part)) : [];
  const labels = parts.filter((label) => label !== null);
  if (labels.length > 0 && labels.length === parts.length) return [...new Set(labels)];
  if (text.trim() === "") throw usageError(`the answer to ${quoted(question.question)} is empty`);
  if (looksLikeChoice.test(text.trim()))
    throw wrongWords(
      `${quoted(text)} is none of the options. Choose one, or put -- before your own words`,
      question.options.map(({ label }, n) => `  ${n + 1}  ${stripControls(label)}`),
    );
  return [text];
}

/** Numbers of options, and the words that answer other asks: nobody means them as their own words. */
const looksLikeChoice = /^(?:\d+(?:\s*,\s*\d+)*|allow|always|yes|no)$/i;
