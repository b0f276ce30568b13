/** What an ask wants, in a few words: the same in the menu, on the command line and in the log. */
import type { Ask } from "./session.ts";

type Wanted = Pick<Ask, "kind" | "tool" | "summary" | "questions">;

/** "Bash: npm run deploy", "Question 1 of 2: Which colour?", "Plan to approve" */
export function askSummary(ask: Wanted): string {
  return ask.summary === "" ? reasonOf(ask) : `${subjectOf(ask)}: ${headline(ask)}`;
}

/** For after "has 2 questions": "1 of 2: Which colour?" */
export function firstQuestion({ summary, questions = 1 }: Pick<Ask, "summary" | "questions">): string {
  return questions > 1 && summary !== "" ? `1 of ${questions}: ${summary}` : summary;
}

/** Why it stopped, where what it is about stands elsewhere: "Permission for Bash", "Plan to approve". */
export function reasonOf(ask: Wanted): string {
  if (ask.kind === "permission" && ask.tool) return `Permission for ${ask.tool}`;
  return ask.kind === "plan" ? "Plan to approve" : subjectOf(ask);
}

/** As long as there is room for: "Permission for Bash: npm run deploy" */
export function fullAskSummary(ask: Wanted): string {
  return ask.summary === "" ? reasonOf(ask) : `${reasonOf(ask)}: ${headline(ask)}`;
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
