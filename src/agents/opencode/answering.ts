/** opencode's requests: what they ask in full, and the decision for an answer. The plugin passes it on while the dialog is open. */
import { isRecord, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Answer, AskDetails, Question } from "../../core/session/ask-details.ts";
import { createLabel, type FittedLine, fitLines, splitLines } from "../../core/text/fit.ts";
import { makeLineVisible } from "../../core/text/visible.ts";
import { type AgentDangers, createCommandContext } from "../../shell/dangers/context.ts";
import {
  checkCommandLine,
  checkReadPath,
  checkUrl,
  checkValues,
  checkWrittenPath,
  checkWrittenText,
} from "../../shell/dangers/inputs.ts";
import { skipsPermissions } from "../../shell/dangers/service-programs.ts";
import type { AnswerSupport, RequestContext } from "../agent.ts";
import { describeQuestions, readReplies } from "../questions.ts";
import { asFields, asString, asStrings, parsePayload } from "./payload.ts";
import { nameTool } from "./tools.ts";

/** What a command can do to opencode itself. */
export const opencodeDangers: AgentDangers = {
  programs: {
    opencode: [["root", skipsPermissions, /--dangerously-\S+|--auto\b/]],
  },
  files: [/(?:^|\/)\.?opencode\/(?:opencode\.jsonc?$|plugins?(?:\/|$))/, /(?:^|\/)opencode\.jsonc?$/],
  projectVariables: [],
};

export const opencodeAnswering: AnswerSupport = {
  findSessionId: (payload) => parsePayload(payload)?.session ?? null,
  isAnswerable: ({ request }, ask) => typeof request === "string" && ask.inputKey === request,
  describe,
  decide,
  // The user's rules are written for the tools of another agent.
  autoAllow: () => null,
};

function describe(payload: JsonRecord, context: RequestContext): AskDetails | null {
  if (payload.type === "question.asked") {
    const questions = parseQuestions(payload);
    return questions && describeQuestions(nameTool("question"), questions);
  }
  if (payload.type !== "permission.asked" || typeof payload.permission !== "string") return null;
  const { permission, cwd } = payload;
  const subject = describeSubject(permission, payload);
  const { lines, isWhole } = fitLines(subject.lines);
  return {
    kind: "permission",
    tool: nameTool(permission),
    heading: subject.heading,
    ...(subject.isGenericHeading ? { isGenericHeading: true } : {}),
    ...(subject.startsWithSubject ? { startsWithSubject: true } : {}),
    lines,
    isWhole: isWhole && !subject.isPartial && subject.lines.length > 0 && isWholeList(payload.patterns),
    dangers: findDangers(permission, payload, context, asString(cwd) || null),
    always: listAlways(payload),
    questions: [],
  };
}

interface Subject {
  readonly heading: string;
  readonly isGenericHeading?: true;
  readonly startsWithSubject?: true;
  readonly lines: readonly FittedLine[];
  /** The request does not say all of what would happen. */
  readonly isPartial?: boolean;
}

/** Permissions whose patterns say what would happen. That of an MCP server's tool has nothing but "*". */
const describedByPatterns: ReadonlySet<string> = new Set([
  ...[
    "external_directory",
    "read",
    "list",
    "skill",
    "task",
    "todoread",
    "todowrite",
    "webfetch",
    "websearch",
  ],
]);

function describeSubject(permission: string, payload: JsonRecord): Subject {
  const metadata = asFields(payload.metadata);
  const { command, filepath, filePath, diff, url } = metadata;
  if (permission === "bash" && typeof command === "string") {
    const lines = [...splitLines(command), ...formatOthers(metadata, ["command", "description"])];
    return { heading: "Run a command", isGenericHeading: true, startsWithSubject: true, lines };
  }
  const path = typeof filepath === "string" ? filepath : filePath;
  if (permission === "edit" && typeof path === "string" && typeof diff === "string") {
    const others = formatOthers(metadata, ["filepath", "filePath", "diff"]);
    return addHeading("Edit", path, "a file", [...others, ...splitLines(diff)]);
  }
  if (permission === "webfetch" && typeof url === "string") {
    const lines = [...splitLines(url), ...formatOthers(metadata, ["url"])];
    return { heading: "Fetch a page", isGenericHeading: true, startsWithSubject: true, lines };
  }
  const patterns = asStrings(payload.patterns);
  // What the tool is called with: the plugin adds it where opencode's request says nothing.
  const described = { ...asFields(payload.input), ...metadata };
  const isPartial =
    permission === "bash" ||
    permission === "edit" ||
    (Object.keys(described).length === 0 && !describedByPatterns.has(permission));
  const lines = [
    ...patterns.flatMap((pattern) => splitLines(pattern)),
    ...formatOthers(described, []),
    ...(isPartial ? [createLabel("what it would do is in the terminal only")] : []),
  ];
  return { ...addHeading("Use", nameTool(permission), "a tool", lines), isPartial };
}

const maxHeadingLength = 120;

