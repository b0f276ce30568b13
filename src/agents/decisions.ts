/** Which answers a request takes, for any agent. What the agent gets for one is the agent's own form. Pure. */
import { notWhole } from "../core/answers/words.ts";
import { limits } from "../core/limits.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";

/** What the agent gets for each answer. A string says what is wrong with the answer. */
export interface DecisionForms<Decision extends object> {
  allow(): Decision;
  /** null if the agent does not offer this choice. */
  always(choice: number): Decision | null;
  /** `message` is "" without one. */
  deny(message: string): Decision | string;
  reply(replies: readonly (readonly string[])[]): Decision | string;
}

/** A string says what is wrong with the answer. */
export function decideAnswer<Decision extends object>(
  { kind, isWhole, always }: Pick<AskDetails, "kind" | "isWhole" | "always">,
  answer: Answer,
  forms: DecisionForms<Decision>,
): Decision | string {
  switch (answer.do) {
    case "deny": {
      const message = answer.message?.trim().toWellFormed() ?? "";
      return message.length > limits.maxAnswerLength
        ? `the message is longer than ${limits.maxAnswerLength} characters`
        : forms.deny(message);
    }
    case "reply":
      if (kind === "question") return forms.reply(answer.replies);
      return kind === "plan"
        ? "a plan is approved, or sent back with a message"
        : "this is not a question: allow it or deny it";
    case "allow":
    case "always":
      if (kind === "question") return "a question needs an answer: choose an option or write one";
      if (!isWhole) return notWhole;
      if (answer.do === "allow") return forms.allow();
      if (kind === "plan") return "a plan can be approved once, but not for good";
      return forms.always(answer.choice) ?? describeMissingChoice(always.length);
  }
}

function describeMissingChoice(count: number): string {
  if (count === 0) return "the agent offers nothing here that could be allowed for good";
  return `there is no such choice: the agent offers ${count === 1 ? "one" : count} to allow for good`;
}
