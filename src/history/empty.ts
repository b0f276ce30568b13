/** The history of a user who has turned it off: nothing is kept, and every query returns nothing. */
import type { HistoryReader } from "../core/interfaces/index.ts";

export function createEmptyHistory(now: () => number): HistoryReader {
  return {
    findItems: async () => ({ enabled: false, total: 0, next: null, items: [] }),
    findStory: async () => ({ enabled: false, threads: [], days: [], next: null }),
    findTranscript: async () => ({ path: null }),
    computeStats: async () => {
      const nothing = { waitedMs: 0, asks: 0, medianMs: null, tokens: 0, costUsd: null };
      return {
        enabled: false,
        now: now(),
        today: { ...nothing, longest: null, byRules: 0 },
        days: [],
        projects: [],
      };
    },
    computeLanes: async (from, to) => ({ enabled: false, from, to, lanes: [], anyWaiting: [] }),
    findMoment: async (at) => ({
      enabled: false,
      at,
      now: now(),
      from: null,
      isKnown: false,
      sessions: [],
      ends: [],
    }),
    findMissedEvents: async () => [],
  };
}
