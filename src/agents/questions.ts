/** How the questions of any agent are shown with a request. */
import { type FittedLine, splitLines } from "../core/text/fit.ts";

interface AskedQuestion {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

/** Each question with its numbered options. */
export function listQuestionLines(questions: readonly AskedQuestion[]): FittedLine[] {
  return questions.flatMap(({ question, options }) => [
    ...splitLines(question),
    ...options.map(({ label, description }, index) => ({
      prefix: `  ${index + 1}. `,
      text: description === "" ? label : `${label}: ${description}`,
    })),
  ]);
}

export const formatQuestionsHeading = (count: number): string =>
  count === 1 ? "Answer a question" : `Answer ${count} questions`;
