/** The only place that writes Claude Code's decisions: turns an answer into the output of the hook. */
import { asRecord, isRecord, type JsonRecord, readString } from "../../../core/json.ts";
import type { Answer } from "../../../core/session/ask-details.ts";
import { decideAnswer } from "../../decisions.ts";
import { quote, readReplies } from "../../questions.ts";
import { describeRequest } from "./describe.ts";
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
  const details = describeRequest(payload, { cwd: readString(payload.cwd) });
  if (!details) return "this is not a permission request";
  const { kind } = details;
  return decideAnswer<Decision>(details, answer, {
    // A plan: a plain allow is ignored.
    allow: () => allow(kind === "plan" ? { updatedInput: {} } : {}),
    always(choice) {
      const suggestion = listSuggestions(payload.permission_suggestions)[choice];
      return suggestion ? allow({ updatedPermissions: [suggestion.entry] }) : null;
    },
    deny: (message) =>
      createDecision({
        behavior: "deny",
        message: message || (denialMessages[kind] ?? "The user does not allow this. Ask what to do instead."),
      }),
    reply: (replies) => decideReply(asRecord(payload.tool_input), replies),
  });
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

/** A string says what is wrong with the replies. */
function decideReply(input: JsonRecord, replies: readonly (readonly string[])[]): Decision | string {
  const questions = parseQuestions(input);
  if (!questions) return "beckon cannot read this question: answer it in the terminal";
  const chosen = readReplies(questions, replies);
  if (typeof chosen === "string") return chosen;
  const answers: [string, string][] = [];
  for (const [index, { question, options }] of questions.entries()) {
    const texts = chosen[index] ?? [];
    // Several are one text for the CLI, so a free text among them could be taken for options.
    const unknown = texts.find((text) => !options.some(({ label }) => label === text));
    if (texts.length > 1 && unknown !== undefined)
      return `${quote(unknown)} is not an option of ${quote(question)}`;
    answers.push([question, texts.join(", ")]);
  }
  return allow({ updatedInput: { questions: input.questions, answers: Object.fromEntries(answers) } });
}
