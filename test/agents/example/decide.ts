/** The only place that writes the made-up agent's decisions. */
import type { Answer } from "../../../src/core/session/ask-details.ts";

export function createDecision(_payload: unknown, answer: Answer): object | string {
  if (answer.do === "allow") return { reply: "yes" };
  if (answer.do !== "deny") return "allow it or deny it";
  return { reply: "no", ...(answer.message ? { text: answer.message } : {}) };
}
