/** Which answers a card offers. Pure. */
import { createStep, findOffer, listOffers, type Offer } from "../../core/answers/policy.ts";
import type { AskDetails } from "../../core/session/ask-details.ts";

export interface CardOffers {
  readonly allow: Offer | null;
  /** What can be allowed from now on. */
  readonly rules: readonly string[];
  readonly canReply: boolean;
}

export function offersOf(asked: AskDetails, isWholeShown: boolean): CardOffers {
  const offers = listOffers(asked, createStep("page", { isWholeShown }));
  return {
    allow: findOffer(offers, "allow"),
    rules: findOffer(offers, "always") ? asked.always : [],
    canReply: findOffer(offers, "reply") !== null,
  };
}
