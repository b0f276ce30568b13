/** Requests of one kind that can be allowed together, once each of them was on the screen. */
import { computed, signal } from "@preact/signals";
import { minReadMsOf } from "../../core/answers/policy.ts";
import type { AskDetails } from "../../core/session/ask-details.ts";
import { answerAsk, sending } from "./actions.ts";
import { cleanText } from "./format.ts";
import { unlocked } from "./inbox.ts";
import { offersOf } from "./offers.ts";
import { detailed, isLive, type OpenAsk, openAsks } from "./state.ts";

/** Asks whose cards were wholly on the screen for long enough to be read. */
const seen = signal<ReadonlySet<string>>(new Set());

/** Follows whether a card is seen. Returns what ends it. */
export function followCard(id: string, card: Element): () => void {
  let timer = 0;
  const observer = new IntersectionObserver(
    ([entry]) => {
      clearTimeout(timer);
      // A card that is higher than the window counts with its lower end, where the answers are.
      const isRead =
        entry !== undefined &&
        (entry.intersectionRatio > 0.99 ||
          (entry.isIntersecting && entry.boundingClientRect.bottom <= innerHeight));
      if (isRead)
        timer = window.setTimeout(() => {
          seen.value = new Set(seen.peek()).add(id);
        }, minReadMsOf("page"));
    },
    { threshold: [0, 0.5, 0.99, 1] },
  );
  observer.observe(card);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

interface Group {
  readonly label: string;
  readonly asks: readonly OpenAsk[];
  readonly seen: number;
}

const detailsOf = ({ key, ask }: OpenAsk): AskDetails | undefined =>
  (detailed.value.get(key)?.asks.find(({ id }) => id === ask.id) ?? ask).asked;

/** What several requests have in common. null if it must be read for itself. */
function nameKind(card: OpenAsk): string | null {
  const asked = detailsOf(card);
  if (asked?.kind !== "permission" || asked.dangers.length > 0 || !asked.isWhole) return null;
  const { allow } = offersOf(asked, true);
  if (allow === null || allow.needsConfirmation) return null;
  if (asked.precedent) return asked.precedent.label;
  const [program = "", first = ""] = card.ask.summary.split(/\s+/);
  const command = /^[a-z][\w:-]*$/.test(first) ? `${program} ${first}` : program;
  return card.ask.tool === "Bash" ? command : (card.ask.tool ?? null);
}

/** The largest group of at least two. */
const group = computed((): Group | null => {
  const groups = new Map<string, OpenAsk[]>();
  for (const card of openAsks.value) {
    const label = nameKind(card);
    if (label !== null) groups.set(label, [...(groups.get(label) ?? []), card]);
  }
  const [largest] = [...groups].toSorted(([, a], [, b]) => b.length - a.length);
  if (!largest || largest[1].length < 2) return null;
  const [label, asks] = largest;
  const isRead = ({ id }: OpenAsk) => seen.value.has(id) && unlocked.value.has(id);
  return { label, asks, seen: asks.filter(isRead).length };
});

export function Together() {
  const current = group.value;
  if (!current) return null;
  const { label, asks } = current;
  const isReady = current.seen === asks.length && isLive.value;
  const allowAll = () => {
    for (const card of asks) if (!sending.peek().has(card.id)) void answerAsk(card, { do: "allow" }, true);
  };
  return (
    <div class="round panel">
      <span>
        {asks.length} alike: <b>{cleanText(label)}</b>
        {isReady ? "" : `, ${current.seen} of ${asks.length} read`}
      </span>
      <button
        class="btn sm"
        type="button"
        data-do="together"
        disabled={!isReady}
        title={isReady ? undefined : "Scroll to each of them first"}
        onClick={allowAll}
      >
        Allow all {asks.length}
      </button>
    </div>
  );
}
