/** All open asks as one round: about how long it takes to answer them. */
import type { AskKind } from "../session/event.ts";
import { formatCount } from "../text/words.ts";

/** Seconds to read and answer. A plain guess: how long an ask has waited says more about where the user was. */
const secondsOf: Readonly<Partial<Record<AskKind, number>>> = { permission: 15, question: 25, plan: 60 };
const otherSeconds = 20;

/** "5 asks, about 90 s". Empty for fewer than two. */
export function describeRound(asks: readonly { readonly kind: AskKind }[]): string {
  if (asks.length < 2) return "";
  const seconds = asks.reduce((sum, { kind }) => sum + (secondsOf[kind] ?? otherSeconds), 0);
  const time = seconds < 120 ? `${Math.round(seconds / 10) * 10} s` : `${Math.round(seconds / 60)} min`;
  return `${formatCount(asks.length, "ask")}, about ${time}`;
}
