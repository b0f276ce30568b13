/** Qwen Code's requests: what they ask in full, and the line that answers one while its dialog is open. */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import type { Answer, AskDetails } from "../../core/session/ask-details.ts";
import { createLines, fitLines, splitLines } from "../../core/text/fit.ts";
import { type AgentDangers, createCommandContext } from "../../shell/dangers/context.ts";
import {
  checkCommandLine,
  checkUrl,
  checkValues,
  checkWrittenPath,
  checkWrittenText,
} from "../../shell/dangers/inputs.ts";
import { skipsPermissions } from "../../shell/dangers/service-programs.ts";
import type { AnswerSupport, RequestContext } from "../agent.ts";
import { decideAnswer } from "../decisions.ts";
import { createHeading, type Description, formatFields, isShowable } from "../fields.ts";
import { describeLinks } from "../links.ts";
import { editTools, readCall } from "./translate.ts";

/** What a command can do to Qwen Code itself. */
export const qwenDangers: AgentDangers = {
  programs: { qwen: [["root", skipsPermissions, /--yolo|(?:^|\s)-y\b|--approval-mode[ =]yolo/]] },
  files: [/(?:^|\/)\.qwen\/(?:settings\.json$|beckon-|hooks(?:\/|$))/],
  projectVariables: ["QWEN_PROJECT_DIR"],
};

export const qwenAnswering: AnswerSupport = {
  findSessionId: ({ session_id }) => asText(session_id) || null,
  isAnswerable: ({ request_id }) => typeof request_id === "string",
  whyUnanswerable:
    "this session started without beckon's channel: start it again, or see docs/agents/qwen.md",
  describe,
  decide,
  // The rules name the tools of another agent.
  autoAllow: () => null,
};

function describe(payload: JsonRecord, context: RequestContext): AskDetails | null {
  const { name, tool, input, editPaths = [] } = readCall(payload);
  if (tool === "" || typeof payload.request_id !== "string") return null;
  const { cwd, home, agentDangers = [] } = context;
  const links = describeLinks(editPaths, { ...context, from: cwd });
  const subject = describeSubject(tool, input);
  const { lines, isWhole } = fitLines([...links.lines, ...subject.lines]);
  const dangers = createCommandContext(cwd, null, [qwenDangers, ...agentDangers], home ?? null);
  if (typeof input.command === "string") checkCommandLine(input.command, dangers);
  if (typeof input.url === "string") checkUrl(input.url, dangers);
  for (const path of [...editPaths, ...links.targets]) checkWrittenPath(path, dangers);
  if (Object.hasOwn(editTools, name))
    checkWrittenText(asText(input.content) || asText(input.new_string), dangers);
  if (name.startsWith("mcp__")) checkValues(input, dangers);
  return {
    kind: "permission",
    tool,
    ...subject,
    lines,
    isWhole: isWhole && !links.isUnclear && isShowable(input),
    dangers: dangers.listDangers(),
    always: [],
    questions: [],
    takesNoReason: true,
  };
}

function describeSubject(tool: string, input: JsonRecord): Description {
  const { command, file_path: path, old_string = "", new_string, content = new_string } = input;
  if (tool === "Bash" && typeof command === "string") {
    const lines = [...splitLines(command), ...formatFields(input, ["command", "description"])];
    return { heading: "Run a command", isGenericHeading: true, startsWithSubject: true, lines };
  }
  if (typeof path === "string" && typeof content === "string" && typeof old_string === "string") {
    const { heading, lines } = createHeading(tool, path, "a file");
    const shown = ["file_path", "old_string", "new_string", "content"];
    const removed = old_string === "" ? [] : createLines(old_string.split("\n"), "- ");
    const added = createLines(content.split("\n"), "+ ");
    return { heading, lines: [...lines, ...formatFields(input, shown), ...removed, ...added] };
  }
  return { heading: `Use ${tool}`, lines: formatFields(input, []) };
}

/** A string says what is wrong with the answer. */
function decide(payload: JsonRecord, answer: Answer): object | string {
  const details = describe(payload, { cwd: null });
  if (!details) return "this is not a request of Qwen Code's";
  const { request_id } = asRecord(payload);
  const respond = (allowed: boolean): object => ({ type: "confirmation_response", request_id, allowed });
  return decideAnswer<object>(details, answer, {
    allow: () => respond(true),
    always: () => null,
    deny: (message) =>
      message === ""
        ? respond(false)
        : "Qwen Code takes no message with a denial: deny it without one, or write to it in the terminal",
    reply: () => "Qwen Code's questions can only be answered in the terminal",
  });
}
