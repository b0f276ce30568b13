/** The only place that can say "allow": an answer made the words that Claude Code's hook prints. */

import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Answer, Question } from "../../../core/session/ask-details.ts";
import { describeRequest, shownLabel } from "./describe.ts";
import { questionsOf } from "./questions.ts";
import { offersOf } from "./suggestions.ts";

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

/** A text: what is wrong with the answer. */
export function decide(payload: unknown, answer: Answer): Decision | string {
  if (!isRecord(payload)) return "this is no permission request";
  const cwd = typeof payload.cwd === "string" ? payload.cwd : null;
  const asked = describeRequest(payload, { cwd });
  if (!asked) return "this is no permission request";
  const { kind, isWhole } = asked;
  if (answer.do === "deny") return deny(kind, answer.message);
  if (answer.do === "reply") {
    const isQuestion = kind === "question" && isRecord(payload.tool_input);
    if (isQuestion) return reply(payload.tool_input as JsonRecord, answer.replies);
    return kind === "plan"
      ? "a plan is approved, or sent back with a message"
      : "nothing is asked that a text could answer: allow it or deny it";
  }
  if (kind === "question") return "a question needs an answer: choose an option or write one";
  if (!isWhole) return "there is more to it than can be shown here: look at it in the terminal";
  if (answer.do === "allow") return allow(kind === "plan" ? { updatedInput: {} } : {});
  if (kind === "plan") return "a plan can be approved once only, not for good";
  const offer = offersOf(payload.permission_suggestions)[answer.choice];
  return offer ? allow({ updatedPermissions: [offer.suggestion] }) : noChoice(asked.always.length);
}

function noChoice(count: number): string {
  if (count === 0) return "the agent offers nothing here that could be allowed for good";
  return `there is no such choice: the agent offers ${count === 1 ? "one" : count} to allow for good`;
}

function allow(more: {
  readonly updatedInput?: JsonRecord;
  readonly updatedPermissions?: readonly JsonRecord[];
}): Decision {
  return output({ behavior: "allow", ...more });
}

function output(decision: Decision["hookSpecificOutput"]["decision"]): Decision {
  return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
}

const saysNo: Readonly<Record<string, string>> = {
  question: "The user does not want to answer this question.",
  plan: "The user does not approve this plan. Keep planning, and ask what should change.",
};

function deny(kind: string, message: string | null): Decision | string {
  const text = message?.trim().toWellFormed() ?? "";
  if (text.length > limits.maxAnswerLength)
    return `the message is longer than ${limits.maxAnswerLength} characters`;
  return output({
    behavior: "deny",
    message: text || (saysNo[kind] ?? "The user does not allow this. Ask what to do instead."),
  });
}

function reply(input: JsonRecord, replies: readonly (readonly string[])[]): Decision | string {
  const questions = questionsOf(input);
  if (!questions) return "beckon cannot read this question: answer it in the terminal";
  if (replies.length !== questions.length) {
    const count = questions.length === 1 ? "one question" : `${questions.length} questions`;
    return `there ${questions.length === 1 ? "is" : "are"} ${count}, and ${replies.length} ${replies.length === 1 ? "answer" : "answers"}`;
  }
  const answers: [string, string][] = [];
  for (const [n, question] of questions.entries()) {
    const chosen = replyTo(question, replies[n] ?? []);
    if ("wrong" in chosen) return chosen.wrong;
    answers.push([question.question, chosen.text]);
  }
  return allow({ updatedInput: { questions: input.questions, answers: Object.fromEntries(answers) } });
}

function replyTo(
  asked: Question,
  given: readonly string[],
): { readonly text: string } | { readonly wrong: string } {
  const about = `"${shownLabel(asked.question.slice(0, 80))}"`;
  const texts = given.map((text) => text.trim().toWellFormed());
  const [first = ""] = texts;
  if (texts.length === 0 || texts.includes("")) return { wrong: `the answer to ${about} is empty` };
  if (texts.some((text) => text.length > limits.maxAnswerLength))
    return { wrong: `an answer is longer than ${limits.maxAnswerLength} characters` };
  const labels = texts.map((text, n) => labelOf(asked, given[n] ?? "") ?? labelOf(asked, text));
  if (texts.length === 1) return { text: labels[0] ?? first };
  if (!asked.isMultiple) return { wrong: `only one answer can be given to ${about}` };
  const stranger = texts.find((_, n) => labels[n] === null);
  if (stranger !== undefined)
    return { wrong: `"${shownLabel(stranger.slice(0, 80))}" is not an option of ${about}` };
  return { text: [...new Set(labels)].join(", ") };
}

/** As it was shown, or as it is. */
function labelOf({ options }: Question, text: string): string | null {
  const found =
    options.find(({ label }) => shownLabel(label) === text) ?? options.find(({ label }) => label === text);
  return found?.label ?? null;
}
