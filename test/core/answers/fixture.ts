/** What a user saw and did before an answer. */
import type { AnswerFront, AnswerStep } from "../../../src/core/answers/policy.ts";

export const createStep = (front: AnswerFront, more: Partial<AnswerStep> = {}): AnswerStep => ({
  front,
  isWholeShown: true,
  shownMs: null,
  isConfirmed: false,
  ...more,
});
