/** The questions of AskUserQuestion, word for word. */
import type { Question } from "../../core/asked.ts";
import { limits } from "../../limits.ts";
import { type Fields, isFields } from "../envelope.ts";

/** null: not in a form that we know, or two that cannot be told apart. Then only the terminal can answer. */
export function questionsOf(input: Fields): readonly Question[] | null {
  const list = rows(input.questions);
  const read = list?.map(readQuestion) ?? [];
  const all = read.filter((one) => one !== null);
  const isWhole = all.length > 0 && all.length === read.length;
  const areApart = new Set(all.map(({ question }) => question)).size === all.length;
  return isWhole && areApart ? all : null;
}

function readQuestion({ header, question, options, multiSelect }: Fields): Question | null {
  const list = rows(options)?.map(readOption);
  if (!list || !isText(question) || question === "") return null;
  const good = list.filter((option) => option !== null);
  const areApart = new Set(good.map(({ label }) => label)).size === list.length;
  if (!areApart) return null;
  return { header: isText(header) ? header : "", question, options: good, isMultiple: multiSelect === true };
}

function readOption({ label, description = "" }: Fields): Question["options"][number] | null {
  return isText(label) && label !== "" && isText(description) ? { label, description } : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= limits.maxTextLength;
}

function rows(value: unknown): readonly Fields[] | null {
  return Array.isArray(value) && value.length <= limits.maxOptions && value.every(isFields) ? value : null;
}
