/** Questions of any agent: how a request with them is shown, and which answers they take. Pure. */
import { limits } from "../core/limits.ts";
import type { AskDetails, Question } from "../core/session/ask-details.ts";
import { type FittedLine, fitLines, splitLines } from "../core/text/fit.ts";
import { makeLineVisible } from "../core/text/visible.ts";

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
    questions: questions.map(({ header, question, options, isMultiple }) => ({
      header: makeLineVisible(header),
      question: makeLineVisible(question),
      options: options.map(({ label, description }) => ({
        label: makeLineVisible(label),
        description: makeLineVisible(description),
      })),
      isMultiple,
    })),
  };
}

const maxQuotedLength = 80;

/** For each question the labels of the chosen options, or what the user wrote. A string says what is wrong with the replies. */
export function readReplies(
  questions: readonly Question[],
  replies: readonly (readonly string[])[],
): readonly (readonly string[])[] | string {
  if (replies.length !== questions.length)
    return `there are ${questions.length} questions, and ${replies.length} answers`;
  const answers: string[][] = [];
  for (const [index, { question, options, isMultiple }] of questions.entries()) {
    const texts = (replies[index] ?? []).map((text) => text.trim().toWellFormed());
    const name = `"${makeLineVisible(question.slice(0, maxQuotedLength))}"`;
    if (texts.length === 0 || texts.includes("")) return `the answer to ${name} is empty`;
    if (texts.some((text) => text.length > limits.maxAnswerLength))
      return `an answer is longer than ${limits.maxAnswerLength} characters`;
    if (texts.length > 1 && !isMultiple) return `only one answer can be given to ${name}`;
    // A label may be given as it is shown.
    const findLabel = (text: string) =>
      options.find(({ label }) => label === text || makeLineVisible(label) === text)?.label;
    answers.push(texts.map((text) => findLabel(text) ?? text));
  }
  return answers;
}
