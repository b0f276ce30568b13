/** What an agent gets for an answer: the form is the agent's own. What fits is the policy's to say. Pure. */
import { isAnswerTo } from "../core/answers/policy.ts";
import { explainUnfit, notWhole } from "../core/answers/words.ts";
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
  asked: Pick<AskDetails, "kind" | "isWhole" | "always">,
  answer: Answer,
  forms: DecisionForms<Decision>,
): Decision | string {
  if (!isAnswerTo(asked, answer)) return explainUnfit(asked, answer);
  switch (answer.do) {
    case "deny": {
      const message = answer.message?.trim().toWellFormed() ?? "";
      return message.length > limits.maxAnswerLength
        ? `the message is longer than ${limits.maxAnswerLength} characters`
        : forms.deny(message);
    }
    case "reply":
      return forms.reply(answer.replies);
    case "allow":
    case "always":
      if (!asked.isWhole) return notWhole;
      if (answer.do === "allow") return forms.allow();
      return forms.always(answer.choice) ?? explainUnfit(asked, answer);
  }
}
