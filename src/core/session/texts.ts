/** Short texts about asks and statuses, the same in the menu, on the command line and in the log. */
import { extractFirstLine, toSingleLine } from "../text/text.ts";
import type { Ask } from "./session.ts";

type AskSubject = Pick<Ask, "kind" | "tool" | "summary" | "questions">;

/** "Bash: npm run deploy", "Question 1 of 2: Which colour?", "Plan to approve" */
export function summarizeAsk(ask: AskSubject): string {
  return ask.summary === "" ? describeReason(ask) : `${subjectOf(ask)}: ${stripHeading(ask)}`;
}

/** "Bash: npm run deploy", as it is recorded. */
export const formatCall = (tool: string | null, summary: string | null): string =>
  [tool, summary].filter(Boolean).join(": ");

/** "1 of 2: Which colour?", to be read after "has 2 questions". */
export function formatFirstQuestion({ summary, questions = 1 }: Pick<Ask, "summary" | "questions">): string {
  return questions > 1 && summary !== "" ? `1 of ${questions}: ${summary}` : summary;
}

/** "Permission for Bash", "Plan to approve": the reason without the subject, where that is shown elsewhere. */
export function describeReason(ask: AskSubject): string {
  if (ask.kind === "permission" && ask.tool) return `Permission for ${ask.tool}`;
  return ask.kind === "plan" ? "Plan to approve" : subjectOf(ask);
}

/** "Permission for Bash: npm run deploy" */
export function summarizeAskInFull(ask: AskSubject): string {
  return ask.summary === "" ? describeReason(ask) : `${describeReason(ask)}: ${stripHeading(ask)}`;
}

function subjectOf({ kind, tool, questions = 1 }: AskSubject): string {
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

/** Plans start with a Markdown heading. In a command, a # has a meaning. */
const stripHeading = ({ kind, summary }: AskSubject): string =>
  kind === "plan" ? summary.replace(/^#+\s+/, "") : summary;

/** What a session does that asks for nothing. "lost": beckon cannot see whether it still runs. */
export const statusTexts = {
  thinking: "Thinking",
  done: "done",
  ready: "ready",
  ended: "ended",
  cleared: "cleared",
  died: "ended unexpectedly",
  untracked: "edits without a port",
  limit: "has news about a limit",
  lost: "silent for hours",
} as const;

export const formatFailure = (error: string): string => `failed: ${error}`;

export const formatBackgroundTask = (task: string): string => `background: ${task}`;

/** What a session that waits for a prompt shows: what still runs, or the first line of its last response. */
export function describeReady(session: {
  /** What runs in the background; null if nothing does. */
  readonly background: string | null;
  readonly isInterrupted: boolean;
  readonly hasTurns: boolean;
  readonly lastPrompt: string | null;
  readonly lastResponse: string | null;
}): string {
  const { background, isInterrupted, hasTurns, lastPrompt, lastResponse } = session;
  if (background !== null) return background;
  if (isInterrupted) return formatInterrupted(lastPrompt);
  return toSingleLine(extractFirstLine(lastResponse)) || (hasTurns ? statusTexts.done : statusTexts.ready);
}

/** Comes first in a text, because the end may be truncated. */
export const dangerMark = "⚠ ";

/** An interrupted turn has no response, so the prompt describes it. */
export function formatInterrupted(prompt: string | null): string {
  const subject = extractFirstLine(prompt).trim();
  return subject === "" ? "interrupted" : `interrupted: ${subject}`;
}
