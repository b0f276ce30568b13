/** A permission request as a person is shown it: the exact text of what would run, and what is dangerous about it. */

import { isRecord, type JsonRecord } from "../../../core/json.ts";
import type { AskDetails, Question } from "../../../core/session/ask-details.ts";
import type { AskKind } from "../../../core/session/event.ts";
import type { Ask } from "../../../core/session/session.ts";
import { createLabel, type FittedLine, fitLines, splitLines } from "../../../core/text/fit.ts";
import { hasDotSegments, relativeWithin } from "../../../core/text/paths.ts";
import { makeLineVisible } from "../../../core/text/visible.ts";
import type { RequestContext } from "../../agent.ts";
import { changeLines, editLines } from "./change-lines.ts";
import { findDangers } from "./dangers.ts";
import { questionsOf } from "./questions.ts";
import { offersOf } from "./suggestions.ts";
import { toolName } from "./tool-name.ts";
import { plainHost } from "./urls.ts";

interface Told {
  readonly heading: string;
  readonly isGenericHeading?: true;
  readonly lines: readonly FittedLine[];
  /** There is more to it than the request says. */
  readonly isPart?: boolean;
}

type Tell = (input: JsonRecord, cwd: string | null) => Told | null;

export function findSessionId({ session_id: id }: JsonRecord): string | null {
  return typeof id === "string" ? id : null;
}

/** Claude Code shows no dialog for a subagent's request while its hook runs. */
export function isAnswerable({ tool_name: tool, agent_id: agentId }: JsonRecord, ask: Ask): boolean {
  return ask.tool === (tool ?? null) && ask.agentId === null && agentId === undefined;
}

/** null: it asks for nothing. */
export function describeRequest(payload: unknown, { cwd, agentDangers }: RequestContext): AskDetails | null {
  if (!isRecord(payload) || payload.hook_event_name !== "PermissionRequest") return null;
  const { tool_name: tool, tool_input: given, permission_suggestions: suggestions } = payload;
  if (typeof tool !== "string" || tool === "") return null;
  const input = isRecord(given) ? given : {};
  const kind = kindOf(tool);
  const told = (Object.hasOwn(tellers, tool) ? tellers[tool]?.(input, cwd) : null) ?? anyTool(tool, input);
  const { lines, isWhole } = fitLines(told.lines);
  const from = typeof payload.cwd === "string" ? payload.cwd : null;
  return {
    kind,
    tool,
    heading: told.heading,
    ...(told.isGenericHeading ? { isGenericHeading: true } : {}),
    lines,
    isWhole: isWhole && told.isPart !== true && isRecord(given) && isShowable(given),
    dangers:
      kind === "permission"
        ? findDangers(tool, input, { cwd: cwd ?? from, from, agents: agentDangers ?? [] })
        : [],
    always: kind === "permission" ? offersOf(suggestions).map(({ words }) => words) : [],
    questions: tool === "AskUserQuestion" ? (questionsOf(input) ?? []).map(shownQuestion) : [],
  };
}

export function kindOf(tool: string): AskKind {
  return tool === "AskUserQuestion" ? "question" : tool === "ExitPlanMode" ? "plan" : "permission";
}

/** A label is shown as this, and may be given back as this. */
export const shownLabel = makeLineVisible;

function shownQuestion({ header, question, options, isMultiple }: Question): Question {
  return {
    header: makeLineVisible(header),
    question: makeLineVisible(question),
    options: options.map(({ label, description }) => ({
      label: shownLabel(label),
      description: makeLineVisible(description),
    })),
    isMultiple,
  };
}

const editFields = ["old_string", "new_string", "replace_all"];

const pick = (input: JsonRecord, names: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name)));

const tellers: Readonly<Record<string, Tell>> = {
  Bash: runs("command"),
  PowerShell: runs("PowerShell command"),
  Edit: file("Edit", "file_path", (input) => editLines([pick(input, editFields)]), editFields),
  MultiEdit: file("Edit", "file_path", ({ edits }) => editLines(edits), ["edits"]),
  Write: file("Write", "file_path", ({ content }) => changeLines("", content), ["content"]),
  NotebookEdit: file("Edit a cell of", "notebook_path", (i) => changeLines("", i.new_source), ["new_source"]),
  Read: file("Read", "file_path", () => [], []),
  WebFetch: tellFetch,
  WebSearch: (input) =>
    typeof input.query === "string"
      ? { heading: "Search the web", lines: [...splitLines(input.query), ...others(input, ["query"])] }
      : null,
  Glob: (input) => ({ heading: "Look for files", lines: argumentLines(input) }),
  Grep: (input) => ({ heading: "Search in files", lines: argumentLines(input) }),
  ExitPlanMode: tellPlan,
  AskUserQuestion: tellQuestions,
};

