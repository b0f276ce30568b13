/** Parses the questions of AskUserQuestion. Their texts are not changed. */
import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Question } from "../../../core/session/ask-details.ts";

/** null if the form is unknown, or two questions or options have the same text: then only the terminal can answer. */
export function parseQuestions(input: JsonRecord): readonly Question[] | null {
  const questions = asRecords(input.questions)?.map(parseQuestion) ?? [];
  const valid = questions.filter((question) => question !== null);
  const isComplete = valid.length > 0 && valid.length === questions.length;
  return isComplete && areUnique(valid.map(({ question }) => question)) ? valid : null;
}

function parseQuestion({ header, question, options, multiSelect }: JsonRecord): Question | null {
  const parsed = asRecords(options)?.map(parseOption);
  if (!parsed || !isText(question) || question === "") return null;
  const valid = parsed.filter((option) => option !== null);
  if (valid.length < parsed.length || !areUnique(valid.map(({ label }) => label))) return null;
  return { header: isText(header) ? header : "", question, options: valid, isMultiple: multiSelect === true };
}

function parseOption({ label, description = "" }: JsonRecord): Question["options"][number] | null {
  return isText(label) && label !== "" && isText(description) ? { label, description } : null;
}

const areUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= limits.maxTextLength;
}

function asRecords(value: unknown): readonly JsonRecord[] | null {
  return Array.isArray(value) && value.length <= limits.maxOptions && value.every(isRecord) ? value : null;
}
