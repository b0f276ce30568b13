/** How an ask ended: by an answer of the user's, or by what the agent reported. */
import type { Answer } from "../session/ask-details.ts";
import type { AgentEvent, AskKind } from "../session/event.ts";

/** "rule": a rule of the user's allowed it. "dismissed": it went away without an answer that beckon saw. */
export const askEndings = [
  "allowed",
  "always",
  "denied",
  "replied",
  "approved",
  "rule",
  "dismissed",
] as const;
export type AskEnding = (typeof askEndings)[number];

export function endingOfAnswer(answer: Answer, kind: AskKind): AskEnding {
  switch (answer.do) {
    case "allow":
      return allowedAs(kind);
    case "always":
      return "always";
    case "deny":
      return "denied";
    case "reply":
      return "replied";
  }
}

/** How the change that closed an ask of this kind ended it. */
export function endingOfChange(change: AgentEvent["change"], kind: AskKind): AskEnding {
  switch (change.kind) {
    case "tool-end":
      if (change.outcome === "denied") return "denied";
      return kind === "question" ? "replied" : allowedAs(kind);
    case "ask-ended":
      return change.outcome === "allowed" ? allowedAs(kind) : (change.outcome ?? "dismissed");
    case "elicitation-end":
      return "replied";
    case "tool-batch-end":
      return "denied";
    // The agent goes on, so the user has said something.
    case "status":
      return change.status === "busy" ? "replied" : "denied";
    default:
      return "dismissed";
  }
}

const allowedAs = (kind: AskKind): AskEnding => (kind === "plan" ? "approved" : "allowed");
