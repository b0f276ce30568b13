/** AnswerLogEntry: a line of the answer log, made of how an ask ended, or of what became of an alert. Pure. */
import { type Static, Type } from "@sinclair/typebox";
import type { AskEnd } from "../core/interfaces/index.ts";
import {
  createAskAlertKey,
  createDiedAlertKey,
  createTurnEndAlertKey,
  createUntrackedAlertKey,
  isLimitAlertKey,
} from "../core/session/keys.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { formatFailure, statusTexts, summarizeAsk } from "../core/session/texts.ts";

/** Field names are public: do not rename. Secrets in its texts are masked. */
export type AnswerLogEntry = Readonly<Static<typeof AnswerLogEntrySchema>>;

export const AnswerLogEntrySchema = Type.Object({
  at: Type.Number(),
  /** "not sent": a channel did not deliver it. "prompt": the user sent one through beckon. */
  what: Type.Union([
    Type.Literal("answered"),
    Type.Literal("shown"),
    Type.Literal("not shown"),
    Type.Literal("not sent"),
    Type.Literal("prompt"),
  ]),
  /** `agent:sessionId` */
  session: Type.String(),
  project: Type.Union([Type.String(), Type.Null()]),
  /** What was asked, or what the alert is about. */
  asked: Type.String(),
  /** "allowed", "denied: no", or why the alert was not shown. */
  outcome: Type.String(),
  /** "command line", "notification", "rule …", "in the terminal"; null if nobody answered. */
  by: Type.Union([Type.String(), Type.Null()]),
  /** The key of the alert that was shown or not. */
  alert: Type.Optional(Type.String()),
});

/** Masks secrets in a text, and makes it fit. */
type CleanText = (text: string) => string;

export function createAnswerEntry(
  { session, ask, outcome, by, at }: AskEnd,
  clean: CleanText,
): AnswerLogEntry {
  return createEntry(session, { at, what: "answered", asked: summarizeAsk(ask), outcome, by }, clean);
}

export function createAlertEntry(
  session: Session,
  alert: Pick<AnswerLogEntry, "at" | "what" | "asked" | "outcome"> & { readonly alert: string },
  clean: CleanText,
): AnswerLogEntry {
  return createEntry(session, { ...alert, by: null }, clean);
}

export function createPromptEntry(
  session: Session,
  prompt: Pick<AnswerLogEntry, "at" | "asked" | "outcome" | "by">,
  clean: CleanText,
): AnswerLogEntry {
  return createEntry(session, { ...prompt, what: "prompt" }, clean);
}

function createEntry(
  session: Session,
  { at, what, asked, outcome, by, alert }: Omit<AnswerLogEntry, "session" | "project">,
  clean: CleanText,
): AnswerLogEntry {
  return {
    at,
    session: sessionKeyOf(session),
    project: projectOf(session),
    what,
    asked: clean(asked),
    outcome: clean(outcome),
    by: by && clean(by),
    ...(alert === undefined ? {} : { alert }),
  };
}

/** What an alert is about, from the state, where secrets are masked; null if its ask is over. */
export function describeAlert(session: Session, key: string): string | null {
  const { asks, stopped, ended, turn, untracked } = session;
  const ask = asks.find(({ id }) => key === createAskAlertKey(session, id));
  if (ask) return summarizeAsk(ask);
  if (ended && key === createDiedAlertKey(session, ended)) return statusTexts.died;
  if (untracked && key === createUntrackedAlertKey(session, untracked)) return statusTexts.untracked;
  if (isLimitAlertKey(key)) return statusTexts.limit;
  if (!stopped || key !== createTurnEndAlertKey(session, stopped)) return null;
  return turn.error === null ? "turn finished" : `turn ${formatFailure(turn.error)}`;
}
