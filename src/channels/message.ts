/** What a channel shows of an alert, by its level of detail, and which answers its buttons give. Pure. */
import { type AnswerStep, createStep, findOffer, judgeAnswer, listOffers } from "../core/answers/policy.ts";
import { explainVerdict, nameApproval, nameDenial } from "../core/answers/words.ts";
import type { ChannelSettings } from "../core/config/channels.ts";
import type { Answer, AskDetails, Question } from "../core/session/ask-details.ts";
import { projectOf } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { dangerMark } from "../core/session/texts.ts";
import { joinRows } from "../core/text/fit.ts";
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import { capitalize } from "../core/text/words.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";
import { alertKinds } from "../core/view/alerts/kinds.ts";
import { branchOf } from "../core/view/session-names.ts";
import type { ChannelMessage, Service } from "./channel.ts";

/** What a button or a reply means. Only this is saved, so an option is named by its place. */
export type ResponseMeaning =
  | { readonly do: "allow" }
  /** The first of two taps that allow something dangerous. */
  | { readonly do: "confirm" }
  | { readonly do: "deny" }
  /** The first thing that the agent offers to allow for good. */
  | { readonly do: "always" }
  | { readonly do: "option"; readonly index: number }
  | { readonly do: "text" }
  /** A text that is the session's next prompt. */
  | { readonly do: "send" }
  /** The button of a test message. */
  | { readonly do: "test" };

export interface DraftButton {
  readonly label: string;
  readonly style: "allow" | "deny" | "plain";
  readonly meaning: ResponseMeaning;
}

/** A message whose buttons have no references yet. */
export interface MessageDraft
  extends Pick<ChannelMessage, "key" | "session" | "folder" | "title" | "lines" | "urgency" | "isFinal"> {
  readonly buttons: readonly DraftButton[];
  /** null if no text is taken in reply. */
  readonly replyHint: string | null;
  /** Absent if a reply answers the ask. */
  readonly replyMeaning?: ResponseMeaning;
}

export interface MessageInput {
  readonly cause: JudgedCause;
  readonly settings: ChannelSettings;
  readonly service: Pick<Service, "fits" | "maxButtons" | "hasAccounts">;
  /** Answers are taken from this channel. */
  readonly isAnswering: boolean;
  /** A reply can be the session's next prompt. */
  readonly takesPrompt: boolean;
  /** Without secrets; null if the ask cannot be answered from outside of the terminal. */
  readonly details: AskDetails | null;
  /** Secrets in it are masked. */
  readonly hasSecret: boolean;
  /** How long ago the first of two taps was made; null if it was not. */
  readonly confirmingMs: number | null;
  readonly formatTime: (at: number) => string;
  readonly mask: (text: string) => string;
}

const maxProject = 40;
const maxBranch = 28;
const maxTitle = 40;
const maxLabel = 40;

export function createDraft(input: MessageInput): MessageDraft {
  const { cause, settings } = input;
  const project = truncateEnd(projectOf(cause.session) ?? "A session", maxProject);
  const when = input.formatTime(cause.since.at);
  const folder = cause.session.firstCwd ?? cause.session.cwd;
  const base = {
    key: cause.key,
    session: sessionKeyOf(cause.session),
    ...(folder === null ? {} : { folder }),
    urgency: alertKinds[cause.kind].urgency,
    isFinal: false,
    buttons: [],
    ...createPromptOffer(input),
  };
  switch (settings.detail) {
    case "minimal":
      return { ...base, title: `${project} ${alertKinds[cause.kind].minimal}`, lines: [] };
    case "summary": {
      const { title } = cause.formatText({ project, difference: "" }, when);
      return { ...base, title, lines: [`since ${when}`] };
    }
    case "full":
      return { ...base, ...createFullText(input, when) };
  }
}

/** Kinds of alerts that say that nothing is under way. */
const promptKinds: ReadonlySet<string> = new Set(["finished", "idle", "failed"]);

const createPromptOffer = ({
  cause,
  takesPrompt,
}: MessageInput): Pick<MessageDraft, "replyHint" | "replyMeaning"> =>
  takesPrompt && promptKinds.has(cause.kind)
    ? { replyHint: "Reply with its next prompt.", replyMeaning: { do: "send" } }
    : { replyHint: null };

type FullText = Pick<MessageDraft, "title" | "lines" | "buttons"> & Partial<Pick<MessageDraft, "replyHint">>;

