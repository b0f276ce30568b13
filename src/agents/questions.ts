/** Questions of any agent: how they are read and shown, and which answers they take. Pure. */
import { asList, asRecord, asText, isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { AskDetails, Question } from "../core/session/ask-details.ts";
import type { Change } from "../core/session/event.ts";
import { type FittedLine, fitLines, splitLines } from "../core/text/fit.ts";
import { makeLineVisible } from "../core/text/visible.ts";
import { toOneLine } from "./one-line.ts";

/** A question with all fields of it that the agent has sent. */
export interface SentQuestion extends Question {
  readonly fields: JsonRecord;
}

export interface SentQuestions {
  readonly questions: readonly SentQuestion[];
  /** True if nothing was left out, and every question has a text. */
  readonly isWhole: boolean;
}

/** Reads questions of the form that agents share: `[{header, question, options: [{label, description}], multiSelect}]`. */
export function readQuestions(list: unknown): SentQuestions {
  const sent = asList(list);
  const questions = sent.slice(0, limits.maxOptions).filter(isRecord).map(readQuestion);
  return { questions, isWhole: questions.length === sent.length && questions.every(isComplete) };
}

function readQuestion(fields: JsonRecord): SentQuestion {
  const options = asList(fields.options).slice(0, limits.maxOptions).map(asRecord);
  return {
    header: asText(fields.header),
    question: asText(fields.question),
    options: options.flatMap(({ label, description }) =>
      typeof label === "string" && label !== "" ? [{ label, description: asText(description) }] : [],
    ),
    // opencode calls it `multiple`.
    isMultiple: fields.multiSelect === true || fields.multiple === true,
    fields,
  };
}

const isComplete = ({ question, options, fields }: SentQuestion): boolean =>
  question !== "" && options.length === asList(fields.options).length;

/** What an ask shows of its questions: the first one in one line, its options, and how many there are. */
export function summarizeQuestions(
  list: unknown,
): Pick<Change & { kind: "ask" }, "summary" | "options" | "questions"> {
  const { questions } = readQuestions(list);
  const { question = "", options = [] } = questions[0] ?? {};
  return {
    summary: toOneLine(question),
    options: options.map(({ label }) => toOneLine(label)),
    ...(questions.length > 1 ? { questions: questions.length } : {}),
  };
}

/** Each question with its numbered options. */
export function listQuestionLines(questions: readonly Question[]): FittedLine[] {
  return questions.flatMap(({ question, options }) => [
    ...splitLines(question),
    ...options.map(({ label, description }, index) => ({
      prefix: `  ${index + 1}. `,
      text: description === "" ? label : `${label}: ${description}`,
    })),
  ]);
}

export const formatQuestionsHeading = (count: number): string =>
  count === 1 ? "Answer a question" : `Answer ${count} questions`;

/** The details of a request that asks these questions. `tool` is the one that asks. */
export function describeQuestions(tool: string, questions: readonly Question[]): AskDetails {
  const { lines, isWhole } = fitLines(listQuestionLines(questions));
  return {
    kind: "question",
    tool,
    heading: formatQuestionsHeading(questions.length),
    lines,
    isWhole,
    dangers: [],
    always: [],
    questions: questions.map(makeQuestionVisible),
  };
}

export function makeQuestionVisible({ header, question, options, isMultiple }: Question): Question {
  return {
    header: makeLineVisible(header),
    question: makeLineVisible(question),
    options: options.map(({ label, description }) => ({
      label: makeLineVisible(label),
      description: makeLineVisible(description),
    })),
    isMultiple,
  };
}

const maxQuotedLength = 80;
export const quote = (text: string): string => `"${makeLineVisible(text.slice(0, maxQuotedLength))}"`;

/** For each question the labels of the chosen options, or what the user wrote. A string says what is wrong with the replies. */
export function readReplies(
  questions: readonly Question[],
  replies: readonly (readonly string[])[],
): readonly (readonly string[])[] | string {
  if (replies.length !== questions.length) {
    const count = questions.length === 1 ? "is one question" : `are ${questions.length} questions`;
    return `there ${count}, and ${replies.length} ${replies.length === 1 ? "answer" : "answers"}`;
  }
  const answers: (readonly string[])[] = [];
  for (const [index, { question, options, isMultiple }] of questions.entries()) {
    const reply = replies[index] ?? [];
    const texts = reply.map((text) => text.trim().toWellFormed());
    if (texts.length === 0 || texts.includes("")) return `the answer to ${quote(question)} is empty`;
    if (texts.some((text) => text.length > limits.maxAnswerLength))
      return `an answer is longer than ${limits.maxAnswerLength} characters`;
    if (texts.length > 1 && !isMultiple) return `only one answer can be given to ${quote(question)}`;
    const chosen = texts.map(
      (text, at) => findLabel(options, reply[at] ?? "") ?? findLabel(options, text) ?? text,
    );
    answers.push([...new Set(chosen)]);
  }
  return answers;
}

/** The option's own label, for a label as it is shown or as it is. undefined if no option has it. */
function findLabel(options: Question["options"], text: string): string | undefined {
  const option =
    options.find(({ label }) => makeLineVisible(label) === text) ??
    options.find(({ label }) => label === text);
  return option?.label;
}
