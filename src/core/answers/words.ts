/**
 * The words for answers and for how asks end: one text for one fact, in the log, the history, the page, the menu, channels and on
 * the command line.
 */
import type { Answer, AskDetails } from "../session/ask-details.ts";
import type { AskKind, Place } from "../session/event.ts";
import { findHost } from "../session/host.ts";
import { capitalize } from "../text/words.ts";
import { type AskEnding, endingOfAnswer } from "./ending.ts";
import type { RefusedVerdict } from "./policy.ts";

const approving: Readonly<Record<string, string>> = { plan: "approve", question: "answer" };
const denied: Readonly<Record<string, string>> = { plan: "sent back", question: "declined" };
const denying: Readonly<Record<string, string>> = { plan: "Send back", question: "Decline to answer" };

/** What became of a prompt: "Delivered", "Queued: it works: sent when this turn ends". */
export const formatPromptState = ({
  state,
  says,
}: {
  readonly state: string;
  readonly says: string;
}): string => `${capitalize(state)}${says === "" ? "" : `: ${says}`}`;

/** What a yes does: "allow", "approve" a plan, "answer" a question. */
export const nameApproval = (kind: AskKind): string => approving[kind] ?? "allow";

/** On a button: "Deny", "Send back", "Decline to answer", "Wait" where another session works on the same file. */
export const nameDenial = ({ kind, otherChangesAt }: Pick<AskDetails, "kind" | "otherChangesAt">): string =>
  otherChangesAt === undefined ? (denying[kind] ?? "Deny") : "Wait";

/** What the model is told if the user lets it wait, and has no other words for it. */
export const waitMessage =
  "wait until that change is committed. Work on something else meanwhile, and read the file again before you edit it";

/** It ended, and beckon did not see how. */
export const notSeen = "no longer waiting for you";

/** "allowed, and from now on", "sent back". `kind`: of the ask, also as the history names it. */
export function nameEnding(how: AskEnding, kind: string): string {
  switch (how) {
    case "allowed":
    case "approved":
      return how;
    case "always":
      return "allowed, and from now on";
    case "denied":
      return denied[kind] ?? "denied";
    // In the terminal, with words that beckon does not see.
    case "replied":
      return "answered";
    case "rule":
      return "allowed by your rule";
    case "dismissed":
      return notSeen;
  }
}

/** Where the user answered, if it was not through beckon. */
export const inTerminal = "in the terminal";
export const inEditor = "in the editor";
export const inApp = "in the app";

/** Where the session's own dialogs are. */
export function nameOwnPlace(place: Place | null): string {
  const host = findHost(place);
  if (host === null) return inTerminal;
  return host.kind === "editor" ? inEditor : inApp;
}

/** An ask went away with its session. */
export const sessionEnded = "the session ended";

interface AnswerWords {
  /** "denied" */
  readonly done: string;
  /** The message, the rule, what was replied. */
  readonly detail: string | null;
}

export function describeAnswer(
  answer: Answer,
  { kind, always }: Pick<AskDetails, "kind" | "always">,
): AnswerWords {
  const done = answer.do === "reply" ? "replied" : nameEnding(endingOfAnswer(answer, kind), kind);
  return { done, detail: detailOf(answer, always) };
}

function detailOf(answer: Answer, always: readonly string[]): string | null {
  switch (answer.do) {
    case "allow":
      return null;
    case "always":
      return always[answer.choice] ?? null;
    case "deny":
      return answer.message;
    case "reply":
      return answer.replies.map((labels) => labels.join(", ")).join(" / ");
  }
}

/** "denied: not on a Friday", "allowed, and from now on: Always allow npm test" */
export function formatAnswer(answer: Answer, asked: Pick<AskDetails, "kind" | "always">): string {
  const { done, detail } = describeAnswer(answer, asked);
  return detail === null ? done : `${done}: ${detail}`;
}

const hasPlace = (how: AskEnding): boolean => how !== "rule" && how !== "dismissed";

