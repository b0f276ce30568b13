/** One-line texts about tools and their calls. */
import type { JsonRecord } from "../../core/json.ts";
import { makeLineVisible } from "../../core/text/visible.ts";
import { findSummary } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { summarizeQuestions } from "../questions.ts";

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
  if (tool === "AskUserQuestion") return summarizeQuestions(input.questions).summary;
  return toOneLine(findSummary(input, summaryFields[tool]));
}

/** `mcp__github__create_issue` becomes "create_issue (github)". */
export function formatToolName(tool: string): string {
  const name = tool.slice(0, 200);
  const [, server = "", ...rest] = name.split("__");
  const isOfServer = tool.startsWith("mcp__") && server !== "" && rest.join("") !== "";
  return makeLineVisible(isOfServer ? `${rest.join("__")} (${server})` : name);
}
