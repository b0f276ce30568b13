/** Reads the history. A query runs in the history's thread, or in a command while the app is stopped. */
import type { Database } from "bun:sqlite";
import type { HistoryCall } from "../messages.ts";
import { findMissedEvents } from "./events.ts";
import { findItems, findTranscript } from "./items.ts";
import { computeLanes } from "./lanes.ts";
import { findMoment } from "./moment.ts";
import { findPast } from "./past.ts";
import { computeStats, type StatsCache } from "./stats.ts";
import { findStory } from "./story.ts";

/** Without what needs the agents: study.ts. */
export type QueryCall = Exclude<HistoryCall, { name: "studyAsks" }>;

export function runCall(db: Database, call: QueryCall, now: number, statsCache?: StatsCache): unknown {
  switch (call.name) {
    case "findItems":
      return findItems(db, call.query, now);
    case "findStory":
      return findStory(db, call.query, now);
    case "findTranscript":
      return findTranscript(db, call.key);
    case "computeStats":
      return computeStats(db, call.days, now, statsCache);
    case "computeLanes":
      return computeLanes(db, call.from, call.to, now);
    case "findMissedEvents":
      return findMissedEvents(db, call.afterId);
    case "findPast":
      return findPast(db, call.since);
    case "findMoment":
      return findMoment(db, call.at, now);
  }
}

export { exportEvents } from "./events.ts";
export type { StatsCache } from "./stats.ts";