function runs(what: string): Tell {
  return (input) => {
    const { command, run_in_background, dangerouslyDisableSandbox } = input;
    if (typeof command !== "string") return null;
    const how = [
      ...(run_in_background === true ? ["in the background"] : []),
      ...(dangerouslyDisableSandbox === true ? ["outside of the sandbox"] : []),
    ];
    const inHeading = switches.filter((name) => typeof input[name] === "boolean");
    return {
      heading: ["Run a", what, ...how].join(" "),
      ...(how.length === 0 ? { isGenericHeading: true } : {}),
      lines: [...splitLines(command), ...others(input, ["command", "description", "timeout", ...inHeading])],
    };
  };
}

const switches = ["run_in_background", "dangerouslyDisableSandbox"];

const maxHeadingPath = 120;

function file(
  verb: string,
  field: string,
  tell: (input: JsonRecord) => readonly FittedLine[] | null,
  told: readonly string[],
): Tell {
  return (input, cwd) => {
    const given = input[field];
    const lines = tell(input);
    if (typeof given !== "string" || lines === null) return null;
    const path = shownPath(given, cwd);
    const short = path.length > maxHeadingPath ? null : makeLineVisible(path);
    const inHeading = short !== null && short.length <= maxHeadingPath;
    return {
      heading: `${verb} ${inHeading ? short : "a file"}`,
      lines: [
        ...(inHeading ? [] : [createLabel("file", path)]),
        ...others(input, [field, ...told]),
        ...lines,
      ],
    };
  };
}

/** From the project's folder if it lies there. A path with detours stays as it is: a link may lead it elsewhere. */
function shownPath(path: string, cwd: string | null): string {
  return (cwd === null || hasDotSegments(path) ? null : relativeWithin(cwd, path)) ?? path;
}

function tellFetch(input: JsonRecord): Told | null {
  const { url } = input;
  if (typeof url !== "string") return null;
  const host = plainHost(url);
  return {
    heading: "Fetch a page",
    isGenericHeading: true,
    lines: [
      ...splitLines(url),
      ...(host === null ? [] : [createLabel("leads to", host)]),
      ...others(input, ["url"]),
    ],
  };
}

function tellPlan(input: JsonRecord): Told {
  const { plan, planFilePath, ...more } = input;
  const heading = "Approve a plan";
  if (typeof plan !== "string" || plan.trim() === "")
    return {
      heading,
      lines: [createLabel("the plan is in the terminal only"), ...others(input, [])],
      isPart: true,
    };
  return { heading, lines: [...others(more, []), ...splitLines(plan)] };
}

function tellQuestions(input: JsonRecord): Told {
  const heading = "Answer a question";
  const questions = questionsOf(input);
  if (questions === null) return { heading, lines: argumentLines(input), isPart: true };
  const lines = questions.flatMap(({ question, options }) => [
    ...splitLines(question),
    ...options.map(({ label, description }, n) => ({
      prefix: `  ${n + 1}. `,
      text: description === "" ? label : `${label}: ${description}`,
    })),
  ]);
  return { heading: questions.length === 1 ? heading : `Answer ${questions.length} questions`, lines };
}

function anyTool(tool: string, input: JsonRecord): Told {
  return { heading: `Use ${toolName(tool)}`, lines: argumentLines(input) };
}

function argumentLines(input: JsonRecord): FittedLine[] {
  return Object.keys(input).length === 0 ? [] : splitLines(json(input, 2));
}

const maxName = 60;

/** What the tool is given beside what is shown already. */
function others(input: JsonRecord, told: readonly string[]): FittedLine[] {
  const names = Object.keys(input).filter((name) => !told.includes(name) && input[name] !== undefined);
  return names.map((name) => {
    const value = input[name];
    const shown = typeof value === "string" ? JSON.stringify(value) : json(value, 0);
    // A row does not go on within its prefix.
    return name.length > maxName
      ? createLabel("and", `${JSON.stringify(name)}: ${shown}`)
      : createLabel(makeLineVisible(name), shown);
  });
}

function json(value: unknown, indent: number): string {
  return isShowable(value) ? (JSON.stringify(value, null, indent) ?? "") : "[nested too deep to be shown]";
}

const maxDepth = 40;

/** JSON, and not too deep: a megabyte of brackets within brackets would be a terabyte when it is indented. */
function isShowable(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    if (level.some((one) => /^(?:bigint|function|symbol)$/.test(typeof one))) return false;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return level.length === 0;
}
