/**
 * Answers to requests of Codex's shared server: what they ask, in full, and how an answer is written. The payload is the
 * parameters of the server's message with its `method`. For a change of files it also has the `changes` of the server's item, the
 * `patch` from the rollout file, and the `folder` that its paths are relative to.
 */
import type { RuleSubject } from "../../core/answers/subject.ts";
import { asList, asRecord, asText, type JsonRecord, readString, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Answer, AskDetails } from "../../core/session/ask-details.ts";
import { createLabel, type FittedLine, fitLines, splitLines } from "../../core/text/fit.ts";
import { resolvePath } from "../../core/text/paths.ts";
import { makeLineVisible } from "../../core/text/visible.ts";
import { type AgentDangers, createCommandContext } from "../../shell/dangers/context.ts";
import { checkCommandLine, checkWrittenPath, checkWrittenText } from "../../shell/dangers/inputs.ts";
import { skipsPermissions } from "../../shell/dangers/service-programs.ts";
import { parseSimpleCommands } from "../../shell/index.ts";
import type { AnswerSupport, RequestContext } from "../agent.ts";
import { decideAnswer } from "../decisions.ts";
import { formatFields } from "../fields.ts";
import { describeLinks } from "../links.ts";
import { isReadableOffer, joinParts } from "../offers.ts";
import { listPatchedFiles, parsePatch } from "../patch.ts";
import { describeQuestions, readQuestions, readReplies } from "../questions.ts";
import { askUser, editTool } from "./payload.ts";
import { approvalMethods, type FileChange, readFileChanges } from "./server.ts";

/** What a command of any agent can do to Codex itself. */
export const codexDangers: AgentDangers = {
  programs: {
    codex: [
      ["root", skipsPermissions, /--(?:dangerously-\S+|yolo|full-auto)|danger-full-access/],
      ["system", "changes the agent's own settings or hooks", /^mcp (?:add|remove)\S*/],
    ],
  },
  files: [/(?:^|\/)\.codex\/(?:config\.toml|hooks\.json|rules(?:\/|$))/],
  projectVariables: [],
};

export const codexAnswering: AnswerSupport = {
  findSessionId: ({ threadId }) => readText(threadId, limits.maxIdLength),
  whyUnanswerable:
    "Codex shows no dialog while a hook waits, so only its shared server takes answers, and that does not run this session",
  isAnswerable: ({ method }) => typeof method === "string",
  describe,
  decide,
  // The rules name the tools of another agent.
  autoAllow: () => null,
  readSubject,
};

/** Only a command without further rights: what else it gets is for the user to answer. */
function readSubject(payload: JsonRecord): RuleSubject | null {
  const { method, kind = "command", environmentId: environment } = payload;
  const isHere = environment == null || environment === "local";
  if (method !== approvalMethods.command || kind !== "command" || !isHere) return null;
  if (formatGrants(payload).length > 0) return null;
  const command = findCommand(payload.command);
  return command === null
    ? null
    : { kind: "command", command, cwd: readText(payload.cwd, limits.maxPathLength) };
}

function describe(payload: JsonRecord, context: RequestContext): AskDetails | null {
  switch (payload.method) {
    case approvalMethods.command:
      return describeCommand(payload, context);
    case approvalMethods.patch:
      return describePatch(payload, context);
    case approvalMethods.question:
      return describeInputRequest(payload);
    default:
      return null;
  }
}

function describeCommand(payload: JsonRecord, context: RequestContext): AskDetails {
  const command = findCommand(payload.command);
  const from = readText(payload.cwd, limits.maxPathLength);
  const isElsewhere = from !== null && from !== context.cwd;
  const dangers = createDangerContext(payload, context);
  if (command !== null) checkCommandLine(command, dangers);
  const { kind = "command", environmentId: environment } = payload;
  // Input for a command that runs already: the request does not say which.
  const isInput = kind !== "command";
  const { lines, isWhole } = fitLines([
    ...(isInput ? [createLabel("typed into a command that runs already")] : []),
    ...(command === null ? [createLabel("the command is in the terminal only")] : splitLines(command)),
    ...(isElsewhere ? [createLabel("in", from)] : []),
    ...(environment == null || environment === "local"
      ? []
      : [createLabel("on", JSON.stringify(environment))]),
    ...formatReason(payload),
    ...formatGrants(payload),
    ...formatFields(listPresent(payload), commandFields),
    ...formatUnread(payload, ["cwd", "reason"]),
  ]);
  return {
    kind: "permission",
    tool: "Bash",
    heading: "Run a command outside of the sandbox",
    ...(isInput ? {} : { startsWithSubject: true }),
    lines,
    isWhole: isWhole && command !== null && !isInput,
    dangers: dangers.listDangers(),
    always: listLastingDecisions(payload).map(({ text }) => text),
    questions: [],
    takesNoReason: true,
  };
}

