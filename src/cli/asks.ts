/** The open asks of a session: which can be answered from here, what they are about, and sending an answer. */
import type { AnswerStep } from "../core/answers/policy.ts";
import { describeAnswer } from "../core/answers/words.ts";
import type { Answer } from "../core/session/ask-details.ts";
import { viewKeyOf } from "../core/session/session-ref.ts";
import { formatFirstQuestion } from "../core/session/texts.ts";
import { quoteIfNeeded } from "../core/text/shell-quote.ts";
import type { AskView, SessionView } from "../core/view/session-view.ts";
import type { Paths } from "../storage/paths.ts";
import { callApi } from "./client.ts";
import { nameOf, shortId } from "./find-session.ts";
import { stripControls, truncateToColumns } from "./output.ts";

export type AnswerableAsk = AskView & Required<Pick<AskView, "asked" | "answerId">>;

export const isAnswerable = (ask: AskView): ask is AnswerableAsk =>
  ask.answerId !== undefined && ask.asked !== undefined;

export function explainUnanswerable(ask: AskView, session: SessionView): string {
  const why = ask.why ?? "it is being answered";
  const next = `Go there with: beckon focus ${quoteIfNeeded(shortId(session))}`;
  return stripControls(
    `${subjectOf(ask)} (${nameOf(session)}) cannot be answered from here: ${why}. ${next}`,
  );
}

/**
 * The command that shows or answers this ask, and no other that opens meanwhile. Agents choose the ids of their sessions, and
 * the user may copy the command into a shell.
 */
export const formatAnswerCommand = (session: string, { answerId }: Pick<AnswerableAsk, "answerId">): string =>
  `beckon answer ${[session, "--ask", answerId].map((word) => quoteIfNeeded(stripControls(word))).join(" ")}`;

const maxSubjectColumns = 200;

export function subjectOf(ask: AskView): string {
  const { asked, tool, kind } = ask;
  if (kind === "plan") return "the plan";
  if (asked && kind !== "question" && !asked.startsWithSubject)
    return truncateToColumns(asked.heading, maxSubjectColumns);
  const [first = formatFirstQuestion(ask), ...others] = kind === "question" ? [] : (asked?.lines ?? []);
  const subject = truncateToColumns(first || tool || kind, maxSubjectColumns);
  return others.length > 0 ? `${subject} …` : subject;
}

/** The hook has 2 s to confirm the answer. */
const timeoutMs = 8_000;

/** Returns what was done, for the user: "allowed in shop-api: npm test". Throws if the answer was not accepted. */
export async function sendAnswer(
  paths: Paths,
  session: SessionView,
  ask: AskView & Required<Pick<AskView, "answerId">>,
  answer: Answer,
  step: AnswerStep,
): Promise<string> {
  const body = { ask: ask.answerId, ...describeStep(step), ...answer };
  const response = await callApi(paths, `/api/sessions/${encodeURIComponent(viewKeyOf(session))}/answer`, {
    body,
    timeoutMs,
  });
  if (typeof response === "string") throw new Error(response);
  if (response.status !== 200) throw new Error(stripControls(String(response.body.error)));
  const where = `in ${nameOf(session)}: ${answeredSubjectOf(ask)}`;
  return stripControls(formatSentence(answer, ask, where));
}

/** What the user saw and did, for the API. A script has shown nothing, so it reports nothing. */
function describeStep({ front, isWholeShown, shownMs, isConfirmed }: AnswerStep): object {
  const isScript = front === "API";
  return {
    by: isScript ? "command line" : front,
    ...(isScript ? {} : { shown: { whole: isWholeShown, ms: shownMs } }),
    confirmed: isConfirmed,
  };
}

/** All questions of an ask are answered at once. */
function answeredSubjectOf(ask: AskView): string {
  const { kind, summary, questions = 1 } = ask;
  if (kind !== "question" || questions < 2) return subjectOf(ask);
  const others = questions === 2 ? "1 more question" : `${questions - 1} more questions`;
  return `${truncateToColumns(summary, maxSubjectColumns)} and ${others}`;
}

/** "denied (use pnpm) in shop-api: npm test" */
function formatSentence(answer: Answer, { kind, asked }: AskView, where: string): string {
  const { done, detail } = describeAnswer(answer, { kind, always: asked?.always ?? [] });
  if (detail === null) return `${done} ${where}`;
  switch (answer.do) {
    case "always":
      return `allowed ${where}. From now on: ${detail}`;
    case "reply":
      return `${done} ${detail} ${where}`;
    default:
      return `${done} (${detail}) ${where}`;
  }
}
