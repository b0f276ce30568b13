/** What each front offers is what the policy allows, for every ask: no front has a rule of its own. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createDraft, createExactText, type MessageInput } from "../../../src/channels/message.ts";
import { choicesOf } from "../../../src/cli/answer.ts";
import type { Effect } from "../../../src/cli/watch/update.ts";
import { type AnswerStep, judgeAnswer, listOffers } from "../../../src/core/answers/policy.ts";
import type { ChannelSettings } from "../../../src/core/config/channels.ts";
import type { UserAction } from "../../../src/core/config/user-action.ts";
import type { AskDetails } from "../../../src/core/session/ask-details.ts";
import type { Ask } from "../../../src/core/session/session.ts";
import type { JudgedCause } from "../../../src/core/view/alerts/alerts.ts";
import { formatAskAlert } from "../../../src/core/view/alerts/text.ts";
import { createAnswerEntries } from "../../../src/core/view/menu/answer-entries.ts";
import { offersOf } from "../../../src/dashboard/page/offers.ts";
import { answerable, asks, openScreen } from "../../cli/watch/harness.ts";
import { ask, blocked, minute } from "../view/menu/fixture.ts";
import { askedArbitrary, createStep } from "./fixture.ts";

const runs = { numRuns: 300 };

/** "allow", or "allow…" if it takes a second step. */
const allowed = (asked: AskDetails, step: AnswerStep): string[] =>
  listOffers(asked, step).map((offer) => (offer.needsConfirmation ? `${offer.do}…` : offer.do));

/** What clicks on these would do. Each click is one that the policy takes. */
function offered(asked: AskDetails, actions: readonly (UserAction | null)[]): string[] {
  const found = actions.flatMap((action) => {
    if (action?.do === "confirm") return ["allow…"];
    if (action?.do !== "answer") return [];
    expect(judgeAnswer(asked, action.answer, action.step).kind).toBe("allowed");
    return [action.answer.do];
  });
  return [...new Set(found)];
}

const stepOf = (actions: readonly (UserAction | null)[]): AnswerStep | null =>
  actions.map((action) => (action?.do === "answer" ? action.step : null)).find((step) => step !== null) ??
  null;

const open: Ask = ask(4 * minute, { request: "event-1" });
const session = blocked("shop", 4 * minute, { asks: [open] });

test("the menu", () => {
  fc.assert(
    fc.property(askedArbitrary, fc.boolean(), (details, isConfirming) => {
      const items = createAnswerEntries({ session: "claude:a", ask: open, details, isConfirming });
      const entries = items.flatMap((item) => (item.kind === "entry" ? [item] : []));
      const actions = entries.map(({ action }) => action);
      const found = offered(details, actions);
      // Deny is always there, and says what the menu shows.
      const step = stepOf(actions) ?? createStep("menu");
      expect([step.front, step.isConfirmed]).toEqual(["menu", isConfirming]);
      const policy = allowed(details, step);
      for (const offer of found) expect(policy).toContain(offer);
      const hasCommand = entries.some(
        ({ action, label }) => action === null && label.includes("beckon answer"),
      );
      // Options and rules that do not fit into a row are left to a command, which the menu names.
      const missing = policy.filter((offer) => !found.includes(offer));
      for (const offer of missing) expect(["always", "reply"]).toContain(offer);
      expect(missing.length === 0 || hasCommand).toBe(true);
      // What approves must go if the place cannot show all of it.
      for (const { action, needsAll } of entries) {
        const isDeny = action?.do === "answer" && action.answer.do === "deny";
        const isYes = action?.do === "confirm" || (action?.do === "answer" && !isDeny);
        expect(needsAll === true).toBe(isYes);
      }
    }),
    runs,
  );
});

test("a notification", () => {
  fc.assert(
    fc.property(askedArbitrary, (details) => {
      const asking = { ...open, kind: details.kind };
      const { buttons = [], isExact = false } = formatAskAlert(
        asking,
        session,
        { project: "shop", difference: "" },
        "14:20",
        {
          details,
          home: "",
        },
      );
      const actions = buttons.map(({ action }) => action);
      const found = offered(details, actions);
      const policy = allowed(details, stepOf(actions) ?? createStep("notification", { isWholeShown: false }));
      for (const offer of found) expect(policy).toContain(offer);
      // A question's buttons are its options, if they fit; a plan is sent back only beside Approve.
      const isPermission = details.kind === "permission";
      if (isPermission) expect(stepOf(actions)?.isWholeShown).toBe(isExact);
      const missing = policy.filter((offer) => !found.includes(offer));
      expect(isPermission ? missing : missing.filter((offer) => offer === "allow")).toEqual([]);
    }),
    runs,
  );
});

