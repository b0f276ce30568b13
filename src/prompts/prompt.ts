/** A prompt that the user has written for a session, until it is known what became of it. Pure. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { listRecords } from "../core/json.ts";
import { limits } from "../core/limits.ts";

const text = Type.String({ minLength: 1, maxLength: limits.maxSentPromptLength });
const wallTime = Type.Number();

export const PromptSchema = Type.Object({
  id: Type.String({ pattern: "^[0-9a-f]{8}$" }),
  /** The session's key. */
  session: Type.String({ minLength: 1, maxLength: 2 * limits.maxIdLength }),
  text,
  /** Who wrote it: "command line", "page". */
  by: Type.String({ maxLength: limits.maxIdLength }),
  createdAt: wallTime,
  notBefore: Type.Union([wallTime, Type.Null()]),
  /** Only when the user's quota allows it. */
  waitsForQuota: Type.Boolean(),
  /**
   * - queued: it is sent when the session can take it.
   * - sent: handed to the agent, which has not confirmed it.
   * - delivered: the agent has reported it as its prompt.
   * - not taken: the agent did not take it. The user decides.
   * - unknown: beckon ended before the agent confirmed it. It is not sent again by itself.
   */
  state: Type.Union(
    (["queued", "sent", "delivered", "not taken", "unknown"] as const).map((state) => Type.Literal(state)),
  ),
  /** Since when it is in this state. */
  since: wallTime,
  /** Why it was not taken. */
  why: Type.Union([Type.String(), Type.Null()]),
});

export type Prompt = Readonly<Static<typeof PromptSchema>>;

/** What the user chooses. */
type PromptTiming = Pick<Prompt, "notBefore" | "waitsForQuota"> & {
  /** Refused at once if something is asked of the user, instead of waiting for it. */
  readonly isNow: boolean;
};

export interface NewPrompt extends PromptTiming {
  readonly id: string;
  readonly text: string;
  readonly by: string;
}

/** `session` is the session's key. */
export const createPrompt = (
  session: string,
  { id, text, by, notBefore, waitsForQuota }: NewPrompt,
  at: number,
): Prompt => ({
  id,
  session,
  text,
  by,
  createdAt: at,
  notBefore,
  waitsForQuota,
  state: "queued",
  since: at,
  why: null,
});

/** The prompts of a file, without those that are not valid. */
export const readPrompts = (value: unknown): readonly Prompt[] =>
  listRecords(value).filter((entry): entry is Prompt => Value.Check(PromptSchema, entry));

export const isOver = ({ state }: Prompt): boolean => state === "delivered";
/** The user has to decide what becomes of it, and of those behind it. */
export const isStuck = ({ state }: Prompt): boolean => state === "not taken" || state === "unknown";

/** What is wrong with a text; null if it can be sent. Control characters would act on the terminal that shows them. */
export function findTextProblem(value: unknown): string | null {
  if (typeof value !== "string" || value.trim() === "") return "there is no text to send";
  if (value.length > limits.maxSentPromptLength)
    return `the text is longer than ${limits.maxSentPromptLength} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  return /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(value.replaceAll("\r\n", "\n"))
    ? "the text contains control characters"
    : null;
}

/** What hooks report of a prompt can be cut or masked. */
export function isReceiptOf(reported: string, sent: string): boolean {
  const [a, b] = [normalize(reported), normalize(sent)];
  const start = a.replace(/…$/, "");
  const isCut = start !== "" && (start !== a || a.length >= minCutLength);
  return a !== "" && (a === b || (isCut && b.startsWith(start)));
}

/** What is shorter than this was not cut. */
const minCutLength = 1_500;
const normalize = (value: string): string => value.replaceAll(/\s+/g, " ").trim();
