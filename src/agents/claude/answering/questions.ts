/** Reads the questions of AskUserQuestion. Their texts are not changed. */
import type { JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Question } from "../../../core/session/ask-details.ts";
import { readQuestions, type SentQuestion } from "../../questions.ts";

/** null if the form is unknown, or two questions or options have the same text: then only the terminal can answer. */
export function parseQuestions(input: JsonRecord): readonly Question[] | null {
  const { questions, isWhole } = readQuestions(input.questions);
  const isReadable = isWhole && questions.length > 0 && areUnique(questions.map(({ question }) => question));
  return isReadable && questions.every(hasReadableOptions) ? questions : null;
}

function hasReadableOptions({ question, options, fields }: SentQuestion): boolean {
  const labels = options.map(({ label }) => label);
  const texts = [question, ...labels, ...options.map(({ description }) => description)];
  return (
    Array.isArray(fields.options) &&
    areUnique(labels) &&
    texts.every((text) => text.length <= limits.maxTextLength)
  );
}

const areUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;