test("a channel", () => {
  const input = fc.record({
    fits: fc.boolean(),
    hasSecret: fc.boolean(),
    answers: fc.constantFrom("safe", "all"),
    confirmingMs: fc.constantFrom(null, 100, 5_000),
  });
  fc.assert(
    fc.property(askedArbitrary, input, (details, { fits, hasSecret, answers, confirmingMs }) => {
      const message: MessageInput = {
        cause: {
          key: "claude:a#1",
          kind: "blocked",
          ask: open,
          since: { at: 0, t: 0 },
          session,
          name: { project: "shop", difference: "" },
          formatText: () => ({ title: "shop asks", body: "" }),
        } as unknown as JudgedCause,
        settings: { detail: "full", answers } as ChannelSettings,
        service: { fits: () => fits, hasAccounts: true, maxButtons: 3 },
        isAnswering: true,
        takesPrompt: false,
        details,
        hasSecret,
        confirmingMs,
        formatTime: () => "14:20",
        mask: (text) => text,
      };
      const { step } = createExactText(message, details);
      expect(step).toMatchObject({
        front: "channel",
        isWholeShown: details.isWhole && fits,
        hasSecret,
        refusesMarked: answers === "safe",
        isConfirmed: confirmingMs !== null,
      });
      const { buttons, replyHint } = createDraft(message);
      const meanings = buttons.map(({ meaning }) =>
        meaning.do === "confirm" ? "allow…" : meaning.do === "option" ? "reply" : meaning.do,
      );
      const byText = replyHint === null ? [] : [details.kind === "question" ? "reply" : "deny"];
      const found = new Set([...meanings, ...byText]);
      // A question is declined at the desk.
      const policy = allowed(details, step).filter(
        (offer) => details.kind !== "question" || offer !== "deny",
      );
      expect([...found].sort()).toEqual([...policy].sort());
    }),
    runs,
  );
});

test("the command line", () => {
  fc.assert(
    fc.property(askedArbitrary, (asked) => {
      const words = choicesOf(asked).map(([text]) => text.split(" ")[0] ?? "");
      const isWord = (word: string) => ["allow", "always", "deny"].includes(word);
      const isBack = asked.kind === "plan";
      const found = words.map((word) => (isWord(word) ? word : isBack ? "deny" : "reply"));
      const policy = listOffers(asked, createStep("command line")).map((offer) => offer.do);
      expect([...new Set(found)].sort()).toEqual([...policy].sort());
    }),
    runs,
  );
});

describe("status --watch", () => {
  const answersOf = (effects: readonly Effect[]) =>
    effects.flatMap((effect) => (effect.do === "answer" ? [effect] : []));

  test("a key in the list answers only what the policy takes at once", () => {
    fc.assert(
      fc.property(askedArbitrary, fc.constantFrom("a", "d"), (asked, key) => {
        const screen = openScreen([asks("shop", answerable("one", asked))]);
        screen.press(key);
        for (const { answer, step } of answersOf(screen.effects)) {
          expect(step.isConfirmed).toBe(false);
          expect(judgeAnswer(asked, answer, step).kind).toBe("allowed");
        }
        const isYes = allowed(asked, createStep("list")).includes("allow");
        if (key === "a" && !isYes) expect(answersOf(screen.effects)).toEqual([]);
      }),
      runs,
    );
  });

  test("a key below the full text gives every answer that the policy takes, and no other", () => {
    fc.assert(
      fc.property(askedArbitrary, fc.constantFrom("y", "d", "1"), (asked, key) => {
        // Of two asks, the user opens one.
        const screen = openScreen([asks("shop", answerable("one", asked), answerable("two"))], {
          columns: 80,
          rows: 400,
        });
        screen.press("a", key);
        const given = answersOf(screen.effects).map(({ answer }) => answer.do);
        const policy = allowed(asked, createStep("list", { isConfirmed: true }));
        const [only, ...others] = asked.questions;
        const isOneKey =
          only !== undefined && others.length === 0 && !only.isMultiple && only.options.length > 0;
        const wanted = { y: ["allow"], d: ["deny"], 1: isOneKey ? ["reply"] : [] }[key] ?? [];
        expect(given as string[]).toEqual(wanted.filter((offer) => policy.includes(offer)));
        for (const { answer, step } of answersOf(screen.effects))
          expect(judgeAnswer(asked, answer, step).kind).toBe("allowed");
      }),
      runs,
    );
  });
});

test("the page", () => {
  fc.assert(
    fc.property(askedArbitrary, fc.boolean(), (asked, isWholeShown) => {
      const { allow, rules, canReply } = offersOf(asked, isWholeShown);
      const found = [
        ...(allow ? [allow.needsConfirmation ? "allow…" : "allow"] : []),
        ...(rules.length > 0 ? ["always"] : []),
        ...(canReply ? ["reply"] : []),
        "deny",
      ];
      expect(found).toEqual(allowed(asked, createStep("page", { isWholeShown })));
    }),
    runs,
  );
});
