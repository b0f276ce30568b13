/** Describes a permission request for the user: the exact text of what would run, and what is dangerous about it. */
import { asRecord, isRecord, type JsonRecord, readString } from "../../../core/json.ts";
import type { AskDetails } from "../../../core/session/ask-details.ts";
import type { Ask } from "../../../core/session/session.ts";
import { createLabel, createLines, type FittedLine, fitLines, splitLines } from "../../../core/text/fit.ts";
import { findRelativePath, hasDotSegments, isAbsolute } from "../../../core/text/paths.ts";
import { findRealHost } from "../../../shell/dangers/inputs.ts";
import type { RequestContext } from "../../agent.ts";
import { createHeading, type Description, formatFields, formatJson, isShowable } from "../../fields.ts";
import { describeLinks, type FilesContext } from "../../links.ts";
import { formatQuestionsHeading, listQuestionLines, makeQuestionVisible } from "../../questions.ts";
import { askKindOf } from "../payload.ts";
import { formatToolName } from "../summary.ts";
import { findDangers } from "./dangers.ts";
import { parseQuestions } from "./questions.ts";
import { listSuggestions } from "./suggestions.ts";

interface ToolDescription extends Description {
  /** Where the links lead that it names as files. */
  readonly linkTargets?: readonly string[];
}

/** null if the input does not have the fields that this tool needs. */
type DescribeTool = (input: JsonRecord, where: FilesContext) => ToolDescription | null;

export const findSessionId = ({ session_id: id }: JsonRecord): string | null => readString(id);

/** Claude Code shows no dialog for a subagent's request while its hook runs. */
export function isAnswerable({ tool_name: tool, agent_id: agentId }: JsonRecord, ask: Ask): boolean {
  return ask.tool === (tool ?? null) && ask.agentId === null && agentId === undefined;
}

/** null if the payload is not a permission request. */
export function describeRequest(
  payload: unknown,
  { cwd, home, agentDangers, links }: RequestContext,
): AskDetails | null {
  if (!isRecord(payload) || payload.hook_event_name !== "PermissionRequest") return null;
  const { tool_name: tool, tool_input: toolInput, permission_suggestions: suggestions } = payload;
  if (typeof tool !== "string" || tool === "") return null;
  const input = asRecord(toolInput);
  const kind = askKindOf(tool);
  const describeTool = Object.hasOwn(describers, tool) ? describers[tool] : undefined;
  const from = readString(payload.cwd);
  const description: ToolDescription =
    describeTool?.(input, { cwd, from, links }) ?? describeOther(tool, input);
  const { lines, isWhole } = fitLines(description.lines);
  const { linkTargets = [] } = description;
  const where = { cwd: cwd ?? from, from, home: home ?? null };
  const dangers = () => findDangers(tool, input, { ...where, agents: agentDangers ?? [], linkTargets });
  return {
    kind,
    tool,
    heading: description.heading,
    ...(description.isGenericHeading ? { isGenericHeading: true } : {}),
    ...(description.startsWithSubject ? { startsWithSubject: true } : {}),
    lines,
    isWhole: isWhole && description.isPartial !== true && isRecord(toolInput) && isShowable(toolInput),
    dangers: kind === "permission" ? dangers() : [],
    always: kind === "permission" ? listSuggestions(suggestions).map(({ text }) => text) : [],
    questions: tool === "AskUserQuestion" ? (parseQuestions(input) ?? []).map(makeQuestionVisible) : [],
  };
}

const editFields = ["old_string", "new_string", "replace_all"];

const pickFields = (input: JsonRecord, names: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name)));

