/** One-line texts about tools and their calls. */
import { asList, asText, isRecord, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { makeLineVisible } from "../../core/text/visible.ts";
import { toOneLine } from "../one-line.ts";

/** The field of a tool's input that describes the call best. For other tools it is the first field that is a string. */
const summaryFields: Readonly<Record<string, string>> = {
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

export function summarizeCall(tool: string, input: JsonRecord): string {
  if (tool === "AskUserQuestion") return toOneLine(listQuestions(input)[0]?.question ?? "");
  const value = input[summaryFields[tool] ?? ""];
  const text = typeof value === "string" ? value : Object.values(input).find((v) => typeof v === "string");
  return toOneLine(asText(text));
}

export interface QuestionSummary {
  readonly question: string;
  readonly labels: readonly string[];
}

export function listQuestions(input: JsonRecord): QuestionSummary[] {
  const list = Array.isArray(input.questions) ? input.questions.slice(0, limits.maxOptions) : [];
  return list.filter(isRecord).map(({ question, options }) => ({
    question: asText(question),
    labels: asList(options)
      .slice(0, limits.maxOptions)
      .flatMap((option) =>
        isRecord(option) && typeof option.label === "string" ? [toOneLine(option.label)] : [],
      ),
  }));
}

/** `mcp__github__create_issue` becomes "create_issue (github)". */
export function formatToolName(tool: string): string {
  const name = tool.slice(0, 200);
  const [, server = "", ...rest] = name.split("__");
  const isOfServer = tool.startsWith("mcp__") && server !== "" && rest.join("") !== "";
  return makeLineVisible(isOfServer ? `${rest.join("__")} (${server})` : name);
}
