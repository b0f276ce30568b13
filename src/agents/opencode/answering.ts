/** opencode's requests: what they ask in full, and the decision for an answer. The plugin passes it on while the dialog is open. */
import type { RuleSubject } from "../../core/answers/subject.ts";
import { asRecord, asText, isRecord, type JsonRecord, listRecords } from "../../core/json.ts";
import type { Answer, AskDetails, Question } from "../../core/session/ask-details.ts";
import { createLabel, createLines, type FittedLine, fitLines, splitLines } from "../../core/text/fit.ts";
import { resolvePath } from "../../core/text/paths.ts";
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
import { decideAnswer } from "../decisions.ts";
import { createHeading, type Description, formatFields, formatJson, isShowable } from "../fields.ts";
import { describeLinks } from "../links.ts";
import { isReadableOffer, joinParts } from "../offers.ts";
import { describeQuestions, readQuestions, readReplies } from "../questions.ts";
import { opencodeVariant } from "./opencode.ts";
import { asStrings, parsePayload } from "./payload.ts";
import { nameTool, toolNames } from "./tools.ts";
import type { OpencodeVariant } from "./variant.ts";

/** What a command can do to opencode itself. */
export const createOpencodeDangers = ({ id }: OpencodeVariant): AgentDangers => ({
  programs: {
    [id]: [["root", skipsPermissions, /--dangerously-\S+|--auto\b/]],
  },
  files: [
    new RegExp(`(?:^|/)\\.?${id}/(?:${id}\\.jsonc?$|plugins?(?:/|$))`),
    new RegExp(`(?:^|/)${id}\\.jsonc?$`),
  ],
  projectVariables: [],
});

const opencodeDangers = createOpencodeDangers(opencodeVariant);

export const createOpencodeAnswering = ({ name }: OpencodeVariant): AnswerSupport => ({
  findSessionId: (payload) => parsePayload(payload)?.session ?? null,
  isAnswerable: ({ request }, ask) => typeof request === "string" && ask.inputKey === request,
  describe: (payload, context) => describe(payload, context, name),
  decide: (payload, answer) => decide(payload, answer, name),
  // The user's rules are written for the tools of another agent.
  autoAllow: () => null,
  readSubject,
});

/** Only a command that is known whole, and runs as the request shows it. */
function readSubject(payload: JsonRecord): RuleSubject | null {
  const { permission, metadata, input } = payload;
  const { command, ...others } = asRecord(metadata);
  const called = asRecord(input).command;
  const isWhole = Object.keys(others).every((name) => name === "description");
  if (payload.type !== "permission.asked" || permission !== "bash" || !isWhole) return null;
  return typeof command === "string" && (called === undefined || called === command)
    ? { kind: "command", command, cwd: findFolder(payload) }
    : null;
}

export const opencodeAnswering = createOpencodeAnswering(opencodeVariant);

