/** Counts earlier answers to requests that are alike: what a card and an alert say about the next one. Pure. */

import { forgetOldest } from "../core/forget-oldest.ts";
import { maxRecentAnswers, type Precedent } from "../core/session/precedent.ts";
import { type AnsweredAsk, labelSubject, readUserAnswer } from "./past.ts";

/** Of more different requests, the ones that were not asked for longest are forgotten. */
const maxTallies = 2_000;

export interface Tally {
  /** In the order of time. */
  add(ask: AnsweredAsk): void;
  /** What was counted up to the first of those that were added. */
  addEarlier(precedents: readonly Precedent[]): void;
  find(label: string): Precedent | null;
  list(): readonly Precedent[];
}

export function createTally(): Tally {
  const byLabel = new Map<string, Precedent>();

  return {
    add(ask) {
      const answer = readUserAnswer(ask);
      const label = answer === null ? null : labelSubject(ask.subject, ask.folder);
      if (answer === null || label === null) return;
      const before = byLabel.get(label);
      const isAllowed = answer === "allowed";
      byLabel.delete(label);
      byLabel.set(label, {
        label,
        allowed: (before?.allowed ?? 0) + (isAllowed ? 1 : 0),
        denied: (before?.denied ?? 0) + (isAllowed ? 0 : 1),
        firstAt: before?.firstAt ?? ask.at,
        lastAt: ask.at,
        lastProject: ask.project,
        lastDenial: isAllowed ? (before?.lastDenial ?? null) : { at: ask.at, message: ask.detail },
        recent: `${before?.recent ?? ""}${isAllowed ? "y" : "n"}`.slice(-maxRecentAnswers),
      });
      forgetOldest(byLabel, maxTallies);
    },
    addEarlier(precedents) {
      const later = [...byLabel.values()];
      byLabel.clear();
      for (const precedent of precedents) byLabel.set(precedent.label, precedent);
      for (const precedent of later) {
        const before = byLabel.get(precedent.label);
        byLabel.delete(precedent.label);
        byLabel.set(precedent.label, before ? join(before, precedent) : precedent);
      }
    },
    find: (label) => byLabel.get(label) ?? null,
    list: () => [...byLabel.values()],
  };
}

function join(before: Precedent, after: Precedent): Precedent {
  return {
    ...after,
    allowed: before.allowed + after.allowed,
    denied: before.denied + after.denied,
    firstAt: before.firstAt,
    lastDenial: after.lastDenial ?? before.lastDenial,
    recent: `${before.recent}${after.recent}`.slice(-maxRecentAnswers),
  };
}
