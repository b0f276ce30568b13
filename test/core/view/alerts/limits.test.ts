/** Alerts about quotas and contexts: once for each time they go over the share that the user has set. */
import { describe, expect, test } from "bun:test";
import type { Config } from "../../../../src/core/config/config.ts";
import { noPreferences } from "../../../../src/core/config/preferences.ts";
import type { Session } from "../../../../src/core/session/session.ts";
import type { AlertsInput } from "../../../../src/core/view/alerts/alerts.ts";
import {
  type Crossing,
  followCrossings,
  parseCrossings,
} from "../../../../src/core/view/alerts/crossings.ts";
import { ended, hour, keyOf, minute, working } from "../menu/fixture.ts";
import { computeTestAlerts, later, listReasons, listTitles, now, withAlerts } from "./fixture.ts";

const resetsAt = now.at + 2 * hour;

const withQuota = (project: string, usedPercent: number, at = resetsAt, more: Partial<Session> = {}) =>
  working(project, minute, {
    rateLimits: { fiveHour: { usedPercent, resetsAt: at }, sevenDay: null },
    ...more,
  });
const withContext = (project: string, percent: number, more: Partial<Session> = {}) =>
  working(project, minute, { context: { used: percent * 2_000, window: 200_000 }, ...more });

/** Follows the sessions as the alerts do, from one moment to the next. */
function follow(
  alerts: Partial<Config["alerts"]> = { quotaPercent: 80, contextPercent: 80 },
  saved: readonly Crossing[] = [],
) {
  const config = withAlerts(alerts);
  let crossings = saved;
  return {
    crossings: () => crossings,
    at(ms: number, sessions: readonly Session[], more: Partial<AlertsInput> = {}) {
      const time = later(ms);
      const mayAlert = () => true;
      crossings = followCrossings(crossings, { sessions, now: time, shares: config.alerts, mayAlert });
      const limits = { crossings, agentName: () => "Claude Code" };
      return computeTestAlerts(sessions, { config, now: time, limits, ...more });
    },
  };
}

describe("a quota", () => {
  test("alerts quietly at the share, with the same text while it grows", () => {
    const alerts = follow();
    expect(alerts.at(0, [withQuota("web", 79.9)]).show).toEqual([]);
    const one = withQuota("web", 82.4);
    const { show, nextChange } = alerts.at(minute, [one]);
    expect(show).toMatchObject([
      {
        key: `${keyOf(one)}#limit-fiveHour-${resetsAt}`,
        session: keyOf(one),
        kind: "limit",
        urgency: "low",
        sound: false,
        title: "Claude Code: 82% of 5 h used",
        body: "Resets 16:20",
      },
    ]);
    expect(nextChange).toBe(now.at + 31 * minute);
    expect(alerts.at(2 * minute, [withQuota("web", 91)]).show).toEqual(show);
    expect(alerts.at(32 * minute, [withQuota("web", 95)]).show).toEqual([]);
  });

  test("that several sessions of an account report alerts once", () => {
    const alerts = follow();
    const first = alerts.at(0, [withQuota("web", 81), withQuota("api", 80.5), withQuota("old", 40)]);
    expect(first.show).toHaveLength(1);
    expect(alerts.at(minute, [withQuota("api", 84, resetsAt + 1_000), withQuota("web", 81)]).show).toEqual(
      first.show,
    );
  });

  test("alerts again only after it was clearly below, and in its next window", () => {
    const alerts = follow();
    const keys = (ms: number, percent: number, at = resetsAt) =>
      alerts.at(ms, [withQuota("web", percent, at)]).show.map(({ since }) => since - now.at);
    expect(keys(0, 80)).toEqual([0]);
    expect(keys(1, 76)).toEqual([0]);
    expect(keys(2, 80)).toEqual([0]);
    expect(keys(3, 74)).toEqual([]);
    expect(keys(4, 80)).toEqual([4]);
    expect(keys(5, 85, resetsAt + 5 * hour)).toEqual([5]);
  });

  test("alerts once more when it is back, if it was over the share", () => {
    const alerts = follow();
    const one = withQuota("web", 100);
    alerts.at(0, [one]);
    expect(alerts.at(hour, [one])).toMatchObject({ show: [], nextChange: resetsAt });
    const { show } = alerts.at(2 * hour, [one]);
    expect(show).toMatchObject([
      {
        title: "Claude Code: your limit of 5 h is back",
        body: "Reset 16:20",
        urgency: "low",
        since: resetsAt,
      },
    ]);
    expect(alerts.at(2 * hour + minute, [one]).show).toEqual(show);
    expect(alerts.at(2 * hour + 30 * minute, [one]).show).toEqual([]);
    expect(alerts.crossings()).toEqual([]);
    expect(follow().at(2 * hour, [one]).show).toEqual([]);
  });

  test("alerts that it is back also after the session that reported it is gone", () => {
    const alerts = follow();
    alerts.at(0, [withQuota("web", 100)]);
    const next = working("api", minute);
    alerts.at(hour, [next]);
    expect(alerts.at(2 * hour, [next]).show).toMatchObject([
      { session: keyOf(next), title: "Claude Code: your limit of 5 h is back" },
    ]);
  });

  test("leads to a session that may alert, and obeys what silences it", () => {
    const [muted, loud] = [withQuota("web", 90), withQuota("api", 90)];
    const input = { sessions: [muted, loud], now, shares: { quotaPercent: 80, contextPercent: 0 } };
    const crossings = followCrossings([], { ...input, mayAlert: (session) => session === loud });
    expect(crossings).toMatchObject([{ session: keyOf(loud) }]);
    const preferences = { ...noPreferences, muted: [keyOf(muted)] };
    expect(listReasons(follow().at(0, [muted], { preferences }))).toEqual(["you muted this session"]);
    const quiet = { ...noPreferences, quietUntil: now.at + hour };
    expect(follow().at(0, [loud], { preferences: quiet })).toMatchObject({ show: [] });
  });

  test("alerts also while the user looks at the pane, which does not show it", () => {
    const one = withQuota("web", 90);
    const { show, seen } = follow().at(0, [one], { visibleSessions: new Set([keyOf(one)]) });
    expect(show).toHaveLength(1);
    expect(seen).toEqual([]);
  });
});

