import { createHash } from "node:crypto";
import type { Ask } from "./session.ts";

/**
 * What an answer calls its ask. Counted alone (`5e55109e-3`) it could be another dialog's: after a late event the story is
 * told anew, and after a lost snapshot counted anew. With the request in it, it is this one or none, and nobody guesses it.
 */
export function answerIdOf({ id, request }: Pick<Ask, "id" | "request">): string {
  if (request === null) return id;
  return `${id}.${createHash("sha256").update(request).digest("hex").slice(0, 16)}`;
}