const describers: Readonly<Record<string, DescribeTool>> = {
  Bash: createCommandDescriber("command"),
  PowerShell: createCommandDescriber("PowerShell command"),
  Edit: createFileDescriber(
    "Edit",
    "file_path",
    (input) => formatEdits([pickFields(input, editFields)]),
    editFields,
  ),
  MultiEdit: createFileDescriber("Edit", "file_path", ({ edits }) => formatEdits(edits), ["edits"]),
  Write: createFileDescriber("Write", "file_path", ({ content }) => formatChange("", content), ["content"]),
  NotebookEdit: createFileDescriber(
    "Edit a cell of",
    "notebook_path",
    (input) => formatChange("", input.new_source),
    ["new_source"],
  ),
  Read: createFileDescriber("Read", "file_path", () => [], []),
  NotebookRead: createFileDescriber("Read", "notebook_path", () => [], []),
  WebFetch: describeFetch,
  WebSearch: (input) =>
    typeof input.query === "string"
      ? {
          heading: "Search the web",
          startsWithSubject: true,
          lines: [...splitLines(input.query), ...formatFields(input, ["query"])],
        }
      : null,
  Glob: createSearchDescriber("Look for files"),
  Grep: createSearchDescriber("Search in files"),
  ExitPlanMode: describePlan,
  AskUserQuestion: describeQuestions,
};

const commandSwitches = ["run_in_background", "dangerouslyDisableSandbox"];

function createCommandDescriber(noun: string): DescribeTool {
  return (input, where) => {
    const { command, timeout, run_in_background, dangerouslyDisableSandbox } = input;
    if (typeof command !== "string") return null;
    const hasLimit = typeof timeout === "number" && timeout > 0 && Number.isFinite(timeout);
    const conditions = [
      ...(run_in_background === true ? ["in the background"] : []),
      ...(dangerouslyDisableSandbox === true ? ["outside of the sandbox"] : []),
      ...(hasLimit ? [`for at most ${timeout / 1_000} s`] : []),
    ];
    const shownSwitches = commandSwitches.filter((name) => typeof input[name] === "boolean");
    const shown = ["command", "description", ...(hasLimit ? ["timeout"] : []), ...shownSwitches];
    return {
      heading: [`Run a ${noun}`, ...conditions].join(" "),
      ...(conditions.length === 0 ? { isGenericHeading: true } : {}),
      startsWithSubject: true,
      lines: [...splitLines(command), ...formatFolder(where), ...formatFields(input, shown)],
    };
  };
}

/** An earlier command may have changed the folder: `make test` runs another Makefile there. */
function formatFolder({ cwd, from }: FilesContext): FittedLine[] {
  if (from === null || cwd === null || findRelativePath(cwd, from) === ".") return [];
  return [createLabel("in", shortenPath(from, { cwd, from: null }))];
}

function createFileDescriber(
  verb: string,
  pathField: string,
  formatContent: (input: JsonRecord) => readonly FittedLine[] | null,
  contentFields: readonly string[],
): DescribeTool {
  return (input, where) => {
    const path = input[pathField];
    const content = formatContent(input);
    if (typeof path !== "string" || content === null) return null;
    const relative = shortenPath(path, where);
    const { lines, targets, isUnclear } = describeLinks([findOpenedPath(path, where)], where);
    const { heading, lines: subject } = createHeading(verb, relative, "a file");
    return {
      heading,
      lines: [...subject, ...lines, ...formatFields(input, [pathField, ...contentFields]), ...content],
      isPartial: isUnclear,
      linkTargets: targets,
    };
  };
}

function createSearchDescriber(heading: string): DescribeTool {
  return (input, where) => {
    const path = typeof input.path === "string" ? findOpenedPath(input.path, where) : "";
    const { lines, targets, isUnclear } = describeLinks(path === "" ? [] : [path], where);
    const folder = isAbsolute(path) ? [] : formatFolder(where);
    return {
      heading,
      lines: [...lines, ...folder, ...formatInput(input)],
      isPartial: isUnclear,
      linkTargets: targets,
    };
  };
}

/** Claude Code removes blanks around a path, and reads `~/x` from the home folder. Measured with 2.1.100. */
function findOpenedPath(path: string, { links }: FilesContext): string {
  const name = path.trim().normalize("NFC");
  return links && /^~(?:[\\/]|$)/.test(name) ? links.home + name.slice(1) : name;
}

