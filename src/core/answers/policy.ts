/**
 * Who may answer what, where and how: the one policy that every front asks before it offers an answer, and that decides before an
 * answer becomes a decision. Beside it, words.ts has the words for answers and endings.
 */
import type { Answer, AskDetails } from "../session/ask-details.ts";
import { timing } from "../timing.ts";

/** "list" is `beckon status --watch`; "API" also stands for a command line that no user sits at. */
export type AnswerFront =
  | "notification"
  | "menu"
  | "command line"
  | "list"
  | "page"
  | "channel"
  | "API"
  | "rule";

/** What the user saw and did before this answer. */
export interface AnswerStep {
  readonly front: AnswerFront;
  /** Who answers, for the log. The front's name if absent. */
  readonly by?: string;
  /** All of the request was on the screen, with all of its warnings. */
  readonly isWholeShown: boolean;
  /** How long that was there, or the question for the second step. null if unknown. */
  readonly shownMs: number | null;
  /** The user has taken the second, deliberate step. */
  readonly isConfirmed: boolean;
  /** A secret is masked in what was shown, so it is not exactly what would run. */
  readonly hasSecret?: boolean;
  /** The user's settings keep what is marked away from there. */
  readonly refusesMarked?: boolean;
  /** The user's settings let it be allowed for good from there, where it otherwise is not. */
  readonly takesAlways?: boolean;
}

/** An AnswerStep with only the given facts set. */
export const createStep = (front: AnswerFront, more: Partial<AnswerStep> = {}): AnswerStep => ({
  front,
  isWholeShown: false,
  shownMs: null,
  isConfirmed: false,
  ...more,
});

/** Why an answer cannot be given there, whatever the user does. */
export type Refusal =
  /** It does not answer this: a reply to a permission. The agent says what would. */
  | "unfit"
  /** The front does not take it: no rule approves a plan. */
  | "not here"
  | "masked"
  /** Nobody can show all of it. */
  | "not whole"
  /** This front has not shown all of it. */
  | "not shown"
  | "marked";

export type AnswerVerdict =
  | { readonly kind: "allowed" }
  | { readonly kind: "needs confirmation" }
  | { readonly kind: "too soon" }
  | { readonly kind: "refused"; readonly why: Refusal };

export type RefusedVerdict = Exclude<AnswerVerdict, { kind: "allowed" }>;

interface FrontRules {
  readonly answers: readonly Answer["do"][];
  /** The front itself shows the request. Elsewhere the user names it, after reading it in another place. */
  readonly showsRequest: boolean;
  /** What needs a second step there. "none": there is no second step, so what is marked is refused. */
  readonly confirms: "none" | "marked" | "marked or long";
  /** A user who answers sooner after it appeared has not read it, or meant what was there before. */
  readonly minReadMs: number;
  readonly onlyPermissions?: true;
  /** The user wants to be asked whether two sessions may work on one file. */
  readonly keepsFilesApart?: true;
}

const all = ["allow", "always", "deny", "reply"] as const;
const withoutAlways = ["allow", "deny", "reply"] as const;
const { minReadMs } = timing;

const fronts: Readonly<Record<AnswerFront, FrontRules>> = {
  notification: { answers: withoutAlways, showsRequest: true, confirms: "none", minReadMs },
  menu: { answers: all, showsRequest: true, confirms: "marked", minReadMs },
  "command line": { answers: all, showsRequest: false, confirms: "marked or long", minReadMs: 0 },
  list: { answers: withoutAlways, showsRequest: true, confirms: "marked or long", minReadMs },
  // Cards come and go by themselves, under the pointer.
  page: { answers: all, showsRequest: true, confirms: "marked", minReadMs: 2 * minReadMs },
  channel: { answers: withoutAlways, showsRequest: true, confirms: "marked", minReadMs },
  API: { answers: all, showsRequest: false, confirms: "marked", minReadMs: 0 },
  rule: {
    answers: ["allow"],
    showsRequest: false,
    confirms: "none",
    minReadMs: 0,
    onlyPermissions: true,
    keepsFilesApart: true,
  },
};

