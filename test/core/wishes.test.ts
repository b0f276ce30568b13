/** What a click asks for, how long it holds, and what a restart finds. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Action } from "../../src/core/view.ts";
import { dismiss, noWishes, readWishes, sentAway, tidy, type Wishes, wish } from "../../src/core/wishes.ts";
import { alertsOf, failed, now, stopped } from "./alerting.ts";
import { ask, blocked, keyOf, minute } from "./tray.ts";

const hour = 60 * minute;
const web = blocked("web", minute);
const key = keyOf(web);
const time = { at: now.at, tomorrow: now.at + 17 * hour };
const facts = { session: (name: string) => (name === key ? web : null) };
const after = (wishes: Wishes, ...actions: Action[]) =>
  actions.reduce((held, action) => wish(held, action, time, facts), wishes);

describe("a click", () => {
  test("mutes a session or a project, once, and takes it back", () => {
    const on: Action = { do: "mute", session: key, on: true };
    expect(after(noWishes, on, on).muted).toEqual([key]);
    expect(after(noWishes, on, { ...on, on: false })).toEqual(noWishes);
    const project: Action = { do: "mute-project", project: "web", on: true };
    expect(after(noWishes, project, project).mutedProjects).toEqual(["web"]);
    expect(after(noWishes, project, { ...project, on: false })).toEqual(noWishes);
  });
  test("snoozes for that long, anew each time, and wakes", () => {
    const snooze = (minutes: number | null): Action => ({ do: "snooze", session: key, minutes });
    expect(after(noWishes, snooze(15), snooze(30)).snoozed).toEqual([
      { session: key, until: now.at + 30 * minute },
    ]);
    expect(after(noWishes, snooze(15), snooze(null))).toEqual(noWishes);
    for (const odd of [0, -5, Number.NaN]) expect(after(noWishes, snooze(odd))).toEqual(noWishes);
    expect(after(noWishes, snooze(Number.POSITIVE_INFINITY)).snoozed[0]?.until).toBe(now.at + 7 * 24 * hour);
  });
  test.each([
    ["off", null],
    ["hour", now.at + hour],
    ["tomorrow", time.tomorrow],
    ["on", Number.MAX_SAFE_INTEGER],
  ] as const)("quiet: %s", (mode, until) => {
    expect(after({ ...noWishes, quietUntil: 5 }, { do: "quiet", mode }).quietUntil).toBe(until);
  });
  test("sends away what a session asks now, in alerts and in the tray; a new ask counts again", () => {
    const wishes = after(noWishes, { do: "dismiss", session: key });
    expect(alertsOf([web], { wishes }).show).toEqual([]);
    expect(wishes.dismissed).toContain(sentAway(key, "ask-60000"));
    const more = { ...web, asks: [...web.asks, ask(0)] };
    expect(alertsOf([more], { wishes }).show).toHaveLength(1);
    expect(after(noWishes, { do: "dismiss", session: "claude:nobody" })).toBe(noWishes);
  });
  test("that wishes for nothing changes nothing", () => {
    const actions: Action[] = [
      { do: "focus", session: key },
      { do: "next" },
      { do: "copy-id", session: key },
      { do: "quit" },
    ];
    expect(after(noWishes, ...actions)).toBe(noWishes);
  });
});

test("an alert that was closed is dismissed once", () => {
  const once = dismiss(noWishes, ["a", "b", "a"]);
  expect(once.dismissed).toEqual(["a", "b"]);
  expect(dismiss(once, ["b"])).toBe(once);
});

describe("what is over is let go", () => {
  const other = failed("api", minute);
  const all: Wishes = {
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
      sentAway(key, "ask-60000"),
      `${key}#answered`,
      sentAway(key, "answered"),
      "claude:gone#ask-1",
      ...alertsOf([other]).show.map((alert) => alert.key),
    ],
  };
  test("quiet times and snoozes that ended, asks that were answered, sessions nobody knows; projects stay", () => {
    expect(tidy(all, now.at, [web, other])).toEqual({
      quietUntil: now.at + 1,
      muted: [key],
      mutedProjects: ["web", "gone"],
      snoozed: [{ session: key, until: now.at + 1 }],
      dismissed: [`${key}#ask-60000`, sentAway(key, "ask-60000"), all.dismissed[5] ?? ""],
    });
    expect(tidy(all, now.at + 1, [web, other])).toMatchObject({ quietUntil: null, snoozed: [] });
  });
  test("a second time there is nothing to do", () => {
    const once = tidy(all, now.at, [web, other]);
    expect(tidy(once, now.at, [web, other])).toBe(once);
  });
  test("what a person was told of a turn stays told until the next", () => {
    const done = stopped("web", minute);
    const wishes = wish(noWishes, { do: "dismiss", session: keyOf(done) }, time, { session: () => done });
    expect(wishes.dismissed).toHaveLength(1);
    expect(tidy(wishes, now.at, [done])).toBe(wishes);
    expect(tidy(wishes, now.at, [stopped("web", 0)]).dismissed).toEqual([]);
  });
});

describe("a file of wishes", () => {
  test("comes back as it was written", () => {
    const wishes = after(
      { ...noWishes, dismissed: ["a"] },
      { do: "mute", session: key, on: true },
      { do: "snooze", session: key, minutes: 5 },
      { do: "quiet", mode: "on" },
    );
    expect(readWishes(JSON.parse(JSON.stringify(wishes)))).toEqual(wishes);
  });
  test("damaged, is read as far as it goes", () => {
    expect(
      readWishes({
        quietUntil: "soon",
        muted: [key, 5, null, "", key],
        mutedProjects: "web",
        snoozed: [null, { session: key }, { session: key, until: 7 }, "x"],
        dismissed: { a: 1 },
      }),
    ).toEqual({ ...noWishes, muted: [key], snoozed: [{ session: key, until: 7 }] });
    for (const odd of [null, undefined, 5, "x", [], [[]]]) expect(readWishes(odd)).toEqual(noWishes);
  });
  test("of any JSON nothing throws, and reading it again changes nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, inner) => {
        for (const given of [
          value,
          { quietUntil: inner, muted: inner, snoozed: [inner], dismissed: [inner] },
        ]) {
          const wishes = readWishes(given);
          expect(readWishes(wishes)).toEqual(wishes);
        }
      }),
    );
  });
});