function createFullText(input: MessageInput, when: string): FullText {
  const { cause, details, isAnswering, mask } = input;
  if (details === null || cause.ask === null) {
    const { title, body } = cause.formatText(cause.name, when);
    const hint = isAnswering && cause.kind === "blocked" ? ["Answer it in the terminal."] : [];
    return { title: mask(title), lines: [...mask(body).split("\n"), ...hint], buttons: [] };
  }
  const { title, lines, step } = createExactText(input, details);
  if (!isAnswering) return { title, lines, buttons: [] };
  const { question, ...offers } = createOffers(input, details, step);
  const reason = findReasonAgainst(details, step);
  return { title, lines: reason === null ? [...question, ...lines] : [...lines, reason], ...offers };
}

interface ExactText extends Pick<FullText, "title" | "lines"> {
  /** What a tap on it would mean: what it shows, and what was tapped before. */
  readonly step: AnswerStep;
}

export function createExactText(input: MessageInput, details: AskDetails): ExactText {
  const { cause, settings, service, confirmingMs, mask } = input;
  const when = input.formatTime(cause.since.at);
  const title = mask(cause.formatText(cause.name, when).title);
  const exact = joinRows(listExactLines(details)).join("\n");
  // Once more: what is shown differs from the payload, and a secret may look like one only there.
  const masked = mask(exact);
  const dangers = details.dangers.map((danger) => mask(dangerMark + danger));
  const lines = [...dangers, ...masked.split("\n"), formatContext(input, when)];
  const tapped = { shownMs: confirmingMs, isConfirmed: confirmingMs !== null };
  // Where everybody who knows an address could answer, nothing is allowed for good.
  const takesAlways = settings.always === true && service.hasAccounts;
  const shown = createStep("channel", { isWholeShown: true, takesAlways, ...tapped });
  // With everything that it could offer.
  const { question, ...offers } = createOffers(input, details, shown);
  const complete = { ...emptyDraft, key: cause.key, title, lines: [...question, ...lines], ...offers };
  const message = addReferences(complete, () => "x".repeat(referenceLength));
  const step: AnswerStep = {
    ...shown,
    isWholeShown: details.isWhole && service.fits(message),
    hasSecret: input.hasSecret || masked !== exact,
    refusesMarked: settings.answers !== "all",
  };
  return { title, lines, step };
}

function listExactLines({ kind, heading, lines, isGenericHeading }: AskDetails): readonly string[] {
  return kind === "question" || kind === "plan" || isGenericHeading ? lines : [heading, ...lines];
}

/** "main · Rewrite the guide · since 14:20" */
function formatContext({ cause: { session }, mask }: MessageInput, when: string): string {
  const branch = truncateEnd(branchOf(session.gitBranch), maxBranch);
  const title = truncateEnd(mask(session.title ?? ""), maxTitle);
  return [branch, title, `since ${when}`].filter((part) => part !== "").join(" · ");
}

/** Why it cannot be allowed or answered from there; null if it can. */
function findReasonAgainst(details: AskDetails, step: AnswerStep): string | null {
  const answer: Answer = details.kind === "question" ? { do: "reply", replies: [] } : { do: "allow" };
  const verdict = judgeAnswer(details, answer, step);
  return verdict.kind === "refused" ? `${capitalize(explainVerdict(verdict, details, answer))}.` : null;
}

const emptyDraft = { session: "", urgency: "urgent", isFinal: false } as const;
const referenceLength = 22;

interface Offers extends Pick<MessageDraft, "buttons" | "replyHint"> {
  /** Shown above the text. */
  readonly question: readonly string[];
}

