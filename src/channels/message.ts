/** What a channel shows of an alert, by its level of detail, and which answers its buttons give. Pure. */
import type { ChannelSettings } from "../core/config/channels.ts";
import type { Answer, AskDetails, Question } from "../core/session/ask-details.ts";
import { sessionKeyOf } from "../core/session/keys.ts";
import { projectOf } from "../core/session/session.ts";
import { dangerMark } from "../core/session/texts.ts";
import { joinRows } from "../core/text/fit.ts";
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";
import { branchOf } from "../core/view/session-names.ts";
import type { AskEnding } from "../core/wire.ts";
import type { ChannelMessage, Service } from "./channel.ts";

/** What a button or a reply means. Only this is saved, so an option is named by its place. */
export type ResponseMeaning =
  | { readonly do: "allow" }
  /** The first of two taps that allow something dangerous. */
  | { readonly do: "confirm" }
  | { readonly do: "deny" }
  | { readonly do: "option"; readonly index: number }
  | { readonly do: "text" }
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
}

export interface MessageInput {
  readonly cause: JudgedCause;
  readonly settings: ChannelSettings;
  readonly service: Pick<Service, "fits" | "maxButtons">;
  /** Answers are taken from this channel. */
  readonly isAnswering: boolean;
  /** Without secrets; null if the ask cannot be answered from outside of the terminal. */
  readonly details: AskDetails | null;
  /** Secrets in it are masked. */
  readonly hasSecret: boolean;
  /** The first of two taps was made. */
  readonly isConfirming: boolean;
  readonly formatTime: (at: number) => string;
  readonly mask: (text: string) => string;
}

const urgencies = {
  blocked: "urgent",
  failed: "normal",
  idle: "low",
  finished: "low",
  untracked: "low",
} as const;
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
    urgency: urgencies[cause.kind],
    isFinal: false,
    buttons: [],
    replyHint: null,
  };
  switch (settings.detail) {
    case "minimal":
      return { ...base, title: `${project} ${minimalTexts[cause.kind]}`, lines: [] };
    case "summary": {
      const { title } = cause.formatText({ project, difference: "" }, when);
      return { ...base, title, lines: [`since ${when}`] };
    }
    case "full":
      return { ...base, ...createFullText(input, when) };
  }
}

const minimalTexts = {
  blocked: "needs you",
  failed: "has stopped",
  idle: "is ready",
  finished: "is ready",
  untracked: "edits without a port",
} as const;

type FullText = Pick<MessageDraft, "title" | "lines" | "buttons" | "replyHint">;

function createFullText(input: MessageInput, when: string): FullText {
  const { cause, details, isAnswering, mask } = input;
  const text = cause.formatText(cause.name, when);
  const title = mask(text.title);
  if (details === null || cause.ask === null) {
    const hint = isAnswering && cause.kind === "blocked" ? ["Answer it in the terminal."] : [];
    return { title, lines: [...mask(text.body).split("\n"), ...hint], buttons: [], replyHint: null };
  }
  const exact = joinRows(listExactLines(details));
  // Once more: what is shown differs from the payload, and a secret may look like one only there.
  const masked = mask(exact.join("\n")).split("\n");
  const hasSecret = input.hasSecret || masked.join("\n") !== exact.join("\n");
  const dangers = details.dangers.map((danger) => mask(dangerMark + danger));
  const lines = [...dangers, ...masked, formatContext(input, when)];
  if (!isAnswering) return { title, lines, buttons: [], replyHint: null };

  const offers = createOffers(input, details);
  const complete: FullText = { title, lines: [...offers.question, ...lines], ...offers };
  const reason = findReasonAgainst(input, details, hasSecret, complete);
  if (reason === null) return complete;
  // Denying needs no more than to know that something was asked.
  const isDenied = ({ meaning }: DraftButton) => meaning.do === "deny";
  return {
    title,
    lines: [...lines, reason],
    buttons: offers.buttons.filter(isDenied),
    replyHint: details.kind === "question" ? null : offers.replyHint,
  };
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
function findReasonAgainst(
  { settings, service, cause }: MessageInput,
  details: AskDetails,
  hasSecret: boolean,
  text: FullText,
): string | null {
  const verb = details.kind === "question" ? "answer" : details.kind === "plan" ? "approve" : "allow";
  if (hasSecret) return `A secret in it is masked here, so you can only ${verb} it at your desk.`;
  const message = addReferences({ ...text, ...emptyDraft, key: cause.key }, () =>
    "x".repeat(referenceLength),
  );
  if (!details.isWhole || !service.fits(message))
    return `It is too long to ${verb} from here: look at it in the terminal.`;
  if (details.dangers.length > 0 && settings.answers !== "all")
    return `It is marked as dangerous, so you can only ${verb} it at your desk.`;
  return null;
}

const emptyDraft = { session: "", urgency: "urgent", isFinal: false } as const;
const referenceLength = 22;

interface Offers extends Pick<MessageDraft, "buttons" | "replyHint"> {
  /** Shown above the text. */
  readonly question: readonly string[];
}

function createOffers({ isConfirming, service }: MessageInput, details: AskDetails): Offers {
  const deny = (label: string): DraftButton => ({ label, style: "deny", meaning: { do: "deny" } });
  const allow = (label: string, meaning: ResponseMeaning): DraftButton => ({
    label,
    style: "allow",
    meaning,
  });
  switch (details.kind) {
    case "question":
      return { question: [], ...createQuestionOffers(details.questions, service.maxButtons) };
    case "plan":
      return {
        question: [],
        buttons: [allow("Approve", { do: "allow" }), deny("Send back")],
        replyHint: "Reply with text to send it back.",
      };
    default: {
      const replyHint = details.takesNoReason ? null : "Reply with a reason to deny it.";
      if (details.dangers.length === 0)
        return { question: [], buttons: [allow("Allow", { do: "allow" }), deny("Deny")], replyHint };
      return isConfirming
        ? {
            question: ["Really allow this?"],
            buttons: [allow("Yes, allow it", { do: "allow" }), deny("Deny")],
            replyHint,
          }
        : { question: [], buttons: [allow("Allow…", { do: "confirm" }), deny("Deny")], replyHint };
    }
  }
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
  const { buttons, replyHint, ...rest } = draft;
  return {
    ...rest,
    buttons: buttons.map(({ label, style, meaning }) => ({
      label,
      style,
      reference: createReference(meaning),
    })),
    replyReference: replyHint === null ? null : createReference({ do: "text" }),
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

const endings: Readonly<Record<AskEnding, string>> = {
  allowed: "Allowed",
  always: "Allowed for good",
  denied: "Denied",
  replied: "Answered",
  approved: "Approved",
  rule: "Allowed by a rule of yours",
  dismissed: "No longer waiting for you",
};

const places: Readonly<Record<string, string>> = {
  terminal: "in the terminal",
  menu: "from the menu",
  notification: "from the notification",
  "command line": "on the command line",
  page: "on the dashboard",
  API: "through the API",
};

/** "Allowed in the terminal", "Denied by phone (@joe)" */
export function formatEnding(how: AskEnding, where: string | null): string {
  if (where === null || how === "rule" || how === "dismissed") return endings[how];
  return `${endings[how]} ${Object.hasOwn(places, where) ? places[where] : `by ${where}`}`;
}

export const unknownEnding = endings.dismissed;

/** The answer that a response gives; a text says why it is none. */
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
