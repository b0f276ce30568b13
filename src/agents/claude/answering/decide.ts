/** The only place that writes Claude Code's decisions: turns an answer into the output of the hook. */
import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Answer, Question } from "../../../core/session/ask-details.ts";
import { describeRequest, formatLabel } from "./describe.ts";
import { parseQuestions } from "./questions.ts";
import { listSuggestions } from "./suggestions.ts";

export interface Decision {
  readonly hookSpecificOutput: {
    readonly hookEventName: "PermissionRequest";
    readonly decision:
      | {
          readonly behavior: "allow";
          readonly updatedInput?: JsonRecord;
          readonly updatedPermissions?: readonly JsonRecord[];
        }
      | { readonly behavior: "deny"; readonly message: string };
  };
}

/** A string says what is wrong with the answer. */
export function decide(payload: unknown, answer: Answer): Decision | string {
  if (!isRecord(payload)) return "this is not a permission request";
  const cwd = typeof payload.cwd === "string" ? payload.cwd : null;
  const details = describeRequest(payload, { cwd });
  if (!details) return "this is not a permission request";
  const { kind, isWhole } = details;
  if (answer.do === "deny") return deny(kind, answer.message);
  if (answer.do === "reply") {
    if (kind === "question" && isRecord(payload.tool_input))
      return decideReply(payload.tool_input, answer.replies);
    return kind === "plan"
      ? "a plan is approved, or sent back with a message"
      : "this is not a question: allow it or deny it";
  }
  if (kind === "question") return "a question needs an answer: choose an option or write one";
  if (!isWhole) return "not all of it can be shown here: look at it in the terminal";
  if (answer.do === "allow") return allow(kind === "plan" ? { updatedInput: {} } : {});
  if (kind === "plan") return "a plan can be approved once, but not for good";
  const suggestion = listSuggestions(payload.permission_suggestions)[answer.choice];
  return suggestion
    ? allow({ updatedPermissions: [suggestion.entry] })
    : describeMissingChoice(details.always.length);
}

function describeMissingChoice(count: number): string {
  if (count === 0) return "the agent offers nothing here that could be allowed for good";
  return `there is no such choice: the agent offers ${count === 1 ? "one" : count} to allow for good`;
}

function allow(changes: {
  readonly updatedInput?: JsonRecord;
  readonly updatedPermissions?: readonly JsonRecord[];
}): Decision {
  return createDecision({ behavior: "allow", ...changes });
}

function createDecision(decision: Decision["hookSpecificOutput"]["decision"]): Decision {
  return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
}

const denialMessages: Readonly<Record<string, string>> = {
  question: "The user does not want to answer this question.",
  plan: "The user does not approve this plan. Keep planning, and ask what should change.",
};

function deny(kind: string, message: string | null): Decision | string {
  const text = message?.trim().toWellFormed() ?? "";
  if (text.length > limits.maxAnswerLength)
    return `the message is longer than ${limits.maxAnswerLength} characters`;
  return createDecision({
    behavior: "deny",
    message: text || (denialMessages[kind] ?? "The user does not allow this. Ask what to do instead."),
  });
}

/** A string says what is wrong with the replies. */
function decideReply(input: JsonRecord, replies: readonly (readonly string[])[]): Decision | string {
  const questions = parseQuestions(input);
  if (!questions) return "beckon cannot read this question: answer it in the terminal";
  if (replies.length !== questions.length) {
    const count = questions.length === 1 ? "is one question" : `are ${questions.length} questions`;
    return `there ${count}, and ${replies.length} ${replies.length === 1 ? "answer" : "answers"}`;
  }
  const answers: [string, string][] = [];
  for (const [index, question] of questions.entries()) {
    const chosen = chooseReply(question, replies[index] ?? []);
    if ("problem" in chosen) return chosen.problem;
    answers.push([question.question, chosen.text]);
  }
  return allow({ updatedInput: { questions: input.questions, answers: Object.fromEntries(answers) } });
}

const maxQuotedLength = 80;
const quote = (text: string): string => `"${formatLabel(text.slice(0, maxQuotedLength))}"`;

/** The labels of the chosen options, or one free text. */
function chooseReply(
  question: Question,
  reply: readonly string[],
): { readonly text: string } | { readonly problem: string } {
  const name = quote(question.question);
  const texts = reply.map((text) => text.trim().toWellFormed());
  const [first = ""] = texts;
  if (texts.length === 0 || texts.includes("")) return { problem: `the answer to ${name} is empty` };
  if (texts.some((text) => text.length > limits.maxAnswerLength))
    return { problem: `an answer is longer than ${limits.maxAnswerLength} characters` };
  const labels = texts.map(
    (text, index) => findLabel(question, reply[index] ?? "") ?? findLabel(question, text),
  );
  if (texts.length === 1) return { text: labels[0] ?? first };
  if (!question.isMultiple) return { problem: `only one answer can be given to ${name}` };
  const unknown = texts.find((_, index) => labels[index] === null);
  if (unknown !== undefined) return { problem: `${quote(unknown)} is not an option of ${name}` };
  return { text: [...new Set(labels)].join(", ") };
}

/** The option's own label, for a label as it is shown or as it is. null if no option has it. */
function findLabel({ options }: Question, text: string): string | null {
  const option =
    options.find(({ label }) => formatLabel(label) === text) ?? options.find(({ label }) => label === text);
  return option?.label ?? null;
}
