/** What is said of held asks: how they were answered, and why others cannot be. */
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import { type Ask, isBlocking, type Session } from "../core/session/session.ts";

/** Who answered what. */
export interface GivenAnswer {
  readonly session: Session;
  readonly ask: Ask;
  /** "allowed", "denied: not on a Friday" */
  readonly answered: string;
  /** "command line", "rule Bash(git status)" */
  readonly by: string;
}

export function answeredByText({ answered, by }: GivenAnswer): string {
  return `${answered} (${by})`;
}

export function answerText(answer: Answer, { always }: AskDetails): string {
  switch (answer.do) {
    case "allow":
      return "allowed";
    case "always":
      return `allowed, and from now on: ${always[answer.choice] ?? ""}`;
    case "deny":
      return answer.message === null ? "denied" : `denied: ${answer.message}`;
    case "reply":
      return `replied: ${answer.replies.map((labels) => labels.join(", ")).join(" / ")}`;
  }
}

/** Of an ask that is open and has no line. */
export function whyNotAnswerable(session: Session, ask: Ask, isOn: boolean): string {
  if (ask.agentId !== null)
    return "a subagent asks, and its dialog would not show while beckon waits for you";
  if (session.attended === false) return "nobody sits at this session";
  if (!isBlocking(ask) || ask.kind === "elicitation") return "only the terminal can answer this";
  if (!isOn) return "answering is turned off in your settings";
  if (ask.request === null) return "no hook has told what it asks";
  return "its hook does not wait for an answer (beckon was started since, or the hook is an older one)";
}