/** In a list: "allowed · menu". `where` as the history names it. */
export function formatEndingCell(how: AskEnding, kind: string, where: string | null): string {
  const done = nameEnding(how, kind);
  return where === null || where === "" || !hasPlace(how) ? done : `${done} · ${where}`;
}

const places: Readonly<Record<string, string>> = {
  terminal: inTerminal,
  editor: inEditor,
  app: inApp,
  menu: "from the menu",
  notification: "from the notification",
  "command line": "on the command line",
  page: "on the dashboard",
  "this page": "on this page",
  API: "through the API",
};

/** In the story of a session: "Allowed", and "by you, in the terminal". `detail` is what was replied, or a denial's message. */
export function describeEnding(
  how: AskEnding,
  kind: string,
  where: string | null,
  detail: string | null,
): { readonly done: string; readonly rest: string } {
  if (how === "rule")
    return { done: "Allowed at once", rest: `by your rule${detail === null ? "" : ` ${detail}`}` };
  const done = capitalize(nameEnding(how, kind));
  if (how === "dismissed") return { done, rest: "" };
  const by = where === null ? "" : Object.hasOwn(places, where) ? `by you, ${places[where]}` : `by ${where}`;
  // What is allowed from now on is a sentence of the agent's, and long.
  if (detail === null || how === "always") return { done, rest: by };
  if (how === "replied") return { done: `${done} “${detail}”`, rest: by };
  return { done, rest: by === "" ? `“${detail}”` : `${by}: “${detail}”` };
}

/** In a sentence: "allowed in the terminal", "denied by phone (@joe)" */
export function formatEnding(how: AskEnding, kind: AskKind, where: string | null): string {
  const done = nameEnding(how, kind);
  if (where === null || !hasPlace(how)) return done;
  const place = Object.hasOwn(places, where) ? places[where] : `by ${where}`;
  return `${done}${how === "always" ? "," : ""} ${place}`;
}

export const tooSoon = "that was too quick: read it, then answer again";
export const notWhole = "not all of it can be shown here: look at it in the terminal";

/** Why an answer is not taken. `answer` is what was tried. */
export function explainVerdict(
  verdict: RefusedVerdict,
  asked: Pick<AskDetails, "kind" | "dangers" | "always" | "isWhole">,
  answer: Answer,
): string {
  const { kind, dangers } = asked;
  const [danger = ""] = dangers;
  switch (verdict.kind) {
    case "too soon":
      return tooSoon;
    case "needs confirmation":
      return danger === ""
        ? "this needs a second yes"
        : `this request is marked: ${danger}. To allow it all the same, add "confirmed": true`;
    case "refused":
      break;
  }
  const atDesk = `so you can only ${nameApproval(kind)} it at your desk`;
  switch (verdict.why) {
    case "unfit":
      return explainUnfit(asked, answer);
    case "not here":
      return "this cannot be answered this way from here";
    case "masked":
      return `a secret in it is masked here, ${atDesk}`;
    case "not whole":
    case "not shown":
      return notWhole;
    case "marked":
      return `it is marked as dangerous, ${answer.do === "always" ? "so it can only be allowed once" : atDesk}`;
  }
}

/** Why the answer does not fit what is asked. */
export function explainUnfit(
  { kind, always, isWhole }: Pick<AskDetails, "kind" | "always" | "isWhole">,
  answer: Answer,
): string {
  if (kind === "question") return "a question needs an answer: choose an option or write one";
  if (answer.do === "reply")
    return kind === "plan"
      ? "a plan is approved, or sent back with a message"
      : "this is not a question: allow it or deny it";
  if (kind === "plan") return "a plan can be approved once, but not for good";
  if (!isWhole) return notWhole;
  if (always.length === 0) return "the agent offers nothing here that could be allowed for good";
  return `there is no such choice: the agent offers ${always.length === 1 ? "one" : always.length} to allow for good`;
}
