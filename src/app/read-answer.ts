/** An answer as a request gives it: read, and handed to the one place that can send it. */

import type { PendingRequests } from "../answers/pending.ts";
import { limits } from "../core/limits.ts";
import type { Answer } from "../core/session/ask-details.ts";
import type { Session } from "../core/session/session.ts";

type Given = Readonly<Record<string, unknown>>;

/** Who may call themselves so: for the log, not for what they may do. */
const callers: ReadonlySet<string> = new Set(["command line", "notification", "tray", "page"]);

export function answerFromRequest(
  held: Pick<PendingRequests, "answer">,
  session: Session,
  given: Given,
): Promise<object | string> {
  const { ask, by } = given;
  const answer = readAnswer(given);
  if (typeof answer === "string") return Promise.resolve(answer);
  if (typeof ask !== "string" || ask === "")
    return Promise.resolve("ask must be the answerId of an open ask, as GET /api/sessions lists it");
  return held.answer(session, ask, answer, typeof by === "string" && callers.has(by) ? by : "API");
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= limits.maxAnswerLength;

/** A text: what is wrong with it. */
function readAnswer({ do: deed, choice = 0, message = null, replies }: Given): Answer | string {
  switch (deed) {
    case "allow":
      return { do: deed };
    case "always":
      if (typeof choice !== "number" || !Number.isInteger(choice) || choice < 0)
        return "choice must be the place in the ask's list of what can always be allowed, from 0";
      return { do: deed, choice };
    case "deny":
      if (message !== null && !isText(message))
        return `message must be a text of at most ${limits.maxAnswerLength} characters`;
      return { do: deed, message: message === null || message.trim() === "" ? null : message };
    case "reply":
      if (!isReplies(replies))
        return 'replies must be a list with a list of texts for each question, like [["Red"], ["A", "B"]]';
      return { do: deed, replies };
    default:
      return 'do must be "allow", "always", "deny" or "reply"';
  }
}

function isReplies(value: unknown): value is string[][] {
  const isReply = (texts: unknown) =>
    Array.isArray(texts) && texts.length > 0 && texts.length <= limits.maxOptions && texts.every(isText);
  return (
    Array.isArray(value) && value.length > 0 && value.length <= limits.maxOptions && value.every(isReply)
  );
}