/** Relative to the project's folder if it is inside. A path with `..` stays as it is: a link may lead elsewhere. */
function shortenPath(path: string, { cwd, from }: Pick<FilesContext, "cwd" | "from">): string {
  if (cwd === null) return path;
  const isFromHere = isAbsolute(path) || from === null || findRelativePath(cwd, from) === ".";
  const whole = isFromHere ? path : `${from}/${path}`;
  return (hasDotSegments(path) ? null : findRelativePath(cwd, whole)) ?? whole;
}

/** A change to a file: lines with `- ` are removed, lines with `+ ` are added. null if one of the two is not a string. */
function formatChange(before: unknown, after: unknown): FittedLine[] | null {
  if (typeof before !== "string" || typeof after !== "string") return null;
  // If both end in a line break, it ends their last line. Otherwise an empty last line shows which one does.
  const isWholeLines = [before, after].every((text) => text === "" || text.endsWith("\n"));
  const oldLines = splitText(before, isWholeLines);
  const newLines = splitText(after, isWholeLines);
  const shorter = Math.min(oldLines.length, newLines.length);
  let start = 0;
  while (start < shorter && oldLines[start] === newLines[start]) start++;
  let end = 0;
  while (end < shorter - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end++;
  return [
    ...createLines(oldLines.slice(0, start), "  "),
    ...createLines(oldLines.slice(start, oldLines.length - end), "- "),
    ...createLines(newLines.slice(start, newLines.length - end), "+ "),
    ...createLines(oldLines.slice(oldLines.length - end), "  "),
  ];
}

function splitText(text: string, isWholeLines: boolean): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  return isWholeLines ? lines.slice(0, -1) : lines;
}

/** null if an edit has a field that these lines do not show. */
function formatEdits(edits: unknown): FittedLine[] | null {
  if (!Array.isArray(edits) || edits.length === 0) return null;
  const lines: FittedLine[] = [];
  for (const [index, edit] of edits.entries()) {
    if (!isRecord(edit)) return null;
    const { old_string: before, new_string: after, replace_all: isEverywhere = false, ...others } = edit;
    const change = formatChange(before, after);
    if (!change || typeof isEverywhere !== "boolean" || Object.keys(others).length > 0) return null;
    if (edits.length > 1) lines.push(createLabel(`change ${index + 1} of ${edits.length}`));
    if (isEverywhere) lines.push(createLabel("everywhere in the file"));
    // Not push(...change): a change can have more lines than a call can have arguments.
    for (const line of change) lines.push(line);
  }
  return lines;
}

function describeFetch(input: JsonRecord): Description | null {
  const { url } = input;
  if (typeof url !== "string") return null;
  const host = findRealHost(url);
  return {
    heading: "Fetch a page",
    isGenericHeading: true,
    startsWithSubject: true,
    lines: [
      ...splitLines(url),
      ...(host === null ? [] : [createLabel("leads to", host)]),
      ...formatFields(input, ["url"]),
    ],
  };
}

/**
 * Measured with a session that was started in plan mode: after a hook's approval `permission_mode` is `default`. The terminal's own
 * dialog also offers to go on in auto mode, which no hook can choose.
 */
const modeAfterPlan = createLabel(
  "mode afterwards",
  "the one from before the plan. To go on in auto mode, approve it in the terminal",
);

function describePlan(input: JsonRecord): Description {
  const { plan, planFilePath, ...others } = input;
  const heading = "Approve a plan";
  if (typeof plan !== "string" || plan.trim() === "") {
    const lines = [createLabel("the plan is in the terminal only"), ...formatFields(input, [])];
    return { heading, lines, isPartial: true };
  }
  return { heading, lines: [...formatFields(others, []), ...splitLines(plan), modeAfterPlan] };
}

function describeQuestions(input: JsonRecord): Description {
  const questions = parseQuestions(input);
  if (questions === null)
    return { heading: formatQuestionsHeading(1), lines: formatInput(input), isPartial: true };
  return { heading: formatQuestionsHeading(questions.length), lines: listQuestionLines(questions) };
}

function describeOther(tool: string, input: JsonRecord): Description {
  return { heading: `Use ${formatToolName(tool)}`, lines: formatInput(input) };
}

function formatInput(input: JsonRecord): FittedLine[] {
  return Object.keys(input).length === 0 ? [] : splitLines(formatJson(input, 2));
}
