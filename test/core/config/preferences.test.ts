/** What the user sets with a click, how long it holds, and how it survives a restart. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  applyPreference,
  createDismissedAskKey,
  dismissAlerts,
  noPreferences,
  type Preferences,
  parsePreferences,
  prunePreferences,
} from "../../../src/core/config/preferences.ts";
import type { UserAction } from "../../../src/core/config/user-action.ts";
import { computeTestAlerts, failed, now, stopped } from "../view/alerts/fixture.ts";
import { ask, blocked, keyOf, minute } from "../view/menu/fixture.ts";

const hour = 60 * minute;
const web = blocked("web", minute);
const key = keyOf(web);
const time = { at: now.at, tomorrow: now.at + 17 * hour };
const facts = { session: (name: string) => (name === key ? web : null) };
const after = (preferences: Preferences, ...actions: UserAction[]) =>
  actions.reduce((current, action) => applyPreference(current, action, time, facts), preferences);

describe("a click", () => {
  test("mutes and unmutes a session or a project", () => {
    const on: UserAction = { do: "mute", session: key, on: true };
    expect(after(noPreferences, on, on).muted).toEqual([key]);
    expect(after(noPreferences, on, { ...on, on: false })).toEqual(noPreferences);
    const project: UserAction = { do: "mute-project", project: "web", on: true };
    expect(after(noPreferences, project, project).mutedProjects).toEqual(["web"]);
    expect(after(noPreferences, project, { ...project, on: false })).toEqual(noPreferences);
  });
  test("snoozes for that long, starting over each time, and ends the snooze", () => {
    const snooze = (minutes: number | null): UserAction => ({ do: "snooze", session: key, minutes });
    expect(after(noPreferences, snooze(15), snooze(30)).snoozed).toEqual([
      { session: key, until: now.at + 30 * minute },
    ]);
    expect(after(noPreferences, snooze(15), snooze(null))).toEqual(noPreferences);
    for (const odd of [0, -5, Number.NaN]) expect(after(noPreferences, snooze(odd))).toEqual(noPreferences);
    expect(after(noPreferences, snooze(Number.POSITIVE_INFINITY)).snoozed[0]?.until).toBe(
      now.at + 7 * 24 * hour,
    );
  });
  test.each([
    ["off", null],
    ["hour", now.at + hour],
    ["tomorrow", time.tomorrow],
    ["on", Number.MAX_SAFE_INTEGER],
  ] as const)("quiet: %s", (mode, until) => {
    expect(after({ ...noPreferences, quietUntil: 5 }, { do: "quiet", mode }).quietUntil).toBe(until);
  });
  test("dismisses the current asks in alerts and menu; a new ask counts again", () => {
    const preferences = after(noPreferences, { do: "dismiss", session: key });
    expect(computeTestAlerts([web], { preferences }).show).toEqual([]);
    expect(preferences.dismissed).toContain(createDismissedAskKey(key, "ask-60000"));
    const more = { ...web, asks: [...web.asks, ask(0)] };
    expect(computeTestAlerts([more], { preferences }).show).toHaveLength(1);
    expect(after(noPreferences, { do: "dismiss", session: "claude:unknown" })).toBe(noPreferences);
  });
  test("of another kind changes no preference", () => {
    const actions: UserAction[] = [
      { do: "focus", session: key },
      { do: "next" },
      { do: "copy-id", session: key },
      { do: "quit" },
    ];
    expect(after(noPreferences, ...actions)).toBe(noPreferences);
  });
});

test("a closed alert is dismissed once", () => {
  const once = dismissAlerts(noPreferences, ["a", "b", "a"]);
  expect(once.dismissed).toEqual(["a", "b"]);
  expect(dismissAlerts(once, ["b"])).toBe(once);
});

describe("pruning", () => {
  const other = failed("api", minute);
  const all: Preferences = {
    quietUntil: now.at + 1,
    muted: [key, "claude:gone"],
    mutedProjects: ["web", "gone"],
    snoozed: [
      { session: key, until: now.at + 1 },
      { session: keyOf(other), until: now.at },
      { session: "claude:gone", until: now.at + hour },
    ],
    dismissed: [
      `${key}#ask-60000`,
      createDismissedAskKey(key, "ask-60000"),
      `${key}#answered`,
      createDismissedAskKey(key, "answered"),
      "claude:gone#ask-1",
      ...computeTestAlerts([other]).show.map((alert) => alert.key),
    ],
  };
  test("drops what has ended, was answered or belongs to unknown sessions, and keeps muted projects", () => {
    expect(prunePreferences(all, now.at, [web, other])).toEqual({
      quietUntil: now.at + 1,
      muted: [key],
      mutedProjects: ["web", "gone"],
      snoozed: [{ session: key, until: now.at + 1 }],
      dismissed: [`${key}#ask-60000`, createDismissedAskKey(key, "ask-60000"), all.dismissed[5] ?? ""],
    });
    expect(prunePreferences(all, now.at + 1, [web, other])).toMatchObject({ quietUntil: null, snoozed: [] });
  });
  test("twice changes nothing more", () => {
    const once = prunePreferences(all, now.at, [web, other]);
    expect(prunePreferences(once, now.at, [web, other])).toBe(once);
  });
  test("keeps the dismissed end of a turn until the next turn ends", () => {
    const done = stopped("web", minute);
    const preferences = applyPreference(noPreferences, { do: "dismiss", session: keyOf(done) }, time, {
      session: () => done,
    });
    expect(preferences.dismissed).toHaveLength(1);
    expect(prunePreferences(preferences, now.at, [done])).toBe(preferences);
    expect(prunePreferences(preferences, now.at, [stopped("web", 0)]).dismissed).toEqual([]);
  });
});

describe("the saved preferences", () => {
  test("are read as they were written", () => {
    const preferences = after(
      { ...noPreferences, dismissed: ["a"] },
      { do: "mute", session: key, on: true },
      { do: "snooze", session: key, minutes: 5 },
      { do: "quiet", mode: "on" },
    );
    expect(parsePreferences(JSON.parse(JSON.stringify(preferences)))).toEqual(preferences);
  });
  test("are read as far as they are valid", () => {
    expect(
      parsePreferences({
        quietUntil: "soon",
        muted: [key, 5, null, "", key],
        mutedProjects: "web",
        snoozed: [null, { session: key }, { session: key, until: 7 }, "x"],
        dismissed: { a: 1 },
      }),
    ).toEqual({ ...noPreferences, muted: [key], snoozed: [{ session: key, until: 7 }] });
    for (const odd of [null, undefined, 5, "x", [], [[]]])
      expect(parsePreferences(odd)).toEqual(noPreferences);
  });
  test("can be any JSON: parsing never throws, and parsing the result changes nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, inner) => {
        for (const saved of [
          value,
          { quietUntil: inner, muted: inner, snoozed: [inner], dismissed: [inner] },
        ]) {
          const preferences = parsePreferences(saved);
          expect(parsePreferences(preferences)).toEqual(preferences);
        }
      }),
    );
  });
});