export const minReadMsOf = (front: AnswerFront): number => fronts[front].minReadMs;

export const isTooSoon = ({ front, shownMs }: Pick<AnswerStep, "front" | "shownMs">): boolean =>
  shownMs !== null && shownMs < minReadMsOf(front);

const isMarked = ({ dangers }: AskDetails): boolean => dangers.length > 0;

/** Nobody should approve a plan, or several lines, by habit. */
const isLong = ({ kind, lines }: AskDetails): boolean => kind === "plan" || lines.length > 1;

const refuse = (why: Refusal): AnswerVerdict => ({ kind: "refused", why });

/** May this be answered this way, after this step? */
export function judgeAnswer(asked: AskDetails, answer: Answer, step: AnswerStep): AnswerVerdict {
  const { answers, onlyPermissions, keepsFilesApart } = fronts[step.front];
  if (!isAnswerTo(asked, answer)) return refuse("unfit");
  const isTaken = answers.includes(answer.do) || (answer.do === "always" && step.takesAlways === true);
  if (!isTaken || (onlyPermissions && asked.kind !== "permission")) return refuse("not here");
  if (keepsFilesApart && asked.otherChangesAt !== undefined) return refuse("not here");
  // Denying needs no more than to know that something was asked.
  const why = answer.do === "deny" ? null : findRefusal(asked, answer, step);
  if (why !== null) return refuse(why);
  if (isTooSoon(step)) return { kind: "too soon" };
  return needsConfirmation(asked, answer, step) ? { kind: "needs confirmation" } : { kind: "allowed" };
}

/** Whether it is an answer to what is asked at all, from any front. */
export function isAnswerTo({ kind, always }: Pick<AskDetails, "kind" | "always">, answer: Answer): boolean {
  if (answer.do === "deny") return true;
  if (kind === "question" || answer.do === "reply") return kind === "question" && answer.do === "reply";
  return answer.do === "allow" || always[answer.choice] !== undefined;
}

function findRefusal(asked: AskDetails, answer: Answer, step: AnswerStep): Refusal | null {
  const { showsRequest, confirms } = fronts[step.front];
  if (step.hasSecret) return "masked";
  if (!asked.isWhole) return "not whole";
  if (showsRequest && !step.isWholeShown) return "not shown";
  // A rule for the future is not a second step for one request.
  const isRefused = confirms === "none" || step.refusesMarked || answer.do === "always";
  return isMarked(asked) && isRefused ? "marked" : null;
}

function needsConfirmation(asked: AskDetails, answer: Answer, { front, isConfirmed }: AnswerStep): boolean {
  // A denial and a reply run nothing.
  if (isConfirmed || answer.do === "deny" || answer.do === "reply") return false;
  return isMarked(asked) || (fronts[front].confirms === "marked or long" && isLong(asked));
}

/** An answer that a front may offer. */
export interface Offer {
  readonly do: Answer["do"];
  readonly needsConfirmation: boolean;
}

const examples: readonly Answer[] = [
  { do: "allow" },
  { do: "always", choice: 0 },
  { do: "reply", replies: [] },
  { do: "deny", message: null },
];

/** What a front may offer now. It can be offered before it may be taken: nobody has read it yet. */
export function listOffers(asked: AskDetails, step: AnswerStep): readonly Offer[] {
  return examples.flatMap((answer) => {
    const { kind } = judgeAnswer(asked, answer, { ...step, shownMs: null });
    if (kind !== "allowed" && kind !== "needs confirmation") return [];
    return [{ do: answer.do, needsConfirmation: kind === "needs confirmation" }];
  });
}

export const findOffer = (offers: readonly Offer[], answer: Answer["do"]): Offer | null =>
  offers.find((offer) => offer.do === answer) ?? null;