describe("a context", () => {
  test("alerts once for each session and each time", () => {
    const alerts = follow();
    const titles = (ms: number, percent: number, more: Partial<Session> = {}) =>
      listTitles(alerts.at(ms, [withContext("web", percent, more), withContext("api", 10)]));
    expect(titles(0, 79)).toEqual([]);
    expect(titles(1, 83)).toEqual(["web has used 83% of its context"]);
    expect(titles(2, 78)).toEqual(["web has used 83% of its context"]);
    expect(titles(3, 90)).toEqual(["web has used 83% of its context"]);
    // It was compacted.
    expect(titles(4, 0, { context: null })).toEqual([]);
    expect(titles(5, 85)).toEqual(["web has used 85% of its context"]);
  });

  test("is over with its session, and is the same alert if that is resumed", () => {
    const alerts = follow();
    const one = withContext("web", 90);
    const { show } = alerts.at(0, [one]);
    const { context } = one;
    expect(alerts.at(1, [ended("web", 0, { context })]).show).toEqual([]);
    expect(alerts.at(2, [one]).show).toEqual(show);
  });

  test("does not alert for a session that has ended, or whose window is unknown", () => {
    const context = { used: 190_000, window: 200_000 };
    expect(follow().at(0, [ended("web", minute, { context })]).show).toEqual([]);
    expect(follow().at(0, [working("web", minute, { context: { ...context, window: null } })]).show).toEqual(
      [],
    );
  });

  test("of many sessions shares an alert", () => {
    const many = ["a", "b", "c"].map((name) => withContext(name, 90));
    expect(listTitles(follow().at(0, many)).at(-1)).toBe("2 more have news about a limit");
  });
});

test("nothing is remembered or alerted while the settings are off", () => {
  const off = follow({});
  expect(off.at(0, [withQuota("web", 100), withContext("api", 100)]).show).toEqual([]);
  const empty = off.crossings();
  off.at(1, [withQuota("web", 100)]);
  expect(off.crossings()).toBe(empty);
  const on = follow();
  on.at(0, [withQuota("web", 100), withContext("api", 100)]);
  expect(on.crossings()).toHaveLength(2);
  expect(follow({ quotaPercent: 80 }, on.crossings()).at(1, [withContext("api", 100)]).show).toEqual([]);
});

test("a restart repeats nothing, and keeps nothing that makes no sense", () => {
  const sessions = [withQuota("web", 90), withContext("api", 90)];
  const before = follow();
  const { show } = before.at(0, sessions);
  const saved = parseCrossings(JSON.parse(JSON.stringify([...before.crossings(), { of: "moon" }, 7])));
  const after = follow(undefined, saved);
  // The sessions of a machine that is not reached yet are not listed.
  after.at(minute, []);
  expect(after.at(2 * minute, sessions).show).toEqual(show);
  expect(after.crossings()).toEqual(before.crossings());
});