/** Shown in other words, or without a meaning for the user. A newer Codex may send more, which is shown as it is. */
const commandFields: readonly string[] = [
  ...["method", "kind", "threadId", "turnId", "itemId", "approvalId", "startedAtMs"],
  ...["command", "commandActions", "cwd", "environmentId", "reason"],
  ...["networkApprovalContext", "additionalPermissions"],
  // Each counts only if a decision that contains it is chosen, and then it is shown with that.
  ...["availableDecisions", "proposedExecpolicyAmendment", "proposedNetworkPolicyAmendments"],
];

const listPresent = (payload: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null));

/** A field that has words of its own if it is a text. A newer Codex may send another form, and a path can be too long to be read. */
const formatUnread = (payload: JsonRecord, names: readonly string[]): readonly FittedLine[] =>
  names.flatMap((name) => {
    const value = payload[name];
    const isRead =
      name === "reason" ? typeof value === "string" : readText(value, limits.maxPathLength) !== null;
    return value == null || value === "" || isRead ? [] : formatFields({ [name]: value }, []);
  });

const createDangerContext = (payload: JsonRecord, { cwd, home, agentDangers }: RequestContext) =>
  createCommandContext(
    cwd,
    readText(payload.cwd, limits.maxPathLength),
    [codexDangers, ...(agentDangers ?? [])],
    home ?? null,
  );

const formatReason = ({ reason }: JsonRecord): readonly FittedLine[] =>
  typeof reason === "string" && reason !== "" ? [createLabel("reason", reason)] : [];

/** What else is allowed with the command. */
const formatGrants = (payload: JsonRecord): readonly FittedLine[] =>
  Object.entries({ network: payload.networkApprovalContext, permissions: payload.additionalPermissions })
    .filter(([, grant]) => grant != null)
    .map(([name, grant]) => createLabel(name, JSON.stringify(grant)));

/** The model can choose the shell: one of another folder can be any program, so it is shown. */
const systemShells = /^\/(?:usr\/(?:local\/)?)?bin\/(?:bash|zsh|sh|dash)$/;

/** The server wraps the command: `/bin/bash -lc 'npm test'`. Anything else in the text stays visible. */
function findCommand(command: unknown): string | null {
  if (typeof command !== "string" || command === "") return null;
  const script = findScript(command);
  // A comment or a redirect does not count as a word. One at the end would take this letter.
  return script !== null && findScript(`${command}x`) === `${script}x` ? script : command;
}

function findScript(command: string): string | null {
  const [only, ...others] = parseSimpleCommands(command) ?? [];
  const [shell = "", option, script = null, ...rest] = only?.words ?? [];
  const isWrapper =
    others.length === 0 && only?.assignments.size === 0 && systemShells.test(shell) && rest.length === 0;
  const [, start] = /^\S+ -l?c (\d*[<>&])?/.exec(command) ?? [null, "not a wrapper"];
  return isWrapper && start === undefined && (option === "-lc" || option === "-c") ? script : null;
}

function describePatch(payload: JsonRecord, context: RequestContext): AskDetails {
  const patch = readString(payload.patch);
  const changes = readFileChanges(payload.changes);
  const doubt = findDoubt(payload, patch, changes);
  const files = listChangedFiles(changes, patch);
  const from = readText(payload.folder, limits.maxPathLength);
  const links = describeLinks(files, { cwd: context.cwd, from, links: context.links });
  const dangers = createDangerContext(payload, context);
  for (const file of [...files, ...links.targets]) checkWrittenPath(file, dangers);
  const written = changes === null ? patch : changes.map(({ diff }) => diff).join("\n");
  if (written !== null) checkWrittenText(written.replace(/^\+/gm, ""), dangers);
  const root = readText(payload.grantRoot, limits.maxPathLength);
  const { lines, isWhole } = fitLines([
    ...(doubt === null ? [] : [createLabel(doubt)]),
    ...links.lines,
    ...(changes === null ? splitLines(patch ?? "") : changes.flatMap(formatChange)),
    ...(root === null ? [] : [createLabel("and from now on everything in", root)]),
    ...formatReason(payload),
    ...formatFields(listPresent(payload), patchFields),
    ...formatUnread(payload, ["grantRoot", "reason"]),
  ]);
  return {
    kind: "permission",
    tool: editTool,
    heading: files.length === 1 ? `Change ${makeLineVisible(files[0] ?? "")}` : "Change files",
    lines,
    isWhole: isWhole && doubt === null && !links.isUnclear,
    dangers: dangers.listDangers(),
    always: listLastingDecisions(payload).map(({ text }) => text),
    questions: [],
    takesNoReason: true,
  };
}

const patchFields: readonly string[] = [
  ...["method", "threadId", "turnId", "itemId", "startedAtMs", "availableDecisions"],
  ...["reason", "grantRoot", "changes", "patch", "folder"],
];