function describe(payload: JsonRecord, context: RequestContext, name: string): AskDetails | null {
  if (payload.type === "question.asked") {
    const questions = parseQuestions(payload);
    return questions && describeQuestions(nameTool("question"), questions);
  }
  if (payload.type !== "permission.asked" || typeof payload.permission !== "string") return null;
  const { permission } = payload;
  const folder = findFolder(payload);
  const links = describeLinks(listPaths(permission, payload), { ...context, from: folder });
  const subject = describeSubject(permission, payload);
  const { lines, isWhole } = fitLines([...links.lines, ...subject.lines]);
  return {
    kind: "permission",
    tool: nameTool(permission),
    heading: subject.heading,
    ...(subject.isGenericHeading ? { isGenericHeading: true } : {}),
    ...(subject.startsWithSubject ? { startsWithSubject: true } : {}),
    lines,
    isWhole:
      isWhole &&
      !subject.isPartial &&
      !links.isUnclear &&
      subject.lines.length > 0 &&
      isWholeList(payload.patterns) &&
      isShowable([payload.metadata, payload.input]),
    dangers: findDangers(permission, payload, context, folder, links.targets),
    always: listAlways(payload, name),
    questions: [],
  };
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

/** What the diff of an edit shows. */
const contentFields = ["content", "oldString", "newString", "replaceAll", "edits", "patchText"];

function describeSubject(permission: string, payload: JsonRecord): Description {
  const metadata = asRecord(payload.metadata);
  const { command, filepath, filePath, diff, url } = metadata;
  const isPartial = isCallUnknown(permission, payload);
  const unknown = isPartial ? [createLabel("what it would do is in the terminal only")] : [];
  if (permission === "bash" && typeof command === "string") {
    const shown = ["command", "description"];
    const lines = [...splitLines(command), ...formatOthers(payload, shown, ["description"]), ...unknown];
    return { heading: "Run a command", isGenericHeading: true, startsWithSubject: true, lines, isPartial };
  }
  const path = typeof filepath === "string" ? filepath : filePath;
  if (permission === "edit" && typeof path === "string" && typeof diff === "string") {
    const shown = [path === filepath ? "filepath" : "filePath", "diff"];
    const isSameFile = isSamePath(payload, path, asRecord(payload.input).filePath);
    const others = formatOthers(payload, shown, [...contentFields, ...(isSameFile ? ["filePath"] : [])]);
    const { heading, lines } = createHeading("Edit", path, "a file");
    return { heading, lines: [...lines, ...others, ...unknown, ...splitLines(diff)], isPartial };
  }
  if (permission === "webfetch" && typeof url === "string") {
    const lines = [...splitLines(url), ...formatOthers(payload, ["url"], []), ...unknown];
    return { heading: "Fetch a page", isGenericHeading: true, startsWithSubject: true, lines, isPartial };
  }
  const others = formatOthers(payload, [], []);
  const isUndescribed =
    permission === "bash" ||
    permission === "edit" ||
    (others.length === 0 && !describedByPatterns.has(permission));
  const { heading, lines } = createHeading("Use", nameTool(permission), "a tool");
  return {
    heading,
    lines: [
      ...lines,
      // One line each: a pattern with a line break must not look like two.
      ...createLines(asStrings(payload.patterns), ""),
      ...others,
      ...(isUndescribed || isPartial ? [createLabel("what it would do is in the terminal only")] : []),
    ],
    isPartial: isUndescribed || isPartial,
  };
}

/**
 * A request does not say everything that its tool is called with: that of a command names no `workdir`, that of a task no
 * prompt. The plugin adds the call. It has none if opencode asks for another tool than the one that it has called.
 */
function isCallUnknown(permission: string, { call, input, called }: JsonRecord): boolean {
  if (!isRecord(input)) return permission === "bash" || typeof call === "string";
  return typeof called === "string" && called !== permission && !Object.hasOwn(toolNames, permission);
}

/** Each field of the request that is not shown already, and each of the call that is not and that the request does not have. */
function formatOthers(
  payload: JsonRecord,
  shown: readonly string[],
  shownOfCall: readonly string[],
): FittedLine[] {
  const metadata = asRecord(payload.metadata);
  const input = asRecord(payload.input);
  const repeated = Object.keys(input).filter(
    (name) => Object.hasOwn(metadata, name) && formatJson(metadata[name], 0) === formatJson(input[name], 0),
  );
  return [...formatFields(metadata, shown), ...formatFields(input, [...shownOfCall, ...repeated])];
}

/** Whether the call names the file that the request names. */
const isSamePath = ({ cwd }: JsonRecord, path: string, called: unknown): boolean =>
  typeof called === "string" && resolvePath(asText(cwd), called) === resolvePath(asText(cwd), path);

/** The folder that a command would run in, and that paths start from. */
function findFolder({ cwd, permission, input }: JsonRecord): string | null {
  const folder = asText(cwd) || null;
  const workdir =
    permission === "bash" || permission === "external_directory" ? asRecord(input).workdir : null;
  if (typeof workdir !== "string" || workdir === "") return folder;
  return folder === null ? workdir : resolvePath(folder, workdir);
}

/** The files that it would change or read. */
function listPaths(permission: string, payload: JsonRecord): readonly string[] {
  const metadata = asRecord(payload.metadata);
  const path = asText(asRecord(payload.input).filePath) || asText(metadata.filepath ?? metadata.filePath);
  const files = listFiles(metadata.files);
  switch (permission) {
    case "edit":
    case "external_directory":
      // A patch of several files names them as one text in `filepath`.
      return files.length > 0 ? files : path === "" ? [] : [path];
    case "read":
      return path === "" ? [] : [path];
    default:
      return [];
  }
}

function findDangers(
  permission: string,
  payload: JsonRecord,
  { cwd, home, agentDangers = [] }: RequestContext,
  from: string | null,
  linkTargets: readonly string[],
): readonly string[] {
  const context = createCommandContext(cwd ?? from, from, [opencodeDangers, ...agentDangers], home ?? null);
  const metadata = asRecord(payload.metadata);
  const input = asRecord(payload.input);
  // opencode allows commands by default, so one in another folder is often asked for as that folder only.
  for (const command of new Set([metadata.command, input.command]))
    if (typeof command === "string") checkCommandLine(command, context);
  const named = asText(metadata.filepath ?? metadata.filePath);
  const subjects = [named, ...asStrings(payload.patterns), asText(input.filePath)];
  switch (permission) {
    case "bash":
      if (typeof metadata.command !== "string")
        for (const pattern of asStrings(payload.patterns)) checkCommandLine(pattern, context);
      break;
    case "edit":
      // A patch of several files names them as one text in `filepath`.
      for (const path of [...subjects, ...listFiles(metadata.files), ...linkTargets])
        if (path !== "") checkWrittenPath(path, context);
      checkWrittenText(listAddedLines(asText(metadata.diff)), context);
      break;
    case "read":
      for (const path of [...subjects, ...linkTargets]) if (path !== "") checkReadPath(path, context);
      break;
    case "webfetch":
      checkUrl(asText(metadata.url), context);
      break;
    case "external_directory":
      // Often the only request for a change of a file: opencode allows edits by default.
      for (const path of [named, ...linkTargets]) {
        if (path === "") continue;
        if (contentFields.some((field) => Object.hasOwn(input, field))) checkWrittenPath(path, context);
        else checkReadPath(path, context);
      }
      break;
    default:
      checkValues([metadata, input], context);
  }
  return context.listDangers();
}

const listFiles = (files: unknown): string[] =>
  listRecords(files).flatMap(({ filePath, movePath }) => asStrings([filePath, movePath]));

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
function listAlways({ always }: JsonRecord, name: string): readonly string[] {
  const patterns = asStrings(always);
  if (patterns.length === 0 || !isWholeList(always)) return [];
  const text = `Always allow ${joinParts(patterns, ", ")} until ${name} is restarted`;
  return isReadableOffer(text) ? [text] : [];
}

/** null if one of them cannot be read. */
function parseQuestions({ questions: list }: JsonRecord): readonly Question[] | null {
  const { questions, isWhole } = readQuestions(list);
  return isWhole && questions.length > 0 ? questions : null;
}

/** A string says what is wrong with the answer. */
function decide(payload: JsonRecord, answer: Answer, name: string): object | string {
  const details = describe(payload, { cwd: null }, name);
  if (!details) return `this is not a request of ${name}`;
  return decideAnswer<object>(details, answer, {
    allow: () => ({ reply: "once" }),
    always: (choice) => (details.always[choice] === undefined ? null : { reply: "always" }),
    deny: (message) => ({
      reply: "reject",
      ...(message === "" || details.kind === "question" ? {} : { message }),
    }),
    reply(replies) {
      const answers = readReplies(parseQuestions(payload) ?? [], replies);
      return typeof answers === "string" ? answers : { answers };
    },
  });
}
