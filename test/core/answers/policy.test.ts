/** The laws of answering, for every ask, every answer and every step. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { judgeAnswer, listOffers, minReadMsOf } from "../../../src/core/answers/policy.ts";
import { nameDenial } from "../../../src/core/answers/words.ts";
import type { Answer, AskDetails } from "../../../src/core/session/ask-details.ts";
import { createDetails } from "../session/ask-fixture.ts";
import { answerArbitrary, askedArbitrary, createStep, stepArbitrary } from "./fixture.ts";

const runs = { numRuns: 3_000 };
const everything = [askedArbitrary, answerArbitrary, stepArbitrary] as const;

test("a yes and a reply need all of the text, unmasked", () => {
  fc.assert(
    fc.property(...everything, (asked, answer, step) => {
      if (answer.do === "deny" || judgeAnswer(asked, answer, step).kind !== "allowed") return;
      expect([asked.isWhole, step.hasSecret]).toEqual([true, false]);
      const namesIt = ["command line", "API", "rule"].includes(step.front);
      expect(step.isWholeShown || namesIt).toBe(true);
    }),
    runs,
  );
});

test("what is marked is allowed once, after a second step, and never where there is none", () => {
  fc.assert(
    fc.property(...everything, (asked, answer, step) => {
      const isYes = answer.do === "allow" || answer.do === "always";
      if (asked.dangers.length === 0 || !isYes || judgeAnswer(asked, answer, step).kind !== "allowed") return;
      expect([answer.do, step.isConfirmed, step.refusesMarked]).toEqual(["allow", true, false]);
      expect(["notification", "rule"]).not.toContain(step.front);
    }),
    runs,
  );
});

test("nothing is answered before it can have been read", () => {
  fc.assert(
    fc.property(...everything, (asked, answer, step) => {
      if (judgeAnswer(asked, answer, step).kind !== "allowed" || step.shownMs === null) return;
      expect(step.shownMs).toBeGreaterThanOrEqual(minReadMsOf(step.front));
    }),
    runs,
  );
});

test("a denial is taken everywhere, once it can have been read; a rule never denies", () => {
  fc.assert(
    fc.property(askedArbitrary, stepArbitrary, (asked, step) => {
      const { kind } = judgeAnswer(asked, { do: "deny", message: null }, step);
      const isRead = step.shownMs === null || step.shownMs >= minReadMsOf(step.front);
      expect(kind).toBe(step.front === "rule" ? "refused" : isRead ? "allowed" : "too soon");
    }),
    runs,
  );
});

test("an answer that does not fit the ask is refused", () => {
  const permission = createDetails({ always: ["Always allow a"] });
  const question = createDetails({ kind: "question" });
  for (const [asked, answer] of [
    [permission, { do: "reply", replies: [["Red"]] }],
    [permission, { do: "always", choice: 1 }],
    [question, { do: "allow" }],
    [question, { do: "always", choice: 0 }],
  ] as const)
    expect(judgeAnswer(asked, answer, createStep("API"))).toEqual({ kind: "refused", why: "unfit" });
});

test("no rule allows an edit of a file that another session changes, and every user can let it wait", () => {
  fc.assert(
    fc.property(askedArbitrary, stepArbitrary, ({ questions: _, ...asked }, step) => {
      const shared: AskDetails = { ...asked, kind: "permission", questions: [], otherChangesAt: 0 };
      expect(judgeAnswer(shared, { do: "allow" }, { ...step, front: "rule" }).kind).toBe("refused");
      expect(nameDenial(shared)).toBe("Wait");
    }),
    runs,
  );
});

test("having seen or done less never allows more", () => {
  fc.assert(
    fc.property(...everything, (asked, answer, step) => {
      if (judgeAnswer(asked, answer, step).kind === "allowed") return;
      for (const less of [
        { isWholeShown: false },
        { isConfirmed: false },
        { hasSecret: true },
        { refusesMarked: true },
      ])
        expect(judgeAnswer(asked, answer, { ...step, ...less }).kind).not.toBe("allowed");
    }),
    runs,
  );
});

test("what may be offered is exactly what is allowed, at once or with a second step", () => {
  const examples: readonly Answer[] = [
    { do: "allow" },
    { do: "always", choice: 0 },
    { do: "deny", message: "no" },
    { do: "reply", replies: [["Red"]] },
  ];
  fc.assert(
    fc.property(askedArbitrary, stepArbitrary, (asked, { shownMs: _, ...rest }) => {
      const step = { ...rest, shownMs: null };
      const offers = listOffers(asked, step);
      for (const answer of examples) {
        const offer = offers.find((one) => one.do === answer.do);
        const { kind } = judgeAnswer(asked, answer, step);
        expect(offer?.needsConfirmation ?? null).toBe(
          kind === "refused" ? null : kind === "needs confirmation",
        );
        if (offer?.needsConfirmation)
          expect(judgeAnswer(asked, answer, { ...step, isConfirmed: true }).kind).toBe("allowed");
      }
    }),
    runs,
  );
});
