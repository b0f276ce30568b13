/**
 * The cards of what needs the user. A card whose ask has ended stays for a moment and says how, and as long as the pointer is
 * over the list: nothing may move under a click.
 */
import { effect, signal } from "@preact/signals";
import { minReadMsOf } from "../../core/answers/policy.ts";
import { notSeen } from "../../core/answers/words.ts";
import { capitalize } from "../../core/text/words.ts";
import { cleanText } from "./format.ts";
import { detailed, type OpenAsk, openAsks, sessions } from "./state.ts";

export interface Card extends OpenAsk {
  /** How the ask ended; null while it is open. */
  readonly outcome: string | null;
}

export const cards = signal<readonly Card[]>([]);
/** Cards have just moved: a click now may be meant for the card that was there before. */
export const isSettling = signal(false);
/**
 * Ids of asks whose buttons have been there long enough. A click or a key before that may be meant for what was there before.
 */
export const unlocked = signal<ReadonlySet<string>>(new Set());

const endedMs = 4_000;
const settlingMs = 600;

/** Ids of asks → how they ended, as far as someone said. */
const outcomes = new Map<string, string>();
const endedAt = new Map<string, number>();
let isPointerInside = false;

/** What the user did on this page is kept: the report of it that follows is less exact. */
export function noteOutcome(id: string, text: string, isOwn = false): void {
  if (!isOwn && outcomes.has(id)) return;
  outcomes.set(id, text);
  if (cards.value.some((card) => card.id === id && card.outcome !== null)) {
    cards.value = cards.value.map((card) => (card.id === id ? { ...card, outcome: text } : card));
  }
}

/** Ids of asks → when their buttons appeared, on the page's own clock. */
const shownSince = new Map<string, number>();

export const shownMsOf = (id: string): number =>
  performance.now() - (shownSince.get(id) ?? performance.now());

function unlockSoon(id: string): void {
  if (shownSince.has(id)) return;
  shownSince.set(id, performance.now());
  setTimeout(() => {
    unlocked.value = new Set(unlocked.value).add(id);
  }, minReadMsOf("page"));
}

function lock(id: string): void {
  shownSince.delete(id);
  const rest = new Set(unlocked.value);
  if (rest.delete(id)) unlocked.value = rest;
}

export function setPointerInside(isInside: boolean): void {
  isPointerInside = isInside;
  if (!isInside) removeEnded();
}

export function followAsks(): void {
  effect(() => {
    const open = openAsks.value;
    const openIds = new Set(open.map(({ id }) => id));
    const previous = cards.peek();
    const time = performance.now();
    for (const { id, key, ask } of open) {
      const details = detailed.value.get(key)?.asks.find((other) => other.id === ask.id);
      if ((details ?? ask).asked) unlockSoon(id);
    }
    const ended = previous.filter(({ id }) => !openIds.has(id));
    for (const { id, outcome } of ended) {
      if (outcome === null) {
        endedAt.set(id, time);
        setTimeout(removeEnded, endedMs + 10);
      }
    }
    cards.value = merge(previous, open);
  });
}

/** Cards keep their order; new ones come where their time puts them. */
function merge(previous: readonly Card[], open: readonly OpenAsk[]): Card[] {
  const byId = new Map(open.map((ask) => [ask.id, ask]));
  const kept = previous.map((card): Card => {
    const current = byId.get(card.id);
    byId.delete(card.id);
    return current
      ? { ...current, outcome: null }
      : {
          ...card,
          outcome:
            outcomes.get(card.id) ?? describeSilence(card) ?? card.outcome ?? `${capitalize(notSeen)}.`,
        };
  });
  for (const ask of byId.values()) {
    const index = kept.findIndex((card) => card.ask.openedAt > ask.ask.openedAt);
    kept.splice(index < 0 ? kept.length : index, 0, { ...ask, outcome: null });
  }
  return kept;
}

/** "Snoozed until 14:20. It still waits." for an ask that is still open but shows no alerts; null for any other. */
function describeSilence({ key, ask }: Card): string | null {
  const session = sessions.peek().get(key);
  const silence = cleanText(session?.silence);
  if (silence === "" || !session?.asks.some(({ id }) => id === ask.id)) return null;
  return session.reachable ? `${capitalize(silence)}. It still waits.` : `${capitalize(silence)}.`;
}

function removeEnded(): void {
  if (isPointerInside) return;
  const time = performance.now();
  const isOver = ({ id, outcome }: Card) => outcome !== null && time - (endedAt.get(id) ?? 0) >= endedMs;
  const rest = cards.value.filter((card) => !isOver(card));
  if (rest.length === cards.value.length) return;
  for (const { id } of cards.value.filter(isOver)) {
    outcomes.delete(id);
    lock(id);
    endedAt.delete(id);
  }
  cards.value = rest;
  isSettling.value = true;
  setTimeout(() => {
    isSettling.value = false;
  }, settlingMs);
}
