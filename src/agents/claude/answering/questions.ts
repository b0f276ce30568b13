/** The questions of AskUserQuestion, word for word. */

import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Question } from "../../../core/session/ask-details.ts";

/** null: not in a form that we know, or two that cannot be told apart. Then only the terminal can answer. */
export function questionsOf(input: JsonRecord): readonly Question[] | null {
  const list = rows(input.questions);
  const read = list?.map(readQuestion) ?? [];
  const all = read.filter((one) => one !== null);
  const isWhole = all.length > 0 && all.length === read.length;
  const areApart = new Set(all.map(({ question }) => question)).size === all.length;
  return isWhole && areApart ? all : null;
}

function readQuestion({ header, question, options, multiSelect }: JsonRecord): Question | null {
  const list = rows(options)?.map(readOption);
  if (!list || !isText(question) || question === "") return null;
  const good = list.filter((option) => option !== null);
  const areApart = new Set(good.map(({ label }) => label)).size === list.length;
  if (!areApart) return null;
  return { header: isText(header) ? header : "", question, options: good, isMultiple: multiSelect === true };
}

function readOption({ label, description = "" }: JsonRecord): Question["options"][number] | null {
  return isText(label) && label !== "" && isText(description) ? { label, description } : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= limits.maxTextLength;
}

function rows(value: unknown): readonly JsonRecord[] | null {
  return Array.isArray(value) && value.length <= limits.maxOptions && value.every(isRecord) ? value : null;
}
