/** What an ask wants, in a few words: the same in the menu, on the command line and in the log. */

import { extractFirstLine } from "../text/text.ts";
import type { Ask } from "./session.ts";

type Wanted = Pick<Ask, "kind" | "tool" | "summary" | "questions">;

/** "Bash: npm run deploy", "Question 1 of 2: Which colour?", "Plan to approve" */
export function summarizeAsk(ask: Wanted): string {
  return ask.summary === "" ? describeReason(ask) : `${subjectOf(ask)}: ${headline(ask)}`;
}

/** For after "has 2 questions": "1 of 2: Which colour?" */
export function formatFirstQuestion({ summary, questions = 1 }: Pick<Ask, "summary" | "questions">): string {
  return questions > 1 && summary !== "" ? `1 of ${questions}: ${summary}` : summary;
}

/** Why it stopped, where what it is about stands elsewhere: "Permission for Bash", "Plan to approve". */
export function describeReason(ask: Wanted): string {
  if (ask.kind === "permission" && ask.tool) return `Permission for ${ask.tool}`;
  return ask.kind === "plan" ? "Plan to approve" : subjectOf(ask);
}

/** As long as there is room for: "Permission for Bash: npm run deploy" */
export function summarizeAskInFull(ask: Wanted): string {
  return ask.summary === "" ? describeReason(ask) : `${describeReason(ask)}: ${headline(ask)}`;
}

function subjectOf({ kind, tool, questions = 1 }: Wanted): string {
  switch (kind) {
    case "permission":
      return tool ?? "Permission";
    case "plan":
      return "Plan";
    case "question":
      return questions > 1 ? `Question 1 of ${questions}` : "Question";
    case "elicitation":
      return "MCP input";
    case "idle":
      return "Waiting for your next prompt";
  }
}

/** Plans begin with a heading of Markdown; in a command, a # means something. */
const headline = ({ kind, summary }: Wanted): string =>
  kind === "plan" ? summary.replace(/^#+\s+/, "") : summary;

/** What a session does that asks for nothing. */
export const statusTexts = {
  thinking: "Thinking",
  done: "done",
  ready: "ready",
  ended: "ended",
  died: "ended unexpectedly",
  lost: "silent for hours",
} as const;

export const formatFailure = (error: string): string => `failed: ${error}`;

export const formatBackgroundTask = (task: string): string => `background: ${task}`;

/** Its person broke the turn off: what they had asked for is what there is to tell it by. */
export function formatInterrupted(prompt: string | null): string {
  const asked = extractFirstLine(prompt).trim();
  return asked === "" ? "interrupted" : `interrupted: ${asked}`;
}
