/** Asks, answers, and what a user saw and did before. */
import fc from "fast-check";
import {
  type AnswerFront,
  type AnswerStep,
  createStep as createBareStep,
} from "../../../src/core/answers/policy.ts";
import type { Answer, AskDetails } from "../../../src/core/session/ask-details.ts";
import { detailsArbitrary } from "../session/ask-fixture.ts";

/** A step after everything was shown. */
export const createStep = (front: AnswerFront, more: Partial<AnswerStep> = {}): AnswerStep =>
  createBareStep(front, { isWholeShown: true, ...more });

/** Any ask, also with dangers in what has none today. */
export const askedArbitrary: fc.Arbitrary<AskDetails> = fc
  .record({
    asked: detailsArbitrary,
    dangers: fc.array(fc.constantFrom("deletes (rm)", "becomes root"), { maxLength: 2 }),
  })
  .map(({ asked, dangers }) => ({ ...asked, dangers }));

export const answerArbitrary: fc.Arbitrary<Answer> = fc.oneof(
  fc.constant<Answer>({ do: "allow" }),
  fc.nat({ max: 3 }).map((choice): Answer => ({ do: "always", choice })),
  fc.constantFrom(null, "no").map((message): Answer => ({ do: "deny", message })),
  fc.constant<Answer>({ do: "reply", replies: [["Red"]] }),
);

/** Rare, so that most steps fail by one thing only, or by none. */
const rarely = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);

export const stepArbitrary: fc.Arbitrary<AnswerStep> = fc.record({
  front: fc.constantFrom<AnswerFront>(
    "notification",
    "menu",
    "command line",
    "list",
    "page",
    "channel",
    "API",
    "rule",
  ),
  isWholeShown: rarely.map((isPart) => !isPart),
  shownMs: fc.constantFrom(null, 499, 500, 999, 1_000),
  isConfirmed: fc.boolean(),
  hasSecret: rarely,
  refusesMarked: rarely,
});