function createOffers({ service }: MessageInput, details: AskDetails, step: AnswerStep): Offers {
  const { kind, questions, takesNoReason, dangers } = details;
  const offers = listOffers(details, step);
  if (kind === "question")
    return findOffer(offers, "reply")
      ? { question: [], ...createQuestionOffers(questions, service.maxButtons) }
      : { question: [], buttons: [], replyHint: null };
  const allow = findOffer(offers, "allow");
  const verb = nameApproval(kind);
  const isAskedAgain = allow !== null && !allow.needsConfirmation && dangers.length > 0;
  const label = isAskedAgain ? `Yes, ${verb} it` : capitalize(verb) + (allow?.needsConfirmation ? "…" : "");
  const meaning: ResponseMeaning = { do: allow?.needsConfirmation ? "confirm" : "allow" };
  const yes: DraftButton = { label, style: "allow", meaning };
  const no: DraftButton = { label: nameDenial(details), style: "deny", meaning: { do: "deny" } };
  const [lasting] = findOffer(offers, "always") ? details.always : [];
  const always: readonly DraftButton[] =
    lasting === undefined || isAskedAgain || service.maxButtons < 3
      ? []
      : [{ label: "Always", style: "plain", meaning: { do: "always" } }];
  const hint = kind === "plan" ? "Reply with text to send it back." : "Reply with a reason to deny it.";
  return {
    question: [
      ...(isAskedAgain ? [`Really ${verb} this?`] : []),
      ...always.map(() => `“Always”: ${toSingleLine(lasting ?? "")}`),
    ],
    buttons: allow === null ? [no] : [yes, ...always, no],
    replyHint: takesNoReason ? null : hint,
  };
}

function createQuestionOffers(questions: readonly Question[], maxButtons: number) {
  const [only, ...others] = questions;
  if (!only) return { buttons: [], replyHint: null };
  if (others.length > 0)
    return {
      buttons: [],
      replyHint: "Reply with one line per question: your answer, or the number of an option.",
    };
  const hint = "Reply with your own answer, or the number of an option.";
  if (only.isMultiple)
    return { buttons: [], replyHint: "Reply with your answer, or the numbers of options: 1, 3." };
  const buttons = only.options.map(({ label }, index): DraftButton => {
    const text = truncateEnd(toSingleLine(label), maxLabel);
    return { label: `${index + 1}. ${text}`, style: "plain", meaning: { do: "option", index } };
  });
  return { buttons: buttons.length > maxButtons ? [] : buttons, replyHint: hint };
}

/** Turns a draft into a message. */
export function addReferences(
  draft: MessageDraft,
  createReference: (meaning: ResponseMeaning) => string,
): ChannelMessage {
  const { buttons, replyHint, replyMeaning = { do: "text" }, ...rest } = draft;
  return {
    ...rest,
    buttons: buttons.map(({ label, style, meaning }) => ({
      label,
      style,
      reference: createReference(meaning),
    })),
    replyReference: replyHint === null ? null : createReference(replyMeaning),
    replyHint,
    link: null,
  };
}

/** The last form of a message. `ending` says how the ask ended: "Allowed in the terminal". */
export function createFinalDraft(key: string, session: string, title: string, ending: string): MessageDraft {
  return {
    key,
    session,
    title,
    lines: [ending],
    urgency: "low",
    isFinal: true,
    buttons: [],
    replyHint: null,
  };
}

/** The answer that a response gives. If it cannot be one, returns the reason as text. */
export function createAnswer(
  meaning: ResponseMeaning,
  text: string | null,
  details: AskDetails,
): Answer | string {
  switch (meaning.do) {
    case "allow":
      return { do: "allow" };
    case "deny":
      return { do: "deny", message: null };
    case "always":
      return { do: "always", choice: 0 };
    case "option": {
      const label = details.questions[0]?.options[meaning.index]?.label;
      return label === undefined ? "there is no such option" : { do: "reply", replies: [[label]] };
    }
    case "text": {
      const words = text?.trim() ?? "";
      if (words === "") return "the reply is empty";
      return details.kind === "question"
        ? createReplies(words, details.questions)
        : { do: "deny", message: words };
    }
    case "confirm":
      return "this needs a second tap";
    case "send":
      return "this is a prompt";
    case "test":
      return "this is a test";
  }
}

function createReplies(text: string, questions: readonly Question[]): Answer | string {
  const lines = questions.length === 1 ? [text] : text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length !== questions.length)
    return `there are ${questions.length} questions: reply with one line for each`;
  return {
    do: "reply",
    replies: questions.map((question, n) => createReply(lines[n]?.trim() ?? "", question)),
  };
}

/** Numbers choose options; anything else is a text of its own. */
function createReply(line: string, { options, isMultiple }: Question): readonly string[] {
  const numbers = /^\d+(?:\s*[,;\s]\s*\d+)*$/.test(line) ? line.split(/[,;\s]+/).map(Number) : [];
  const labels = numbers.map((number) => options[number - 1]?.label);
  const isChoice = labels.length > 0 && (labels.length === 1 || isMultiple);
  return isChoice && labels.every((label) => label !== undefined) ? (labels as string[]) : [line];
}