/** The files that a request is about. Without the server's changes, those that the patch can name. */
export function listChangedFiles(
  changes: readonly FileChange[] | null,
  patch: string | null,
): readonly string[] {
  if (changes === null) return listPatchedFiles(patch ?? "");
  return changes.flatMap(({ path, moveTo }) => (moveTo === null ? [path] : [path, moveTo]));
}

/**
 * Why the change cannot be allowed here; null if it can. The server reads the patch and applies it, so its changes are shown. They
 * must be those of the text that the model wrote, so that neither beckon's reading nor an item of another call decides alone.
 */
function findDoubt(
  payload: JsonRecord,
  patch: string | null,
  changes: readonly FileChange[] | null,
): string | null {
  if (changes === null) return "the change is in the terminal only";
  if (patch === null) return "the patch itself is in the terminal only";
  const folder = readText(payload.folder, limits.maxPathLength) ?? "";
  const sections = parsePatch(patch) ?? [];
  const format = ({ kind, path, moveTo }: Omit<FileChange, "diff">, content: string) =>
    JSON.stringify([kind, resolvePath(folder, path), moveTo && resolvePath(folder, moveTo), content]);
  const written = sections.map((section) => format(section, section.content));
  const asked = changes.map((change) => format(change, change.kind === "add" ? change.diff : ""));
  return written.sort().join("\n") === asked.sort().join("\n")
    ? null
    : "the patch and what Codex says about it differ: look at it in the terminal";
}

/** The lines of a text. The server's texts end with a line break; a text without one gets a label. */
function splitText(text: string, prefix = ""): readonly FittedLine[] {
  if (text === "") return [];
  const lines = splitLines(text.replace(/\n$/, ""), prefix);
  return text.endsWith("\n") ? lines : [...lines, createLabel("no line break at the end")];
}

function formatChange({ kind, path, moveTo, diff }: FileChange): readonly FittedLine[] {
  switch (kind) {
    case "add":
      return [createLabel("write", path), ...splitText(diff, "+")];
    case "delete":
      return [createLabel("delete", path)];
    case "update":
      return [
        createLabel("change", path),
        ...(moveTo === null ? [] : [createLabel("and move it to", moveTo)]),
        // The server writes it below the diff too.
        ...splitText(moveTo === null ? diff : removeEnd(diff, `\n\nMoved to: ${moveTo}`)),
      ];
  }
}

const removeEnd = (text: string, end: string): string =>
  text.endsWith(end) ? text.slice(0, -end.length) : text;

function describeInputRequest(payload: JsonRecord): AskDetails {
  const { questions, isWhole } = readQuestions(payload.questions);
  const details = describeQuestions(askUser, questions);
  return { ...details, isWhole: details.isWhole && isWhole };
}

interface LastingDecision {
  readonly text: string;
  readonly decision: unknown;
}

/** The server's offers that allow more than this request. */
function listLastingDecisions({ availableDecisions }: JsonRecord): readonly LastingDecision[] {
  const offered = asList(availableDecisions).slice(0, limits.maxOptions);
  return offered.flatMap((decision): LastingDecision[] => {
    if (decision === "acceptForSession")
      return [{ text: "Allow this for the rest of the session", decision }];
    const amendment = asRecord(asRecord(decision).acceptWithExecpolicyAmendment);
    const words = asList(amendment.execpolicy_amendment);
    // Every command starts with no word at all.
    if (words.length === 0 || !words.every((word) => typeof word === "string")) return [];
    const text = `Always allow commands that start with: ${joinParts(words, " ")}`;
    return isReadableOffer(text) ? [{ text, decision }] : [];
  });
}

/** What is sent to the server. A string says what is wrong with the answer. */
function decide(payload: JsonRecord, answer: Answer): object | string {
  const details = describe(payload, { cwd: null });
  if (!details) return "this is not a request of Codex's server";
  return decideAnswer<object>(details, answer, {
    allow: () => ({ decision: "accept" }),
    always(choice) {
      const lasting = listLastingDecisions(payload)[choice];
      return lasting ? { decision: lasting.decision } : null;
    },
    deny(message) {
      if (details.kind === "question")
        return "Codex's questions can only be dismissed in the terminal, with Esc";
      return message === ""
        ? { decision: "decline" }
        : "Codex takes no message with a denial: deny it without one, or write to it in the terminal";
    },
    reply: (replies) => decideReply(payload, replies),
  });
}

function decideReply(payload: JsonRecord, replies: readonly (readonly string[])[]): object | string {
  const { questions } = readQuestions(payload.questions);
  // The answer must not be shown or stored.
  if (questions.some(({ fields }) => fields.isSecret === true))
    return "it asks for a secret: type it in the terminal";
  const answers = readReplies(questions, replies);
  if (typeof answers === "string") return answers;
  return {
    answers: Object.fromEntries(
      questions.map(({ fields }, index) => [asText(fields.id), { answers: answers[index] }]),
    ),
  };
}
