/** What a tool call is about, in one line. */

import { isRecord, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";

/** The field of a tool's input that says it best; of a tool not listed, the first that is a text. */
const telling: Readonly<Record<string, string>> = {
  Agent: "description",
  Bash: "command",
  Edit: "file_path",
  ExitPlanMode: "plan",
  Glob: "pattern",
  Grep: "pattern",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
  Read: "file_path",
  Skill: "skill",
  Task: "description",
  WebFetch: "url",
  WebSearch: "query",
  Write: "file_path",
};

export function summaryOf(tool: string, input: JsonRecord): string {
  if (tool === "AskUserQuestion") return oneLine(questions(input)[0]?.question ?? "");
  const field = telling[tool];
  const value = field === undefined ? undefined : input[field];
  const told = typeof value === "string" ? value : Object.values(input).find((v) => typeof v === "string");
  return oneLine(typeof told === "string" ? told : "");
}

export interface QuestionSummary {
  readonly question: string;
  readonly labels: readonly string[];
}

export function questions(input: JsonRecord): QuestionSummary[] {
  const list = Array.isArray(input.questions) ? input.questions.slice(0, limits.maxOptions) : [];
  return list.filter(isRecord).map((q) => ({
    question: typeof q.question === "string" ? q.question : "",
    labels: (Array.isArray(q.options) ? q.options : [])
      .slice(0, limits.maxOptions)
      .flatMap((option) =>
        isRecord(option) && typeof option.label === "string" ? [oneLine(option.label)] : [],
      ),
  }));
}

/** Of a text of any length only the first part is looked at. */
export function oneLine(value: string): string {
  const max = limits.maxSummaryLength;
  const start = value.slice(0, max * 4);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a menu or a terminal
  const line = start.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return cut(start.length < value.length ? `${line}…` : line, max);
}

/** Never in the middle of a character. */
export function cut(value: string, max: number): string {
  if (value.length <= max) return value;
  const end = /[\ud800-\udbff]/.test(value.charAt(max - 2)) ? max - 2 : max - 1;
  return `${value.slice(0, end)}…`;
}