/** A heading is cut where it does not fit, so a long subject is shown with the other lines. */
function addHeading(verb: string, subject: string, noun: string, lines: readonly FittedLine[]): Subject {
  const shown = subject.length > maxHeadingLength ? null : makeLineVisible(subject);
  return shown !== null && shown.length <= maxHeadingLength
    ? { heading: `${verb} ${shown}`, lines }
    : { heading: `${verb} ${noun}`, lines: [createLabel(noun.replace(/^an? /, ""), subject), ...lines] };
}

const maxLabelLength = 60;
/** More than can be shown. */
const maxJsonLength = 20_000;

/** The fields that are not shown already. */
function formatOthers(fields: JsonRecord, shown: readonly string[]): FittedLine[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (shown.includes(name) || value === undefined) return [];
    const text = (JSON.stringify(value) ?? "").slice(0, maxJsonLength);
    // A label is never wrapped, so a long name becomes part of the text.
    return name.length > maxLabelLength
      ? [createLabel("and", `${JSON.stringify(name)}: ${text}`)]
      : [createLabel(makeLineVisible(name), text)];
  });
}

function findDangers(
  permission: string,
  payload: JsonRecord,
  { cwd, agentDangers = [] }: RequestContext,
  from: string | null,
): readonly string[] {
  const context = createCommandContext(cwd ?? from, from, [opencodeDangers, ...agentDangers]);
  const metadata = asFields(payload.metadata);
  if (typeof metadata.command === "string") checkCommandLine(metadata.command, context);
  const subjects = [asString(metadata.filepath ?? metadata.filePath), ...asStrings(payload.patterns)];
  switch (permission) {
    case "bash":
      if (typeof metadata.command !== "string")
        for (const pattern of subjects.slice(1)) checkCommandLine(pattern, context);
      break;
    case "edit":
      // A patch of several files names them as one text in `filepath`.
      for (const path of [...subjects, ...listFiles(metadata.files)])
        if (path !== "") checkWrittenPath(path, context);
      checkWrittenText(listAddedLines(asString(metadata.diff)), context);
      break;
    case "read":
      for (const path of subjects) if (path !== "") checkReadPath(path, context);
      break;
    case "webfetch":
      checkUrl(asString(metadata.url), context);
      break;
    default:
      checkValues([metadata, payload.input], context);
  }
  return context.listDangers();
}

const listFiles = (files: unknown): string[] =>
  (Array.isArray(files) ? files : [])
    .filter(isRecord)
    .flatMap(({ filePath, movePath }) => asStrings([filePath, movePath]));

/** What a unified diff adds. */
const listAddedLines = (diff: string): string =>
  diff
    .split("\n")
    .flatMap((line) => (line.startsWith("+") && !line.startsWith("+++") ? [line.slice(1)] : []))
    .join("\n");

/** All of the list is shown: it is not too long, and has nothing but texts. */
const isWholeList = (list: unknown): boolean =>
  !Array.isArray(list) || list.length === asStrings(list).length;

/** What opencode allows until it is restarted, if "always" is chosen. */
function listAlways({ always }: JsonRecord): readonly string[] {
  const patterns = asStrings(always);
  return patterns.length === 0 || !isWholeList(always)
    ? []
    : [`Always allow ${makeLineVisible(patterns.join(", "))} until opencode is restarted`];
}

/** null if one of them cannot be read. */
function parseQuestions({ questions }: JsonRecord): readonly Question[] | null {
  if (!Array.isArray(questions) || questions.length === 0 || questions.length > limits.maxOptions)
    return null;
  const parsed = questions.filter(isRecord).map(({ header, question, options, multiple }) => ({
    header: asString(header),
    question: asString(question),
    options: (Array.isArray(options) ? options : []).filter(isRecord).map(({ label, description }) => ({
      label: asString(label),
      description: asString(description),
    })),
    isMultiple: multiple === true,
  }));
  const isWhole = parsed.length === questions.length && parsed.every(({ question }) => question !== "");
  return isWhole ? parsed : null;
}

/** A string says what is wrong with the answer. */
function decide(payload: JsonRecord, answer: Answer): object | string {
  const details = describe(payload, { cwd: null });
  if (!details) return "this is not a request of opencode";
  const isQuestion = details.kind === "question";
  switch (answer.do) {
    case "deny": {
      const message = answer.message?.trim().toWellFormed() ?? "";
      if (message.length > limits.maxAnswerLength)
        return `the message is longer than ${limits.maxAnswerLength} characters`;
      return { reply: "reject", ...(message === "" || isQuestion ? {} : { message }) };
    }
    case "reply": {
      if (!isQuestion) return "this is not a question: allow it or deny it";
      const answers = readReplies(parseQuestions(payload) ?? [], answer.replies);
      return typeof answers === "string" ? answers : { answers };
    }
    case "allow":
    case "always":
      if (isQuestion) return "a question needs an answer: choose an option or write one";
      if (!details.isWhole) return "not all of it can be shown here: look at it in the terminal";
      if (answer.do === "allow") return { reply: "once" };
      return details.always[answer.choice] === undefined
        ? "the agent offers nothing here that could be allowed for good"
        : { reply: "always" };
  }
}
