/** Protects answers in the menu from two mistakes: a click on what has just changed, and one click that allows something dangerous. */
import { isTooSoon } from "../../core/answers/policy.ts";
import { tooSoon } from "../../core/answers/words.ts";
import type { UserAction } from "../../core/config/user-action.ts";
import type { Moment } from "../../core/session/event.ts";
import { capitalize } from "../../core/text/words.ts";
import { minuteMs } from "../../core/timing.ts";
import type { MenuItem } from "../../core/view/view.ts";

export interface ClickCheckOptions {
  readonly clock: () => Moment;
  /** Shows the user a short message. */
  readonly showMessage: (title: string, text: string) => void;
  readonly refresh: () => void;
}

export interface ClickCheck {
  /** The answer id of the ask that has to be confirmed now; null if there is none. */
  confirming(now: Moment): string | null;
  /** Wall time at which `confirming` changes by itself; null if it does not. */
  nextChange(now: Moment): number | null;
  /** The menu shows these items now. */
  onShown(items: readonly MenuItem[], now: Moment): void;
  /** Returns what the app should do after this click; null if nothing. */
  accept(action: UserAction): UserAction | null;
}

/** How long the second click is awaited. */
const confirmMs = minuteMs;

export function createClickCheck({ clock, showMessage, refresh }: ClickCheckOptions): ClickCheck {
  let confirmation: { readonly ask: string; readonly untilT: number } | null = null;
  /** When each answer that the menu offers appeared in it, in milliseconds since boot. */
  let offeredT: ReadonlyMap<string, number> = new Map();

  return {
    confirming: (now) => (confirmation && confirmation.untilT > now.t ? confirmation.ask : null),
    nextChange: (now) =>
      confirmation && confirmation.untilT > now.t ? now.at + confirmation.untilT - now.t : null,
    onShown(items, now) {
      offeredT = new Map(listOffers(items).map((offer) => [offer, offeredT.get(offer) ?? now.t]));
    },
    accept(action) {
      const offer = offerOf(action);
      if (offer === null) return action;
      const { t } = clock();
      const shownMs = t - (offeredT.get(offer) ?? t);
      if (isTooSoon({ front: "menu", shownMs })) {
        showMessage("Nothing was answered", `${capitalize(tooSoon)}.`);
        return null;
      }
      if (action.do === "answer") return { ...action, step: { ...action.step, shownMs } };
      if (action.do !== "confirm") return action;
      confirmation = { ask: action.ask, untilT: t + confirmMs };
      showMessage(
        "Not allowed yet: this is marked as dangerous",
        "To allow it, open the menu again within a minute and choose “Yes, allow it”.",
      );
      refresh();
      return null;
    },
  };
}

/** Names what a click would answer; null if it answers nothing. */
function offerOf(action: UserAction | null): string | null {
  return action?.do === "answer" || action?.do === "confirm" ? `${action.do} ${action.ask}` : null;
}

function listOffers(items: readonly MenuItem[]): string[] {
  return items.flatMap((item) => {
    if (item.kind === "separator") return [];
    const offer = offerOf(item.action);
    return [...(offer === null ? [] : [offer]), ...listOffers(item.children ?? [])];
  });
}
